// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#ifndef OPSCV_CLI_NPY_H_
#define OPSCV_CLI_NPY_H_

#include <optional>
#include <string>
#include <string_view>

#include "cli/tensor_file.h"

namespace opscv::cli {

// What the header of a .npy file says.
struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  Dims shape;
};

// Reads the header's dictionary, a literal of Python. Fails on anything else than the three keys.
[[nodiscard]] NpyHeader ParseNpyHeader(const std::string& path, std::string_view text);

// Types without a name of their own (V2) are `raw`; without it they are refused.
[[nodiscard]] TensorInput OpenNpy(InputFile file, std::optional<DType> raw);

// In Fortran order where the request's storage is in it, else in C order.
[[nodiscard]] TensorOutput CreateNpy(const OutputRequest& request);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_NPY_H_
