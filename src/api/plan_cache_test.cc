// SPDX-License-Identifier: Apache-2.0
#include "opscv/plan_cache.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

namespace opscv {
namespace {

struct Call {
  Spec spec = Spec("UpsampleNearestExact3dGrad");
  TensorDesc input = Contiguous(DType::kFloat32, {1, 2, 4, 4, 4});
  TensorDesc output = Contiguous(DType::kFloat32, {1, 2, 2, 2, 2});
};

Call Example() {
  Call call;
  call.spec.Set("input_size", {1, 2, 2, 2, 2}).Set("scales", {2.0, 2.0, 2.0});
  return call;
}

Plan Get(PlanCache& cache, const Call& call) {
  Result<Plan> plan = cache.Get(call.spec, call.input, call.output);
  EXPECT_TRUE(plan.has_value()) << plan.error().message();
  return *std::move(plan);
}

// Whether two handles hold one plan.
bool Same(const Plan& a, const Plan& b) { return &a.input() == &b.input(); }

TEST(PlanCache, TheSameCallGetsTheSamePlan) {
  PlanCache cache;
  const Plan first = Get(cache, Example());
  EXPECT_TRUE(Same(first, Get(cache, Example())));
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(cache.hits(), 1);
  EXPECT_EQ(cache.misses(), 1);
}

TEST(PlanCache, TheOrderOfAttributesDoesNotCount) {
  PlanCache cache;
  Call other = Example();
  other.spec = Spec("UpsampleNearestExact3dGrad");
  other.spec.Set("scales", {2.0, 2.0, 2.0}).Set("input_size", {1, 2, 2, 2, 2});
  const Plan first = Get(cache, Example());
  EXPECT_TRUE(Same(first, Get(cache, other)));
}

TEST(PlanCache, EveryPartOfACallCounts) {
  std::vector<Call> calls(7, Example());
  calls[1].spec.SetRule(IndexRule::kTorchCpu);
  calls[2].spec.Set("scales", {0.0, 0.0, 0.0});
  calls[3].spec.Set("output_size", {4, 4, 4});
  calls[4].input.strides[0] += 8;
  calls[5].output.strides[0] += 8;
  for (TensorDesc* tensor : {&calls[6].input, &calls[6].output}) tensor->dtype = DType::kFloat64;
  PlanCache cache;
  std::vector<Plan> plans;
  for (const Call& call : calls) plans.push_back(Get(cache, call));
  EXPECT_EQ(cache.misses(), 7);
  for (size_t i = 0; i < calls.size(); ++i) {
    EXPECT_TRUE(Same(plans[i], Get(cache, calls[i]))) << i;
    EXPECT_EQ(plans[i].output().dtype, calls[i].output.dtype);
  }
}

TEST(PlanCache, APlanFromItComputes) {
  PlanCache cache;
  const Call call = Example();
  (void)Get(cache, call);
  std::vector<float> input(128);
  std::iota(input.begin(), input.end(), 1.0f);
  std::vector<float> direct(16), cached(16);
  const Result<Plan> plan = MakePlan(call.spec, call.input, call.output);
  ASSERT_TRUE(plan.has_value());
  ASSERT_TRUE(plan->Run(input.data(), direct.data()).ok());
  ASSERT_TRUE(Get(cache, call).Run(input.data(), cached.data()).ok());
  EXPECT_EQ(direct, cached);
}

TEST(PlanCache, AnErrorIsAnsweredEachTimeAndNotKept) {
  PlanCache cache;
  Call call = Example();
  call.spec.Set("scales", {3.0, 3.0, 3.0});
  const Result<Plan> direct = MakePlan(call.spec, call.input, call.output);
  for (int i = 0; i < 2; ++i) {
    const Result<Plan> plan = cache.Get(call.spec, call.input, call.output);
    ASSERT_FALSE(plan.has_value());
    EXPECT_EQ(plan.error().message(), direct.error().message());
  }
  EXPECT_EQ(cache.size(), 0U);
}

TEST(PlanCache, KeepsNoMoreThanItsCapacity) {
  PlanCache cache(2);
  std::vector<Call> calls(3, Example());
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i].input.strides[0] += static_cast<int64_t>(8 * i);
  }
  const Plan first = Get(cache, calls[0]);
  (void)Get(cache, calls[1]);
  EXPECT_TRUE(Same(first, Get(cache, calls[0])));  // now calls[1] is the older
  (void)Get(cache, calls[2]);
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_TRUE(Same(first, Get(cache, calls[0])));
  const int64_t misses = cache.misses();
  (void)Get(cache, calls[1]);
  EXPECT_EQ(cache.misses(), misses + 1);
  cache.Clear();
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(first.output().shape, calls[0].output.shape);  // what is in use lives on
}

TEST(PlanCache, ManyThreadsGetOnePlan) {
  PlanCache cache;
  std::vector<Plan> plans(4, Get(cache, Example()));
  cache.Clear();
  std::vector<std::thread> threads;
  for (Plan& plan : plans) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) plan = Get(cache, Example());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Plan& plan : plans) EXPECT_TRUE(Same(plan, plans[0]));
  EXPECT_EQ(cache.size(), 1U);
}

}  // namespace
}  // namespace opscv
