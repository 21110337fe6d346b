// SPDX-License-Identifier: Apache-2.0
// The weights of a row of taps in the type of computation.
#ifndef OPSCV_KERNELS_INNER_AXIS_WEIGHTS_H_
#define OPSCV_KERNELS_INNER_AXIS_WEIGHTS_H_

#include <type_traits>

#include "taps/tap_table.h"

namespace opscv::kernels {

template <typename Real>
[[nodiscard]] const Real* WeightsOf(const taps::TapTable& table, int64_t row) {
  if constexpr (std::is_same_v<Real, double>) {
    return table.weight(row).data();
  } else {
    return table.weight_float(row).data();
  }
}

}  // namespace opscv::kernels

#endif  // OPSCV_KERNELS_INNER_AXIS_WEIGHTS_H_
