// SPDX-License-Identifier: Apache-2.0
// What a plan runs: a program computes any block of the output from the input with scratch that it
// was told of beforehand. Programs differ in method and direction only.
#ifndef OPSCV_PLAN_PROGRAM_H_
#define OPSCV_PLAN_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plan/cost_model.h"
#include "plan/geometry.h"
#include "plan/resample_spec.h"

namespace opscv::plan {

// Where the data of a run lies: `input` is the element at input_origin, `output` the element at
// output_origin.
struct Buffers {
  const void* input;
  Coords input_origin;
  void* output;
  Coords output_origin;
};

// The element of a tensor at `at`, where `base` is the one at `origin`; null where `base` is, which
// an input may be that no output reads.
[[nodiscard]] inline const char* AddressOf(const void* base, const Coords& origin,
                                           const Tensor5& tensor, const Coords& at) {
  if (base == nullptr) return nullptr;
  int64_t offset = 0;
  for (int i = 0; i < kRank; ++i) offset += (at[i] - origin[i]) * tensor.stride_bytes[i];
  return static_cast<const char*>(base) + offset;
}
[[nodiscard]] inline char* AddressOf(void* base, const Coords& origin, const Tensor5& tensor,
                                     const Coords& at) {
  return const_cast<char*>(AddressOf(static_cast<const void*>(base), origin, tensor, at));
}

// The rows of one block and everything around them that stays the same.
struct BlockRun {
  const Buffers& buffers;
  const BlockGrid& grid;
  Block block;
  int64_t channels;  // elements side by side in a pixel: the box's channels, or 1
  void* scratch;     // ScratchBytes() of it, aligned to 64; null when that is 0
};

// A range of samples along one axis.
struct Range {
  int64_t begin;
  int64_t end;
};

// One pass: the axes it sums over (0, 1, 2 for D, H, W) and the most taps of an output along each.
struct Pass {
  struct Axis {
    int axis;
    int64_t most_taps;
  };
  std::vector<Axis> axes;
};

class Program {
 public:
  virtual ~Program() = default;

  // How many planes, rows and pixels a block covers; depends on sizes alone, never on threads.
  [[nodiscard]] virtual BlockShape Blocks() const = 0;
  // Scratch that one block needs.
  [[nodiscard]] virtual int64_t ScratchBytes() const = 0;
  // The input samples along axis D, H or W (0, 1, 2) that the outputs of a non-empty range read;
  // empty where they read none.
  [[nodiscard]] virtual Range InputRange(int axis, Range outputs) const = 0;
  virtual void RunBlock(const BlockRun& run) const noexcept = 0;
  // The passes in order; none where elements are copied.
  [[nodiscard]] virtual std::vector<Pass> Passes() const = 0;
  // Arithmetic for the whole output.
  [[nodiscard]] virtual Work TotalWork() const = 0;
  // What was chosen, for people: one fact a line.
  [[nodiscard]] virtual std::vector<std::string> Describe() const = 0;
};

// Each builds its tables; std::bad_alloc may come of it.
[[nodiscard]] std::unique_ptr<const Program> MakeTapProgram(const ResampleSpec& spec);
[[nodiscard]] std::unique_ptr<const Program> MakeRunSumProgram(const ResampleSpec& spec);
[[nodiscard]] std::unique_ptr<const Program> MakeNearestCopyProgram(const ResampleSpec& spec);

}  // namespace opscv::plan

#endif  // OPSCV_PLAN_PROGRAM_H_
