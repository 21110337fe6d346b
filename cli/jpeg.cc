// SPDX-License-Identifier: Apache-2.0
#include <turbojpeg.h>

#include <memory>
#include <string_view>

#include "cli/exif.h"
#include "cli/failure.h"
#include "cli/image.h"

namespace opscv::cli {
namespace {

constexpr int kQuality = 95;  // with the colours of every pixel kept

struct Destroy {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Handle = std::unique_ptr<void, Destroy>;

struct FreeJpeg {
  void operator()(unsigned char* memory) const { tjFree(memory); }
};

const unsigned char* Unsigned(const std::vector<char>& bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

Failure NoJpeg(const std::string& path, tjhandle handle) {
  return InputFailure("{}: is no sound JPEG file: {}", path, tjGetErrorStr2(handle));
}

// Cameras leave bytes between segments that nothing depends on; every other warning means lost
// data.
bool IsHarmless(tjhandle handle) {
  return tjGetErrorCode(handle) == TJERR_WARNING &&
         std::string_view(tjGetErrorStr2(handle)).find("extraneous bytes before marker") !=
             std::string_view::npos;
}

}  // namespace

Image DecodeJpeg(const std::string& path, const std::vector<char>& bytes) {
  const Handle handle(tjInitDecompress());
  if (handle == nullptr) throw WriteFailure("memory could not be allocated");
  int width = 0;
  int height = 0;
  int sampling = 0;
  int colours = 0;
  if (tjDecompressHeader3(handle.get(), Unsigned(bytes), bytes.size(), &width, &height, &sampling,
                          &colours) != 0 &&
      !IsHarmless(handle.get())) {
    throw NoJpeg(path, handle.get());
  }
  // Every block of 8 x 8 pixels takes a bit at the least.
  if (static_cast<size_t>(width) * static_cast<size_t>(height) / (64 * 8) > bytes.size()) {
    throw InputFailure("{}: promises {} x {} pixels, more than {} bytes can hold", path, width,
                       height, bytes.size());
  }
  if (colours == TJCS_CMYK || colours == TJCS_YCCK) {
    throw InputFailure("{}: is a JPEG of four inks (CMYK); expected grey or RGB", path);
  }
  Image image{.height = height, .width = width, .channels = colours == TJCS_GRAY ? 1 : 3};
  image.orientation = ExifOrientation({Unsigned(bytes), bytes.size()});
  image.samples.resize(static_cast<size_t>(height) * static_cast<size_t>(width) *
                       static_cast<size_t>(image.channels));
  if (tjDecompress2(handle.get(), Unsigned(bytes), bytes.size(),
                    reinterpret_cast<unsigned char*>(image.samples.data()), width, 0, height,
                    image.channels == 1 ? TJPF_GRAY : TJPF_RGB, TJFLAG_ACCURATEDCT) != 0 &&
      !IsHarmless(handle.get())) {
    throw NoJpeg(path, handle.get());
  }
  return image;
}

std::vector<char> EncodeJpeg(const std::string& path, const Image& image) {
  if (image.channels != 1 && image.channels != 3) {
    throw InputFailure("{}: a JPEG holds 1 or 3 channels, got {}", path, image.channels);
  }
  constexpr int64_t kMostPixelsASide = 65500;  // libjpeg's own limit
  if (image.height > kMostPixelsASide || image.width > kMostPixelsASide) {
    throw InputFailure("{}: a JPEG holds at most {} pixels a side, got {} x {}", path,
                       kMostPixelsASide, image.width, image.height);
  }
  const Handle handle(tjInitCompress());
  if (handle == nullptr) throw WriteFailure("memory could not be allocated");
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  const int result = tjCompress2(
      handle.get(), Unsigned(image.samples), static_cast<int>(image.width), 0,
      static_cast<int>(image.height), image.channels == 1 ? TJPF_GRAY : TJPF_RGB, &memory, &size,
      image.channels == 1 ? TJSAMP_GRAY : TJSAMP_444, kQuality, TJFLAG_ACCURATEDCT);
  const std::unique_ptr<unsigned char, FreeJpeg> jpeg(memory);
  if (result != 0) {
    throw WriteFailure("{}: cannot be encoded: {}", path, tjGetErrorStr2(handle.get()));
  }
  const auto* begin = reinterpret_cast<const char*>(jpeg.get());
  return {begin, begin + size};
}

}  // namespace opscv::cli
