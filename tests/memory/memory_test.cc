// SPDX-License-Identifier: Apache-2.0
// What a run takes beyond its tensors: the workspace, and everything that is allocated meanwhile.
// Not the tables, which belong to the plan. The bound is 4 MiB, or 64 rows of intermediate a thread
// where that is more, and knows nothing of N and C. From the fifth thread on, each may add 1 MiB.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/memory/allocations.h"
#include "tests/support/problem.h"

namespace opscv::testing {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr int64_t kRows = 64;
constexpr int kThreadCounts[] = {1, 2, 4, 16};

// A row of the intermediate is as long as one of the input or of the output, in float or double;
// with a little for what aligns it.
int64_t Bound(const Problem& problem, int threads) {
  const int64_t pixels = std::max(problem.in.back(), problem.out.back());
  const int64_t row = pixels * (problem.dtype == DType::kFloat64 ? 8 : 4) + 64;
  return std::max(4 * kMebibyte, threads * std::max(kMebibyte, kRows * row));
}

Problem Make(std::string_view op, int64_t n, int64_t c, std::vector<int64_t> in,
             std::vector<int64_t> out, DType dtype) {
  Problem problem;
  problem.info = *ops::FindOperator(op);
  problem.dtype = dtype;
  problem.n = n;
  problem.c = c;
  problem.scales.assign(in.size(), 0.0);
  problem.in = std::move(in);
  problem.out = std::move(out);
  return problem;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// The most that a run had allocated at once.
int64_t PeakOfRun(const Plan& plan, const TestTensor& input, TestTensor& output,
                  const RunOptions& options) {
  StartPeak();
  const bool ran = plan.Run(input.data(), output.data(), options).ok();
  const int64_t peak = PeakBytes();
  EXPECT_TRUE(ran);
  return peak;
}

// A run that allocates its own workspace, and one that is given it.
void ExpectBounded(const Problem& problem, Form form) {
  const TestTensor input(problem.dtype, problem.InputShape(), form);
  TestTensor output(problem.dtype, problem.OutputShape(), form);
  const Result<Plan> plan = MakePlan(problem.ToSpec(), input.desc(), output.desc());
  ASSERT_TRUE(plan.has_value()) << plan.error().message();
  for (const int threads : kThreadCounts) {
    SCOPED_TRACE(problem.Text() + " " + std::string(NameOf(form)) + " threads " +
                 std::to_string(threads));
    const int64_t workspace_bytes = plan->WorkspaceBytes(threads);
    const int64_t peak = PeakOfRun(*plan, input, output, {.threads = threads});
    EXPECT_GE(peak, workspace_bytes) << "the counter has missed the workspace";
    EXPECT_LE(peak, Bound(problem, threads));

    const std::unique_ptr<void, Free> workspace(
        std::aligned_alloc(64, static_cast<size_t>(workspace_bytes / 64 + 1) * 64));
    const int64_t beside =
        PeakOfRun(*plan, input, output, {.threads = threads, .workspace = workspace.get()});
    EXPECT_LE(workspace_bytes + beside, Bound(problem, threads));
  }
}

constexpr DType kFloating[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64};

TEST(Memory, TheCounterSeesEveryKindOfAllocation) {
  StartPeak();
  auto array = std::make_unique<char[]>(1 << 20);
  EXPECT_GE(PeakBytes(), 1 << 20);
  array.reset();
  const std::unique_ptr<void, Free> zeros(std::calloc(3, 1 << 20));
  EXPECT_GE(PeakBytes(), 3 << 20);
  EXPECT_LE(PeakBytes(), (3 << 20) + (1 << 16)) << "what was freed before counts no more";
  const std::unique_ptr<void, Free> aligned(std::aligned_alloc(64, 1 << 20));
  EXPECT_GE(PeakBytes(), 4 << 20);
}

// 2048 planes: an intermediate of its full size would be 8 MiB and more.
TEST(Memory, ManyPlanes) {
  for (const Form form : {Form::kContiguous, Form::kChannelsLast}) {
    for (const DType dtype : kFloating) {
      for (const char* op : {"UpsampleBicubic2dAA", "UpsampleBicubic2dAAGrad"}) {
        ExpectBounded(Make(op, 2, 1024, {24, 36}, {36, 24}, dtype), form);
      }
      for (const char* op : {"UpsampleNearestExact3d", "UpsampleNearestExact3dGrad"}) {
        ExpectBounded(Make(op, 2, 1024, {6, 4, 16}, {4, 9, 24}, dtype), form);
      }
    }
  }
}

// One plane whose intermediate would be 8 MiB and more in either order of the passes.
TEST(Memory, OnePlane) {
  for (const DType dtype : kFloating) {
    for (const char* op : {"UpsampleBicubic2dAA", "UpsampleBicubic2dAAGrad"}) {
      ExpectBounded(Make(op, 1, 1, {2000, 1100}, {1500, 1400}, dtype), Form::kContiguous);
      ExpectBounded(Make(op, 1, 1, {1100, 2000}, {1400, 1500}, dtype), Form::kContiguous);
    }
    for (const char* op : {"UpsampleNearestExact3d", "UpsampleNearestExact3dGrad"}) {
      ExpectBounded(Make(op, 1, 1, {40, 200, 300}, {50, 100, 450}, dtype), Form::kContiguous);
    }
  }
}

// Filters of up to 4000 taps, whose rows cannot all be kept.
TEST(Memory, LongFilters) {
  for (const DType dtype : kFloating) {
    for (const char* op : {"UpsampleBicubic2dAA", "UpsampleBicubic2dAAGrad"}) {
      ExpectBounded(Make(op, 1, 2, {1000, 1000}, {1, 3}, dtype), Form::kContiguous);
      ExpectBounded(Make(op, 1, 2, {8000, 30}, {50, 500}, dtype), Form::kContiguous);
      ExpectBounded(Make(op, 1, 2, {30, 100000}, {40, 1000}, dtype), Form::kContiguous);
      ExpectBounded(Make(op, 1, 2, {16, 100000}, {16, 70000}, dtype), Form::kContiguous);
      ExpectBounded(Make(op, 1, 70, {16, 3000}, {50, 60}, dtype), Form::kChannelsLast);
    }
  }
}

TEST(Memory, RandomShapes) {
  SCOPED_TRACE(SeedTrace());
  Random random(61);
  for (int i = 0; i < 20; ++i) {
    for (const ops::OpInfo* info : AllOperators()) {
      const int64_t extent = random.Of<int64_t>({8, 30, info->rank == 4 ? 300 : 60});
      const Problem problem = RandomProblem(*info, extent, random);
      ExpectBounded(problem, random.Of({Form::kContiguous, Form::kChannelsLast, Form::kStrided}));
    }
  }
}

int64_t WorkspaceOf(const Problem& problem, Layout layout) {
  const auto describe = [&](std::vector<int64_t> shape) {
    if (layout == Layout::kChannelsLast) {
      std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
    }
    return Contiguous(problem.dtype, Dims(shape), layout);
  };
  const Result<Plan> plan =
      MakePlan(problem.ToSpec(), describe(problem.InputShape()), describe(problem.OutputShape()));
  EXPECT_TRUE(plan.has_value()) << problem.Text();
  return plan ? plan->WorkspaceBytes(2) : -1;
}

// Nothing is run: the largest of these tensors have hundreds of gigabytes.
TEST(Memory, TheWorkspaceKnowsNothingOfNAndC) {
  for (const ops::OpInfo* info : AllOperators()) {
    const bool image = info->rank == 4;
    using Extents = std::vector<int64_t>;
    const Extents in = image ? Extents{40, 60} : Extents{8, 20, 60};
    const Extents out = image ? Extents{60, 50} : Extents{9, 30, 50};
    for (const Layout layout : {Layout::kChannelsFirst, Layout::kChannelsLast}) {
      const auto workspace = [&](int64_t n, int64_t c) {
        return WorkspaceOf(Make(info->name, n, c, in, out, DType::kFloat32), layout);
      };
      const int64_t few = workspace(2, 1024);
      EXPECT_EQ(workspace(2000, 1024), few) << info->name;
      EXPECT_EQ(workspace(2, 1024 * 1024), few) << info->name;
    }
  }
}

}  // namespace
}  // namespace opscv::testing
