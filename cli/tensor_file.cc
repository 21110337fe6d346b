// SPDX-License-Identifier: Apache-2.0
#include "cli/tensor_file.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "base/checked_math.h"
#include "cli/failure.h"
#include "cli/image_tensor.h"
#include "cli/nifti.h"
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

struct Ending {
  std::string_view text;
  Format format;
};
constexpr std::array<Ending, 6> kEndings = {{{".npy", Format::kNpy},
                                             {".nii", Format::kNifti},
                                             {".nii.gz", Format::kNiftiGzip},
                                             {".png", Format::kPng},
                                             {".jpg", Format::kJpeg},
                                             {".jpeg", Format::kJpeg}}};

constexpr std::string_view kEndingsText = ".npy, .nii, .nii.gz, .png, .jpg or .jpeg";

std::optional<Format> FindFormat(const std::string& path) {
  for (const Ending& ending : kEndings) {
    if (EndsWith(path, ending.text)) return ending.format;
  }
  return std::nullopt;
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

int64_t Offset(const Dims& at, const Dims& strides) {
  int64_t offset = 0;
  for (int i = 0; i < at.rank(); ++i) offset += at[i] * strides[i];
  return offset;
}

// Counts through some dimensions of a box, the last named fastest.
class Counter {
 public:
  Counter(const Dims& extent, std::vector<int> dims)
      : extent_(extent), dims_(std::move(dims)), at_(Dims::Filled(extent.rank(), 0)) {}
  [[nodiscard]] const Dims& at() const { return at_; }
  // Whether there is a next one.
  bool Next() {
    for (size_t level = dims_.size(); level-- > 0;) {
      const int dim = dims_[level];
      if (++at_[dim] < extent_[dim]) return true;
      at_[dim] = 0;
    }
    return false;
  }

 private:
  Dims extent_;
  std::vector<int> dims_;
  Dims at_;
};

// How a box falls into runs of elements that are neighbours in the file.
struct Runs {
  int outer;         // dimensions, from the outermost, that step from run to run
  int64_t elements;  // of a run
  bool in_order;     // in memory they are neighbours too
};

Runs FindRuns(const Dims& file, const Dims& memory, const Dims& extent,
              const std::vector<int>& order) {
  Runs runs{static_cast<int>(order.size()), 1, true};
  for (; runs.outer > 0; --runs.outer) {
    const int dim = order[static_cast<size_t>(runs.outer - 1)];
    if (extent[dim] == 1) continue;
    if (file[dim] != runs.elements) break;
    runs.in_order = runs.in_order && memory[dim] == runs.elements;
    runs.elements *= extent[dim];
  }
  return runs;
}

// Puts a run's elements, which lie in the order of `dims`, where the strides say.
void Scatter(const std::vector<char>& elements, const Dims& extent, std::vector<int> dims,
             const Dims& strides, int64_t size, char* out) {
  Counter inner(extent, std::move(dims));
  const char* from = elements.data();
  do {
    std::copy_n(from, size, out + Offset(inner.at(), strides) * size);
    from += size;
  } while (inner.Next());
}

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
  for (size_t level = order.size(); level-- > 0;) {
    const int dim = order[level];
    strides[dim] = step;
    // An empty or refused shape may have a product beyond any number; its strides are never used.
    step = CheckedMul(step, std::max<int64_t>(shape[dim], 1)).value_or(step);
  }
  return strides;
}

void ReadBox(TensorInput& input, const Box& box, DType dtype, const Dims& strides, char* out) {
  const Storage& storage = input.storage;
  Dims extent = box.end;
  for (int i = 0; i < extent.rank(); ++i) {
    extent[i] -= box.begin[i];
    if (extent[i] <= 0) return;
  }
  const std::vector<int> order = OuterToInner(storage.strides);
  const Runs runs = FindRuns(storage.strides, strides, extent, order);
  const int64_t first = Offset(box.begin, storage.strides);
  input.bytes->Keep(first * SizeOf(storage.encoding.dtype));
  RunReader reader(input, dtype);
  std::vector<char> scattered;
  Counter outer(extent, {order.begin(), order.begin() + runs.outer});
  do {
    char* target = out + Offset(outer.at(), strides) * SizeOf(dtype);
    const int64_t from = first + Offset(outer.at(), storage.strides);
    if (runs.in_order) {
      reader.Read(from, runs.elements, target);
      continue;
    }
    scattered.resize(static_cast<size_t>(runs.elements * SizeOf(dtype)));
    reader.Read(from, runs.elements, scattered.data());
    Scatter(scattered, extent, {order.begin() + runs.outer, order.end()}, strides, SizeOf(dtype),
            target);
  } while (outer.Next());
}

void WriteRange(TensorOutput& output, int64_t first, int64_t count, DType dtype, const char* data) {
  const DType stored = output.storage.encoding.dtype;
  const int64_t stored_size = SizeOf(stored);
  const int64_t size = SizeOf(dtype);
  if (stored == dtype || (stored == DType::kUInt8 && dtype == DType::kBool)) {
    return output.bytes->Write(first * size, {data, static_cast<size_t>(count * size)});
  }
  std::vector<char> staging;
  for (int64_t done = 0; done < count;) {
    const int64_t part = std::min(count - done, kStagingBytes / stored_size);
    staging.resize(static_cast<size_t>(part * stored_size));
    Decode({.dtype = dtype}, data + done * size, part, stored, staging.data());
    output.bytes->Write((first + done) * stored_size, staging);
    done += part;
  }
}

Dims ToLayout(const Dims& channels_first, Layout layout) {
  Dims dims = channels_first;
  if (layout == Layout::kChannelsFirst) return dims;
  for (int i = 2; i < dims.rank(); ++i) dims[i - 1] = channels_first[i];
  dims[dims.rank() - 1] = channels_first[1];
  return dims;
}

Dims ToChannelsFirst(const Dims& dims, Layout layout) {
  Dims first = dims;
  if (layout == Layout::kChannelsFirst) return first;
  for (int i = 2; i < dims.rank(); ++i) first[i] = dims[i - 1];
  first[1] = dims[dims.rank() - 1];
  return first;
}

Format FormatOf(const std::string& path) {
  if (const std::optional<Format> format = FindFormat(path)) return *format;
  throw InputFailure("{}: its name must end in {}", path, kEndingsText);
}

Format FormatOfOutput(const std::string& path) {
  if (const std::optional<Format> format = FindFormat(path)) return *format;
  throw UsageFailure("--output must end in {}, got '{}'", kEndingsText, path);
}

TensorInput OpenTensor(const InputRequest& request) {
  const Format format = FormatOf(request.path);
  if (format == Format::kNpy) return OpenNpy(InputFile(request.path), request.raw);
  TensorInput input = IsImage(format) ? OpenImage(InputFile(request.path), format)
                                      : OpenNifti(InputFile(request.path),
                                                  format == Format::kNiftiGzip, request.rank);
  input.storage.shape = ToLayout(input.storage.shape, request.layout);
  input.storage.strides = ToLayout(input.storage.strides, request.layout);
  return input;
}

TensorOutput CreateTensor(const OutputRequest& request) {
  switch (FormatOfOutput(request.path)) {
    case Format::kNpy:
      return CreateNpy(request);
    case Format::kPng:
      return CreateImage(request, Format::kPng);
    case Format::kJpeg:
      return CreateImage(request, Format::kJpeg);
    case Format::kNifti:
      return CreateNifti(request, /*gzipped=*/false);
    case Format::kNiftiGzip:
      return CreateNifti(request, /*gzipped=*/true);
  }
  return {};
}

}  // namespace opscv::cli
