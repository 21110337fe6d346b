// SPDX-License-Identifier: Apache-2.0
// What a graph of one node costs beside the direct call, and what finding a plan costs beside
// making one. Direct and Session run the same tensors with the same threads: their difference is
// the price of the graph.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "opscv/graph.h"
#include "opscv/plan.h"
#include "opscv/plan_cache.h"

namespace opscv {
namespace {

void MustBeOk(const Status& status, benchmark::State& state) {
  if (!status.ok()) state.SkipWithError(status.message().c_str());
}

// A gradient from (1,1,n,n) to (1,1,2n,2n).
struct Call {
  explicit Call(int64_t n)
      : spec(Spec("UpsampleBicubic2dAAGrad")
                 .Set("output_size", {n, n})
                 .Set("input_size", {int64_t{1}, int64_t{1}, 2 * n, 2 * n})),
        input(Contiguous(DType::kFloat32, {1, 1, n, n})),
        output(Contiguous(DType::kFloat32, {1, 1, 2 * n, 2 * n})),
        grad_out(static_cast<size_t>(n * n), 1.0f),
        grad_in(static_cast<size_t>(4 * n * n)) {}

  Spec spec;
  TensorDesc input;
  TensorDesc output;
  std::vector<float> grad_out;
  std::vector<float> grad_in;
};

void Direct(benchmark::State& state) {
  Call call(state.range(0));
  const Plan plan = MakePlan(call.spec, call.input, call.output).value();
  for (auto _ : state) MustBeOk(plan.Run(call.grad_out.data(), call.grad_in.data()), state);
}

void OneNodeSession(benchmark::State& state) {
  Call call(state.range(0));
  Graph graph;
  MustBeOk(graph.AddInput("grad"), state);
  MustBeOk(graph.AddNode("back", call.spec, "grad"), state);
  MustBeOk(graph.AddOutput("y", "back"), state);
  const Session session = MakeSession(graph).value();
  for (auto _ : state) {
    MustBeOk(
        session.Run({{call.input, call.grad_out.data()}}, {{call.output, call.grad_in.data()}}),
        state);
  }
}

void FindPlan(benchmark::State& state) {
  const Call call(state.range(0));
  PlanCache cache;
  for (auto _ : state) benchmark::DoNotOptimize(cache.Get(call.spec, call.input, call.output));
}

// As many other plans as the cache keeps lie beside the one that is found.
void FindPlanAmongMany(benchmark::State& state) {
  const Call call(state.range(0));
  PlanCache cache;
  TensorDesc other = call.input;
  for (size_t i = 1; i < cache.capacity(); ++i) {
    other.strides[0] += 1;
    benchmark::DoNotOptimize(cache.Get(call.spec, other, call.output));
  }
  for (auto _ : state) benchmark::DoNotOptimize(cache.Get(call.spec, call.input, call.output));
}

void MakeItAnew(benchmark::State& state) {
  const Call call(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(MakePlan(call.spec, call.input, call.output));
}

BENCHMARK(Direct)->Arg(2)->Arg(64)->Arg(512);
BENCHMARK(OneNodeSession)->Arg(2)->Arg(64)->Arg(512);
BENCHMARK(FindPlan)->Arg(64);
BENCHMARK(FindPlanAmongMany)->Arg(64);
BENCHMARK(MakeItAnew)->Arg(64);

}  // namespace
}  // namespace opscv
