// SPDX-License-Identifier: Apache-2.0
// Tensors in files: what they are, and boxes of them read and written. Knows nothing of operators;
// the formats lie in files of their own.
#ifndef OPSCV_CLI_TENSOR_FILE_H_
#define OPSCV_CLI_TENSOR_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/bytes.h"
#include "cli/elements.h"
#include "opscv/view.h"

namespace opscv::cli {

// How a tensor lies in a file: densely, its dimensions in some order.
struct Storage {
  Encoding encoding;
  Dims shape;
  Dims strides;  // in elements
};

// A tensor that can be read.
struct TensorInput {
  std::string path;
  Storage storage;
  std::unique_ptr<ByteSource> bytes;
};

// A tensor that is being written.
struct TensorOutput {
  std::string path;
  Storage storage;
  std::unique_ptr<ByteSink> bytes;
};

// The dimensions of `strides` from the one that steps furthest to the one that steps least;
// among equals the earlier first.
[[nodiscard]] std::vector<int> OuterToInner(const Dims& strides);

// Dense strides of `shape`, its dimensions in the order that `like` has.
[[nodiscard]] Dims DenseStridesLike(const Dims& shape, const Dims& like);

// The elements of a box as `dtype`: element `box.begin` goes to out, others by `strides` (in
// elements), which step in the order of the storage's.
void ReadBox(TensorInput& input, const Box& box, DType dtype, const Dims& strides, char* out);

// Opens a .npy file. `dtype` is the type that elements of two bytes without a type stand for.
[[nodiscard]] TensorInput OpenTensor(const std::string& path, std::optional<DType> dtype);

// Begins a file of the format that the path's ending names.
[[nodiscard]] TensorOutput CreateTensor(const std::string& path, const Storage& storage);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_TENSOR_FILE_H_
