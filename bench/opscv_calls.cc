// SPDX-License-Identifier: Apache-2.0
// Plans and runs of this library by its native interface. Scratch is kept between runs, as a caller
// who runs a plan often would.
#include <cstdlib>
#include <memory>
#include <span>

#include "bench/c_door.h"
#include "kernels/targets.h"
#include "opscv/plan.h"
#include "opscv/targets.h"
#include "opscv/version.h"

namespace opscv::bench {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

struct Job {
  Plan plan;
  int threads;
  std::unique_ptr<void, Free> workspace;
  std::string description;
};

DType ToDType(int dtype) {
  if (dtype == kFloat16) return DType::kFloat16;
  return dtype == kBFloat16 ? DType::kBFloat16 : DType::kFloat32;
}

// N,C,spatial as the layout lists it.
Dims Listed(std::span<const int64_t> shape, bool channels_last) {
  Dims dims(shape);
  if (!channels_last) return dims;
  for (int i = 1; i + 1 < dims.rank(); ++i) dims[i] = shape[static_cast<size_t>(i) + 1];
  dims[dims.rank() - 1] = shape[1];
  return dims;
}

TensorDesc Describe(int dtype, std::span<const int64_t> shape, bool channels_last) {
  return Contiguous(ToDType(dtype), Listed(shape, channels_last),
                    channels_last ? Layout::kChannelsLast : Layout::kChannelsFirst);
}

Spec MakeSpec(const char* op, std::span<const int64_t> input, std::span<const int64_t> output) {
  Spec spec(op);
  const bool gradient = std::string_view(op).ends_with("Grad");
  const std::span<const int64_t> after = (gradient ? input : output).subspan(2);
  spec.Set("output_size", IntList(after.begin(), after.end()));
  if (gradient) spec.Set("input_size", IntList(output.begin(), output.end()));
  // The rival computes by this rule.
  if (input.size() == 5) spec.SetRule(IndexRule::kTorchCpu);
  return spec;
}

}  // namespace
}  // namespace opscv::bench

using opscv::bench::Job;
using opscv::bench::Tell;

OPSCV_BENCH_API const char* opscv_bench_version() { return opscv::Version(); }

// The SIMD targets of this machine, best first, with spaces between.
OPSCV_BENCH_API const char* opscv_bench_targets() {
  static const std::string names = [] {
    std::string all;
    for (const std::string& name : opscv::SupportedTargets())
      all += (all.empty() ? "" : " ") + name;
    return all;
  }();
  return names.c_str();
}

// A plan for tensors of N,C,spatial shapes that lie densely in memory; `target` pins the SIMD
// target where it is not empty. Null, with a sentence in `error`, where there is none.
OPSCV_BENCH_API void* opscv_bench_plan(const char* op, int dtype, int channels_last, int rank,
                                       const int64_t* input_shape, const int64_t* output_shape,
                                       const char* target, int threads, char* error) {
  namespace bench = opscv::bench;
  const std::span input(input_shape, static_cast<size_t>(rank));
  const std::span output(output_shape, static_cast<size_t>(rank));
  const opscv::Status pinned = opscv::kernels::PinTarget(target);
  if (!pinned.ok()) return Tell(error, pinned.message()), nullptr;
  auto plan = opscv::MakePlan(bench::MakeSpec(op, input, output),
                              bench::Describe(dtype, input, channels_last != 0),
                              bench::Describe(dtype, output, channels_last != 0));
  (void)opscv::kernels::PinTarget("");
  if (!plan) return Tell(error, plan.error().message()), nullptr;
  auto job = std::make_unique<Job>(Job{*std::move(plan), threads, nullptr, ""});
  constexpr size_t kAlign = 64;
  const auto bytes = static_cast<size_t>(job->plan.WorkspaceBytes(threads));
  job->workspace.reset(std::aligned_alloc(kAlign, (bytes / kAlign + 1) * kAlign));
  job->description = job->plan.Describe();
  return job.release();
}

OPSCV_BENCH_API const char* opscv_bench_describe(const void* job) {
  return static_cast<const Job*>(job)->description.c_str();
}

OPSCV_BENCH_API int64_t opscv_bench_workspace(const void* job) {
  const Job& self = *static_cast<const Job*>(job);
  return self.plan.WorkspaceBytes(self.threads);
}

OPSCV_BENCH_API double opscv_bench_run(const void* job, const void* input, void* output,
                                       int64_t repeat) {
  const Job& self = *static_cast<const Job*>(job);
  const opscv::RunOptions options{
      .threads = self.threads, .workspace = self.workspace.get(), .stop = nullptr};
  return opscv::bench::SecondsPerCall(repeat,
                                      [&] { return self.plan.Run(input, output, options).ok(); });
}

OPSCV_BENCH_API void opscv_bench_drop(void* job) { delete static_cast<Job*>(job); }
