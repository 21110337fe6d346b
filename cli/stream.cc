// SPDX-License-Identifier: Apache-2.0
#include "cli/stream.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "base/checked_math.h"
#include "cli/boxes.h"
#include "cli/failure.h"
#include "cli/words.h"

namespace opscv::cli {
namespace {

constexpr size_t kAlign = 64;

struct Free {
  void operator()(char* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<char, Free>;

Buffer Allocate(int64_t bytes) {
  const auto size = static_cast<size_t>(RoundUp(std::max<int64_t>(bytes, 1), kAlign));
  Buffer buffer(static_cast<char*>(std::aligned_alloc(kAlign, size)));
  if (buffer == nullptr) throw WriteFailure("{} bytes of memory could not be allocated", size);
  return buffer;
}

TensorDesc Describe(const Job& job, const Dims& shape, const Dims& strides) {
  return {.dtype = job.dtype, .shape = shape, .strides = strides, .layout = job.layout};
}

Plan MakePlanOrFail(const Job& job, const TensorDesc& input, const TensorDesc& output) {
  Result<Plan> plan = MakePlan(job.spec, input, output);
  if (plan) return *std::move(plan);
  if (plan.error().code() == StatusCode::kOutOfMemory) {
    throw WriteFailure("{}", plan.error().message());
  }
  throw InputFailure("{}: {}", job.subject, plan.error().message());
}

int64_t SaturatingProduct(const Dims& extents, int64_t element) {
  const std::optional<int64_t> count = CheckedProduct(extents.values());
  const std::optional<int64_t> bytes = count ? CheckedMul(*count, element) : std::nullopt;
  return bytes.value_or(std::numeric_limits<int64_t>::max() / 4);
}

// How a run is cut: output boxes of `output` elements read input boxes of at most `input`.
struct Cut {
  Dims output;
  Dims input;
};

// Along one dimension, the longest input range that any piece of `step` outputs reads.
int64_t LongestInput(const Plan& plan, int dim, int64_t step) {
  const Dims& shape = plan.output().shape;
  int64_t longest = 1;
  for (int64_t begin = 0; begin < shape[dim]; begin += step) {
    Box box{.begin = Dims::Filled(shape.rank(), 0), .end = Dims::Filled(shape.rank(), 1)};
    box.begin[dim] = begin;
    box.end[dim] = std::min(begin + step, shape[dim]);
    const Box input = plan.InputBox(box);
    longest = std::max(longest, input.end[dim] - input.begin[dim]);
  }
  return longest;
}

class Cutter {
 public:
  Cutter(const Job& job, const Plan& plan, const TensorInput& input)
      : job_(job),
        plan_(plan),
        sequential_(input.bytes->sequential()),
        input_bytes_(SizeOf(job.dtype) + (sequential_ ? SizeOf(input.storage.encoding.dtype) : 0)),
        order_(OuterToInner(plan.output().strides)) {
    cut_.output = plan.output().shape;
    cut_.input = cut_.output;
    for (int dim = 0; dim < cut_.output.rank(); ++dim) Measure(dim);
  }

  // Halves the dimension that steps furthest, then the next, until a box fits the memory.
  Cut Run() {
    size_t level = 0;
    while (Bytes() > job_.memory && level < order_.size()) {
      const int dim = order_[level];
      if (cut_.output[dim] == 1) {
        // A sequential input is read in one go only where each box is one range of the file.
        if (sequential_ && cut_.input[dim] > 1) break;
        ++level;
        continue;
      }
      cut_.output[dim] = CeilDiv(cut_.output[dim], 2);
      Measure(dim);
    }
    if (Bytes() > job_.memory && job_.memory_asked) {
      throw UsageFailure("--memory must be {} or more here, got {}: {}", BytesText(Bytes()),
                         BytesText(job_.memory),
                         sequential_ ? "an input that is read in one pass is held as far as one "
                                       "part of the output reads it"
                                     : "one element of the output reads as much");
    }
    return cut_;
  }

 private:
  void Measure(int dim) { cut_.input[dim] = LongestInput(plan_, dim, cut_.output[dim]); }
  [[nodiscard]] int64_t Bytes() const {
    const int64_t element = SizeOf(job_.dtype);
    return SaturatingProduct(cut_.output, element) + SaturatingProduct(cut_.input, input_bytes_);
  }

  const Job& job_;
  const Plan& plan_;
  bool sequential_;
  int64_t input_bytes_;  // an element takes; a sequential input keeps its own form of it too
  std::vector<int> order_;
  Cut cut_;
};

int64_t OffsetOf(const Storage& storage, const Dims& at) {
  int64_t offset = 0;
  for (int i = 0; i < at.rank(); ++i) offset += at[i] * storage.strides[i];
  return offset;
}

}  // namespace

Plan PlanJob(const Job& job, const Storage& input, const Storage& output) {
  return MakePlanOrFail(job, Describe(job, input.shape, input.strides),
                        Describe(job, output.shape, output.strides));
}

double RunBoxTimed(const Plan& plan, const Job& job, const Box& box, const char* input,
                   const Dims& input_origin, char* output) {
  const auto start = std::chrono::steady_clock::now();
  const Status status = plan.RunBox(box, input, input_origin, output, {.threads = job.threads});
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (!status.ok()) throw WriteFailure("{}: {}", job.subject, status.message());
  return time.count();
}

StreamStats RunStream(const Job& job, TensorInput& input, TensorOutput& output) {
  const Storage& to = output.storage;
  const Plan whole = PlanJob(job, input.storage, to);
  StreamStats stats;
  if (ElementsOf(WholeOf(to.shape)) == 0) return stats;

  const Cut cut = Cutter(job, whole, input).Run();
  // Outer dimensions have one element a box where inner ones are cut: with the file's own strides a
  // box of the output is one range of it. Input boxes lie densely.
  const Dims input_strides = DenseStridesLike(cut.input, input.storage.strides);
  const Plan plan = MakePlanOrFail(job, Describe(job, input.storage.shape, input_strides),
                                   Describe(job, to.shape, to.strides));
  const int64_t element = SizeOf(job.dtype);
  const Buffer source = Allocate(SaturatingProduct(cut.input, element));
  const Buffer target = Allocate(SaturatingProduct(cut.output, element));
  const auto total = static_cast<double>(ElementsOf(WholeOf(to.shape)));
  int64_t done = 0;
  for (Boxes boxes(to.shape, cut.output, to.strides); !boxes.done(); boxes.Next()) {
    const Box box = boxes.box();
    const Box from = plan.InputBox(box);
    ReadBox(input, from, job.dtype, input_strides, source.get());
    stats.seconds += RunBoxTimed(plan, job, box, source.get(), from.begin, target.get());
    WriteRange(output, OffsetOf(to, box.begin), ElementsOf(box), job.dtype, target.get());
    ++stats.boxes;
    done += ElementsOf(box);
    if (job.progress) job.progress(static_cast<double>(done) / total);
  }
  input.bytes->Finish();
  return stats;
}

}  // namespace opscv::cli
