// SPDX-License-Identifier: Apache-2.0
// Tensors in files: what they are, and boxes of them read and written. Knows nothing of operators;
// the formats lie in files of their own.
#ifndef OPSCV_CLI_TENSOR_FILE_H_
#define OPSCV_CLI_TENSOR_FILE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/bytes.h"
#include "cli/elements.h"
#include "opscv/view.h"

namespace opscv::cli {

enum class Format : uint8_t { kNpy, kPng, kJpeg, kNifti, kNiftiGzip };

[[nodiscard]] constexpr bool IsImage(Format format) {
  return format == Format::kPng || format == Format::kJpeg;
}
[[nodiscard]] constexpr bool IsNifti(Format format) {
  return format == Format::kNifti || format == Format::kNiftiGzip;
}

// The format that a path's ending names. InputFailure, listing the known ones, for any other; where
// the path is to be written, UsageFailure that names --output.
[[nodiscard]] Format FormatOf(const std::string& path);
[[nodiscard]] Format FormatOfOutput(const std::string& path);

// How a tensor lies in a file: densely, its dimensions in some order.
struct Storage {
  Encoding encoding;
  Dims shape;
  Dims strides;  // in elements
};

// Something for each of W, H and D, in this order (x, y, z of a volume).
using Spatial = std::array<double, 3>;

class NiftiHeader;

// A tensor that can be read.
struct TensorInput {
  std::string path;
  Format format = Format::kNpy;
  Storage storage;
  std::unique_ptr<ByteSource> bytes;
  std::shared_ptr<const NiftiHeader> nifti;  // of a NIfTI file
  int orientation = 1;                       // what an image's EXIF data say, if anything
};

// A tensor that is being written.
struct TensorOutput {
  std::string path;
  Storage storage;
  std::unique_ptr<ByteSink> bytes;
};

struct InputRequest {
  std::string path;
  int rank = 4;  // dimensions that the operator takes
  Layout layout = Layout::kChannelsFirst;
  std::optional<DType> raw;  // what .npy elements of two bytes without a type are
};

struct OutputRequest {
  std::string path;
  Storage storage;  // its order of dimensions is kept where the format can
  Layout layout = Layout::kChannelsFirst;
  const TensorInput* source = nullptr;  // where geometry and sample depth come from
  // Sample o of the output lies over sample step * (o + 0.5) - 0.5 of the source.
  Spatial step = {1.0, 1.0, 1.0};
  bool keep_scaling = false;  // elements are the source's own: its slope and intercept still hold
};

// The dimensions of `strides` from the one that steps furthest to the one that steps least;
// among equals the earlier first.
[[nodiscard]] std::vector<int> OuterToInner(const Dims& strides);

// Dense strides of `shape`, its dimensions in the order that `like` has.
[[nodiscard]] Dims DenseStridesLike(const Dims& shape, const Dims& like);

// From N,C,... to the order of the layout, and back.
[[nodiscard]] Dims ToLayout(const Dims& channels_first, Layout layout);
[[nodiscard]] Dims ToChannelsFirst(const Dims& dims, Layout layout);

// The elements of a box as `dtype`: element `box.begin` goes to out, others by `strides` (in
// elements), which step in the order of the storage's.
void ReadBox(TensorInput& input, const Box& box, DType dtype, const Dims& strides, char* out);

// `count` elements of `dtype`, the first of which is number `first` in the order of the file.
void WriteRange(TensorOutput& output, int64_t first, int64_t count, DType dtype, const char* data);

[[nodiscard]] TensorInput OpenTensor(const InputRequest& request);

// Begins a file of the format that FormatOfOutput names.
[[nodiscard]] TensorOutput CreateTensor(const OutputRequest& request);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_TENSOR_FILE_H_
