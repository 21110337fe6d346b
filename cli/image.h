// SPDX-License-Identifier: Apache-2.0
// PNG and JPEG: decoded and encoded by libspng and TurboJPEG. Samples are taken as they are: no
// gamma and no colour profile is applied. Knows nothing of tensors.
#ifndef OPSCV_CLI_IMAGE_H_
#define OPSCV_CLI_IMAGE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace opscv::cli {

// Samples row after row, the channels of a pixel side by side: 1 grey, 2 grey and alpha, 3 colours,
// 4 colours and alpha.
struct Image {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  int64_t sample_bytes = 1;  // 1, or 2 in this machine's byte order
  int orientation = 1;       // of a JPEG's EXIF data, 1 to 8; 1: as the samples lie
  std::vector<char> samples = {};
};

// `bytes` are the whole file; `path` is for messages. InputFailure where they are no such image.
[[nodiscard]] Image DecodePng(const std::string& path, const std::vector<char>& bytes);
[[nodiscard]] Image DecodeJpeg(const std::string& path, const std::vector<char>& bytes);

// WriteFailure where the format cannot hold the image.
[[nodiscard]] std::vector<char> EncodePng(const std::string& path, const Image& image);
[[nodiscard]] std::vector<char> EncodeJpeg(const std::string& path, const Image& image);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_IMAGE_H_
