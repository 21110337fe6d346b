// SPDX-License-Identifier: Apache-2.0
#include "cli/image_tensor.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "cli/failure.h"
#include "cli/image.h"
#include "cli/output_file.h"

namespace opscv::cli {
namespace {

constexpr double kWide = 257.0;  // 65535 / 255

// N,C,H,W strides of samples that lie pixel by pixel.
Dims PixelStrides(const Dims& shape) {
  return {shape[1] * shape[2] * shape[3], 1, shape[1] * shape[3], shape[1]};
}

// Collects float32 values as samples and encodes them when all are there.
class ImageSink final : public ByteSink {
 public:
  ImageSink(OutputFile file, Format format, Image image)
      : file_(std::move(file)), format_(format), image_(std::move(image)) {}

  void Write(int64_t offset, std::span<const char> bytes) override {
    const auto first = static_cast<size_t>(offset) / sizeof(float);
    for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
      float value = 0.0f;
      std::memcpy(&value, bytes.data() + i * sizeof(float), sizeof value);
      StoreSample(first + i, value);
    }
  }

 private:
  void FinishBytes() override {
    const std::vector<char> bytes = format_ == Format::kPng ? EncodePng(file_.path(), image_)
                                                            : EncodeJpeg(file_.path(), image_);
    file_.Write(0, bytes);
    file_.Finish();
  }
  void GiveName() override { file_.Commit(); }

  void StoreSample(size_t index, float value) {
    const bool wide = image_.sample_bytes == 2;
    const double scaled = wide ? value * kWide : static_cast<double>(value);
    // The comparison is false for NaN, which becomes 0.
    const double clamped = scaled > 0.0 ? std::min(scaled, wide ? 65535.0 : 255.0) : 0.0;
    const auto sample = static_cast<uint16_t>(std::nearbyint(clamped));
    if (wide) {
      std::memcpy(&image_.samples[2 * index], &sample, sizeof sample);
    } else {
      image_.samples[index] = static_cast<char>(static_cast<uint8_t>(sample));
    }
  }

  OutputFile file_;
  Format format_;
  Image image_;
};

void CheckShape(const std::string& path, Format format, const Dims& shape) {
  const bool four = shape.rank() == 4;
  const bool channels = four && (format == Format::kPng ? shape[1] >= 1 && shape[1] <= 4
                                                        : shape[1] == 1 || shape[1] == 3);
  if (channels && shape[0] == 1 && shape[2] >= 1 && shape[3] >= 1) return;
  throw InputFailure("{}: an image has the shape (1, C, H, W) with C {}, got ({})", path,
                     format == Format::kPng ? "from 1 to 4" : "1 or 3",
                     fmt::join(shape.values(), ", "));
}

}  // namespace

TensorInput OpenImage(const InputFile& file, Format format) {
  const std::string& path = file.path();
  const std::vector<char> bytes = file.ReadAll();
  Image image = format == Format::kPng ? DecodePng(path, bytes) : DecodeJpeg(path, bytes);
  TensorInput input;
  input.path = path;
  input.format = format;
  input.storage.encoding.dtype = image.sample_bytes == 2 ? DType::kUInt16 : DType::kUInt8;
  input.storage.encoding.slope = image.sample_bytes == 2 ? 1.0 / kWide : 1.0;
  input.storage.shape = {1, image.channels, image.height, image.width};
  input.storage.strides = PixelStrides(input.storage.shape);
  input.orientation = image.orientation;
  input.bytes = SourceFrom(std::move(image.samples));
  return input;
}

TensorOutput CreateImage(const OutputRequest& request, Format format) {
  const Dims shape = ToChannelsFirst(request.storage.shape, request.layout);
  CheckShape(request.path, format, shape);
  const bool wide = format == Format::kPng && request.source != nullptr &&
                    request.source->format == Format::kPng &&
                    request.source->storage.encoding.dtype == DType::kUInt16;
  Image image{
      .height = shape[2], .width = shape[3], .channels = shape[1], .sample_bytes = wide ? 2 : 1};
  image.samples.resize(static_cast<size_t>(shape[1] * shape[2] * shape[3] * image.sample_bytes));
  TensorOutput output;
  output.path = request.path;
  output.storage.encoding.dtype = DType::kFloat32;
  output.storage.shape = request.storage.shape;
  output.storage.strides = ToLayout(PixelStrides(shape), request.layout);
  output.bytes = std::make_unique<ImageSink>(OutputFile(request.path), format, std::move(image));
  return output;
}

}  // namespace opscv::cli
