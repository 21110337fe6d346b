// SPDX-License-Identifier: Apache-2.0
// The one thing that this command asks a JPEG's EXIF data. Knows nothing of pixels.
#ifndef OPSCV_CLI_EXIF_H_
#define OPSCV_CLI_EXIF_H_

#include <cstdint>
#include <span>

namespace opscv::cli {

// The orientation, 1 to 8, that the EXIF data of a JPEG file ask for: 1, as the pixels lie, where
// there are none, where they say nothing of it, and where they make no sense.
[[nodiscard]] int ExifOrientation(std::span<const uint8_t> jpeg);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_EXIF_H_
