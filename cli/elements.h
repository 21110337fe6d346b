// SPDX-License-Identifier: Apache-2.0
// Elements as files hold them, turned into elements to compute with and back. Knows nothing of
// shapes or of file formats.
#ifndef OPSCV_CLI_ELEMENTS_H_
#define OPSCV_CLI_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "opscv/view.h"

namespace opscv::cli {

// How a file writes its elements. The value of a stored x is slope * x + intercept.
struct Encoding {
  DType dtype = DType::kFloat32;
  bool swapped = false;  // the other byte order than this machine's
  double slope = 1.0;
  double intercept = 0.0;

  [[nodiscard]] bool scaled() const { return slope != 1.0 || intercept != 0.0; }
};

// Values of `count` stored elements as elements of `dtype`, rounded once to nearest-even where they
// do not fit. Elements of the stored type itself are copied bit by bit, unless they are scaled.
// `dtype` is the stored type or a floating one. The ranges must not overlap.
void Decode(const Encoding& encoding, const char* stored, int64_t count, DType dtype, char* out);

// One element as a double (64-bit integers are rounded).
[[nodiscard]] double ToDouble(DType dtype, const char* element);

// `value` rounded once to a floating type.
void FromDouble(double value, DType dtype, char* element);

// The type of that name, as NameOf writes it; nothing for any other name.
[[nodiscard]] std::optional<DType> DTypeOfName(std::string_view name);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_ELEMENTS_H_
