// SPDX-License-Identifier: Apache-2.0
#include "cli/tensor_file.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "cli/failure.h"
#include "cli/npy.h"

namespace opscv::cli {
namespace {

// Stored bytes that are decoded at a time.
constexpr int64_t kStagingBytes = 1 << 18;

bool EndsWith(std::string_view path, std::string_view ending) {
  if (path.size() <= ending.size()) return false;
  return std::equal(ending.begin(), ending.end(),
                    path.end() - static_cast<ptrdiff_t>(ending.size()),
                    [](unsigned char a, unsigned char b) { return a == std::tolower(b); });
}

// Reads one run of neighbours.
class RunReader {
 public:
  RunReader(TensorInput& input, DType dtype) : input_(input), dtype_(dtype) {
    const Encoding& encoding = input.storage.encoding;
    direct_ = dtype == encoding.dtype && !encoding.scaled() && !encoding.swapped;
  }

  void Read(int64_t first, int64_t count, char* out) {
    const int64_t stored_size = SizeOf(input_.storage.encoding.dtype);
    const int64_t size = SizeOf(dtype_);
    if (direct_) {
      return input_.bytes->Read(first * stored_size, {out, static_cast<size_t>(count * size)});
    }
    for (int64_t done = 0; done < count;) {
      const int64_t part = std::min(count - done, kStagingBytes / stored_size);
      staging_.resize(static_cast<size_t>(part * stored_size));
      input_.bytes->Read((first + done) * stored_size, staging_);
      Decode(input_.storage.encoding, staging_.data(), part, dtype_, out + done * size);
      done += part;
    }
  }

 private:
  TensorInput& input_;
  DType dtype_;
  bool direct_;
  std::vector<char> staging_;
};

}  // namespace

std::vector<int> OuterToInner(const Dims& strides) {
  std::vector<int> order(static_cast<size_t>(strides.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return strides[a] > strides[b]; });
  return order;
}

Dims DenseStridesLike(const Dims& shape, const Dims& like) {
  const std::vector<int> order = OuterToInner(like);
  Dims strides = shape;
  int64_t step = 1;
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    strides[*dim] = step;
    step *= std::max<int64_t>(shape[*dim], 1);
  }
  return strides;
}

void ReadBox(TensorInput& input, const Box& box, DType dtype, const Dims& strides, char* out) {
  const Storage& storage = input.storage;
  const std::vector<int> order = OuterToInner(storage.strides);
  Dims extent = box.end;
  int64_t first = 0;
  for (int i = 0; i < extent.rank(); ++i) {
    extent[i] -= box.begin[i];
    if (extent[i] <= 0) return;
    first += box.begin[i] * storage.strides[i];
  }
  // The innermost dimensions that are neighbours in the file and in memory make one run.
  int outer = extent.rank();
  int64_t run = 1;
  while (outer > 0) {
    const int dim = order[static_cast<size_t>(outer - 1)];
    const bool joins = extent[dim] == 1 || (storage.strides[dim] == run && strides[dim] == run);
    if (!joins) break;
    run *= extent[dim];
    --outer;
  }
  RunReader reader(input, dtype);
  Dims at = Dims::Filled(extent.rank(), 0);
  for (;;) {
    int64_t from = first;
    int64_t to = 0;
    for (int i = 0; i < extent.rank(); ++i) {
      from += at[i] * storage.strides[i];
      to += at[i] * strides[i];
    }
    reader.Read(from, run, out + to * SizeOf(dtype));
    int level = outer - 1;
    for (; level >= 0; --level) {
      const int dim = order[static_cast<size_t>(level)];
      if (++at[dim] < extent[dim]) break;
      at[dim] = 0;
    }
    if (level < 0) return;
  }
}

TensorInput OpenTensor(const std::string& path, std::optional<DType> dtype) {
  if (EndsWith(path, ".npy")) return OpenNpy(InputFile(path), dtype);
  throw InputFailure("{}: must end in .npy", path);
}

TensorOutput CreateTensor(const std::string& path, const Storage& storage) {
  if (EndsWith(path, ".npy")) return CreateNpy(path, storage);
  throw InputFailure("{}: must end in .npy", path);
}

}  // namespace opscv::cli
