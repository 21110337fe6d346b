// SPDX-License-Identifier: Apache-2.0
// Images as tensors (1, C, H, W) with values from 0 to 255, channels side by side.
#ifndef OPSCV_CLI_IMAGE_TENSOR_H_
#define OPSCV_CLI_IMAGE_TENSOR_H_

#include "cli/tensor_file.h"

namespace opscv::cli {

// Samples of 16 bits come as 257ths, so that white is 255 at either depth.
[[nodiscard]] TensorInput OpenImage(const InputFile& file, Format format);

// Values are rounded to the nearest sample and clamped; NaN becomes 0. A PNG made from a PNG of 16
// bits has 16 bits too.
[[nodiscard]] TensorOutput CreateImage(const OutputRequest& request, Format format);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_IMAGE_TENSOR_H_
