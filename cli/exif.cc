// SPDX-License-Identifier: Apache-2.0
#include "cli/exif.h"

#include <algorithm>
#include <string_view>

namespace opscv::cli {
namespace {

using Bytes = std::span<const uint8_t>;

// A number of `size` bytes; 0 beyond the end.
uint32_t NumberAt(Bytes bytes, size_t at, size_t size, bool little = false) {
  if (at > bytes.size() || size > bytes.size() - at) return 0;
  uint32_t number = 0;
  for (size_t i = 0; i < size; ++i) {
    number = number << 8 | bytes[at + (little ? size - 1 - i : i)];
  }
  return number;
}

bool BeginsWith(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::equal(text.begin(), text.end(), bytes.begin());
}

// EXIF data are a TIFF file: byte order, 42, where the first directory is; a directory is a count
// and entries of 12 bytes: tag, type, count, value.
int OrientationOfTiff(Bytes tiff) {
  constexpr uint32_t kOrientation = 0x0112;
  constexpr uint32_t kShort = 3;
  const bool little = BeginsWith(tiff, "II");
  if ((!little && !BeginsWith(tiff, "MM")) || NumberAt(tiff, 2, 2, little) != 42) return 1;
  const size_t directory = NumberAt(tiff, 4, 4, little);
  const size_t count = NumberAt(tiff, directory, 2, little);
  for (size_t i = 0; i < count; ++i) {
    const size_t entry = directory + 2 + 12 * i;
    if (NumberAt(tiff, entry, 2, little) != kOrientation) continue;
    const uint32_t value = NumberAt(tiff, entry + 8, 2, little);
    const bool known = NumberAt(tiff, entry + 2, 2, little) == kShort && value >= 1 && value <= 8;
    return known ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace

int ExifOrientation(Bytes jpeg) {
  using std::string_view_literals::operator""sv;
  constexpr auto kExif = "Exif\0\0"sv;
  constexpr uint32_t kApp1 = 0xFFE1;
  constexpr uint32_t kStartOfScan = 0xFFDA;
  // Segments begin after the two bytes that begin the file; their length counts its own two bytes.
  for (size_t at = 2; at + 4 <= jpeg.size();) {
    const uint32_t marker = NumberAt(jpeg, at, 2);
    const size_t length = NumberAt(jpeg, at + 2, 2);
    if (marker <= 0xFF00 || marker == kStartOfScan || length < 2) return 1;
    const Bytes data = jpeg.subspan(at + 4, std::min(length - 2, jpeg.size() - at - 4));
    if (marker == kApp1 && BeginsWith(data, kExif)) {
      return OrientationOfTiff(data.subspan(kExif.size()));
    }
    at += 2 + length;
  }
  return 1;
}

}  // namespace opscv::cli
