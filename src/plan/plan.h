// SPDX-License-Identifier: Apache-2.0
// From a spec to something that runs. Everything that can fail happens in MakePlan.
#ifndef OPSCV_PLAN_PLAN_H_
#define OPSCV_PLAN_PLAN_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "plan/program.h"
#include "plan/resample_spec.h"

namespace opscv::plan {

struct RunRequest {
  Box5 box;  // of the output
  Buffers buffers;
  void* workspace = nullptr;  // WorkspaceBytes(threads) bytes, aligned to 64
  int threads = 1;            // at least 1
  const std::atomic<bool>* stop = nullptr;
};

// Immutable; any number of threads may run it at once.
class Plan {
 public:
  [[nodiscard]] const ResampleSpec& spec() const { return spec_; }
  // The whole output.
  [[nodiscard]] Box5 OutputBox() const { return {.begin = {}, .end = spec_.output.shape}; }
  // What a box of the output reads; empty for an empty box.
  [[nodiscard]] Box5 InputBox(const Box5& output_box) const;

  // The threads of `threads` that a run of the whole output makes use of.
  [[nodiscard]] int UsefulThreads(int threads) const;
  [[nodiscard]] int64_t WorkspaceBytes(int threads) const;

  // Computes the box; returns whether it is complete, which it is unless `stop` became true.
  bool Run(const RunRequest& request) const noexcept;

  // For people: one fact a line.
  [[nodiscard]] std::string Describe() const;
  // What the program chose, of it.
  [[nodiscard]] std::vector<std::string> Choices() const;
  // Roughly, for the whole output.
  [[nodiscard]] double EstimatedSeconds(int threads) const;

  // The passes in order.
  [[nodiscard]] std::vector<Pass> Passes() const;
  // The blocks that the whole output falls into.
  [[nodiscard]] int64_t blocks() const { return blocks_; }
  [[nodiscard]] Block BlockAt(int64_t index) const;
  [[nodiscard]] const std::string& target() const { return target_; }

 private:
  friend Result<std::shared_ptr<const Plan>> MakePlan(const ResampleSpec&);
  Plan(const ResampleSpec& spec, std::unique_ptr<const Program> program);
  [[nodiscard]] int UsefulThreads(const Box5& box, int64_t blocks, int threads) const;

  ResampleSpec spec_;
  std::unique_ptr<const Program> program_;  // null when the output is empty
  bool groups_ = false;
  int64_t scratch_bytes_ = 0;  // of one block, rounded up to the alignment
  int64_t blocks_ = 0;         // of the whole output
  std::string target_;         // SIMD target of the kernels
};

// kInvalidArgument when OPSCV_TARGET is not a known target, OPSCV_THREADS no number of threads, or
// an axis beyond what tables can index; kOutOfMemory when the tables do not fit in memory.
[[nodiscard]] Result<std::shared_ptr<const Plan>> MakePlan(const ResampleSpec& spec);

// Names of the SIMD targets of this machine, best first, and of the one that plans use now.
[[nodiscard]] std::vector<std::string> SupportedTargets();
[[nodiscard]] Result<std::string> CurrentTarget();

}  // namespace opscv::plan

#endif  // OPSCV_PLAN_PLAN_H_
