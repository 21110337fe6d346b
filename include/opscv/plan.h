// SPDX-License-Identifier: Apache-2.0
// The native interface: plan an operator once, run it as often as wanted.
//
//   std::vector<float> grad_out(224 * 224, 1.0f), grad_in(512 * 512);
//   auto plan = opscv::MakePlan(opscv::Spec("UpsampleBicubic2dAAGrad")
//                                   .Set("output_size", {224, 224})
//                                   .Set("input_size", {1, 1, 512, 512}),
//                               opscv::Contiguous(opscv::DType::kFloat32, {1, 1, 224, 224}),
//                               opscv::Contiguous(opscv::DType::kFloat32, {1, 1, 512, 512}));
//   if (!plan) return Fail(plan.error().message());
//   opscv::Status done = plan->Run(grad_out.data(), grad_in.data());
#ifndef OPSCV_PLAN_H_
#define OPSCV_PLAN_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "opscv/export.h"
#include "opscv/spec.h"
#include "opscv/status.h"
#include "opscv/view.h"

namespace opscv {

struct RunOptions {
  // Threads that may compute; 0 means OPSCV_THREADS, or the processors this process may use.
  int threads = 0;
  // Scratch of WorkspaceBytes(threads) bytes, aligned to 64; null: allocated and freed by Run.
  void* workspace = nullptr;
  // When given and set to true, Run stops before its next block and answers kCancelled.
  const std::atomic<bool>* stop = nullptr;
};

struct PlanOptions {
  // The plan will only run boxes, and the output's strides are those of a box's memory: they keep
  // the elements of each box apart (RunBox checks that), not those of the whole output.
  bool boxes_only = false;
};

// One spatial axis, as the forward operator sees it whatever the direction is.
struct AxisFacts {
  char name = 'W';       // D, H or W
  int64_t before = 1;    // samples before the forward operator
  int64_t after = 1;     // and after it
  double scale = 1.0;    // samples before per sample after: sample o after it lies over
                         // scale * (o + 0.5) - 0.5
  double inverse = 1.0;  // what distances to it are multiplied by: 1 / max(scale, 1)
  double support = 0.0;  // how far its filter reaches, in samples before; 0 where it has none
  bool identity = false;
};

// One pass of the computation; passes run in order.
struct PassFacts {
  std::string axes;                // "H", "W" or "DH": what it sums over
  std::vector<int64_t> most_taps;  // for each of them the most taps of an output sample
};

// One block of the output, which one thread computes: ranges of its planes (n,c), of its rows (d,h)
// and of the pixels of a row, counted row-major. Where channels lie side by side, a plane is one n
// and a pixel all its channels.
struct BlockFacts {
  int64_t plane_begin = 0, plane_end = 0;
  int64_t row_begin = 0, row_end = 0;
  int64_t pixel_begin = 0, pixel_end = 0;
};

// What a plan decided, for programs.
struct PlanFacts {
  std::vector<AxisFacts> axes;       // those the operator resamples: H, W or D, H, W
  std::vector<PassFacts> passes;     // none where elements are copied
  std::vector<std::string> choices;  // what the cost model chose, for people: one fact a line
  int64_t blocks = 0;
  std::string target;  // SIMD target of the kernels
};

// An operator bound to shapes, strides and types, with everything decided that can be decided
// without data. Immutable; copies share the same plan; any number of threads may run it at once.
class OPSCV_API Plan {
 public:
  [[nodiscard]] const TensorDesc& input() const noexcept;
  [[nodiscard]] const TensorDesc& output() const noexcept;

  // Bytes of scratch that a run with that many threads uses (RunOptions::threads).
  [[nodiscard]] int64_t WorkspaceBytes(int threads = 0) const noexcept;

  // The part of the input that the output box depends on, in the input's order of dimensions.
  // Empty (begin == end) where the box is empty. `output_box` must lie within the output.
  [[nodiscard]] Box InputBox(const Box& output_box) const;

  // Computes the whole output. Answers kNullPointer, kInvalidArgument (ranges that meet, misaligned
  // workspace), kOutOfMemory or kCancelled; the output is untouched in all but the last case.
  Status Run(const void* input, void* output, const RunOptions& options = {}) const;

  // Computes one box of the output, with the bits that the whole would have there.
  // `input` is the address of the input element at `input_origin`, `output` that of the output
  // element at output_box.begin; only elements of InputBox(output_box) are read. Strides are the
  // plan's: an input whose part lies in smaller memory is planned with that memory's strides. So is
  // an output, with PlanOptions::boxes_only; without it, the output's strides keep the elements of
  // the whole output apart.
  Status RunBox(const Box& output_box, const void* input, const Dims& input_origin, void* output,
                const RunOptions& options = {}) const;

  // A rough estimate of the time that Run takes with that many threads (RunOptions::threads), in
  // seconds, by the constants of the cost model: for a two-core AMD Zen 3. It is there to compare
  // plans; docs/performance.md has what was measured.
  [[nodiscard]] double EstimatedSeconds(int threads = 0) const noexcept;

  // What was decided, for people: passes in order, blocks, kernels, scratch. One fact a line.
  [[nodiscard]] std::string Describe() const;
  // The same for programs.
  [[nodiscard]] PlanFacts Facts() const;
  // Block `index` of Facts().blocks.
  [[nodiscard]] BlockFacts BlockAt(int64_t index) const;

 private:
  friend OPSCV_API Result<Plan> MakePlan(const Spec&, const TensorDesc&, const TensorDesc&,
                                         const PlanOptions&);
  struct Impl;
  explicit Plan(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

// Checks the call and plans it; reads no data. Any size is taken whose bytes count below 2^63.
// The error's code is kNotFound for an unknown operator or attribute, else kInvalidArgument, and
// its sentence names the argument, the value got and what was expected.
OPSCV_API Result<Plan> MakePlan(const Spec& spec, const TensorDesc& input, const TensorDesc& output,
                                const PlanOptions& options = {});

}  // namespace opscv

#endif  // OPSCV_PLAN_H_
