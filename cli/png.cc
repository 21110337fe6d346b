// SPDX-License-Identifier: Apache-2.0
#include <spng.h>

#include <cstdlib>
#include <memory>

#include "cli/failure.h"
#include "cli/image.h"

namespace opscv::cli {
namespace {

struct FreeContext {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};
using Context = std::unique_ptr<spng_ctx, FreeContext>;

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

constexpr uint32_t kMostPixelsASide = 1u << 30;
constexpr size_t kMostChunkBytes = size_t{64} << 20;
// Deflate cannot shrink by more than this: a header that promises more is a trap.
constexpr uint64_t kMostExpansion = 1100;

Context MakeContext(int flags) {
  Context context(spng_ctx_new(flags));
  if (context == nullptr) throw WriteFailure("memory could not be allocated");
  return context;
}

// What to ask libspng for, and how many channels come of it.
struct Wish {
  int format;
  int64_t channels;
};

Wish WishFor(const spng_ihdr& header, bool transparent) {
  const bool wide = header.bit_depth == 16;
  switch (header.color_type) {
    case SPNG_COLOR_TYPE_GRAYSCALE:
      if (transparent) return {wide ? SPNG_FMT_GA16 : SPNG_FMT_GA8, 2};
      return {wide ? SPNG_FMT_PNG : SPNG_FMT_G8, 1};
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA:
      return {SPNG_FMT_PNG, 2};
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA:
      return {SPNG_FMT_PNG, 4};
    case SPNG_COLOR_TYPE_TRUECOLOR:
      if (transparent) return {wide ? SPNG_FMT_RGBA16 : SPNG_FMT_RGBA8, 4};
      return {SPNG_FMT_PNG, 3};
    default:  // a palette
      if (transparent) return {SPNG_FMT_RGBA8, 4};
      return {SPNG_FMT_RGB8, 3};
  }
}

void CheckSpng(const std::string& path, int error) {
  if (error != 0) throw InputFailure("{}: is no sound PNG file: {}", path, spng_strerror(error));
}

int ColourTypeOf(int64_t channels) {
  switch (channels) {
    case 1:
      return SPNG_COLOR_TYPE_GRAYSCALE;
    case 2:
      return SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
    case 3:
      return SPNG_COLOR_TYPE_TRUECOLOR;
    default:
      return SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;
  }
}

}  // namespace

Image DecodePng(const std::string& path, const std::vector<char>& bytes) {
  const Context context = MakeContext(0);
  CheckSpng(path, spng_set_image_limits(context.get(), kMostPixelsASide, kMostPixelsASide));
  CheckSpng(path, spng_set_chunk_limits(context.get(), kMostChunkBytes, kMostChunkBytes));
  CheckSpng(path, spng_set_png_buffer(context.get(), bytes.data(), bytes.size()));
  spng_ihdr header{};
  CheckSpng(path, spng_get_ihdr(context.get(), &header));
  spng_trns transparency{};
  const bool transparent = spng_get_trns(context.get(), &transparency) == 0;
  const Wish wish = WishFor(header, transparent);
  size_t size = 0;
  CheckSpng(path, spng_decoded_image_size(context.get(), wish.format, &size));
  if (size / kMostExpansion > bytes.size() * 8) {  // 1 bit of file can become 1 byte of samples
    throw InputFailure("{}: promises {} x {} pixels, more than {} bytes can hold", path,
                       header.width, header.height, bytes.size());
  }
  Image image{.height = header.height,
              .width = header.width,
              .channels = wish.channels,
              .sample_bytes = header.bit_depth == 16 ? 2 : 1,
              .samples = std::vector<char>(size)};
  CheckSpng(path, spng_decode_image(context.get(), image.samples.data(), size, wish.format,
                                    transparent ? SPNG_DECODE_TRNS : 0));
  return image;
}

std::vector<char> EncodePng(const std::string& path, const Image& image) {
  if (image.channels < 1 || image.channels > 4) {
    throw InputFailure("{}: a PNG holds 1 to 4 channels, got {}", path, image.channels);
  }
  if (image.height > kMostPixelsASide || image.width > kMostPixelsASide) {
    throw InputFailure("{}: a PNG holds at most 2^30 pixels a side, got {} x {}", path, image.width,
                       image.height);
  }
  const Context context = MakeContext(SPNG_CTX_ENCODER);
  spng_ihdr header{.width = static_cast<uint32_t>(image.width),
                   .height = static_cast<uint32_t>(image.height),
                   .bit_depth = static_cast<uint8_t>(8 * image.sample_bytes),
                   .color_type = static_cast<uint8_t>(ColourTypeOf(image.channels)),
                   .compression_method = 0,
                   .filter_method = 0,
                   .interlace_method = 0};
  spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1);
  spng_set_ihdr(context.get(), &header);
  int error = spng_encode_image(context.get(), image.samples.data(), image.samples.size(),
                                SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
  size_t size = 0;
  const std::unique_ptr<void, FreeMemory> png(
      error == 0 ? spng_get_png_buffer(context.get(), &size, &error) : nullptr);
  if (png == nullptr) throw WriteFailure("{}: cannot be encoded: {}", path, spng_strerror(error));
  const auto* begin = static_cast<const char*>(png.get());
  return {begin, begin + size};
}

}  // namespace opscv::cli
