// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "base/test_guard.h"
#include "plan/test_plans.h"
#include "reference/bound.h"
#include "reference/reference.h"

namespace {

// Counts what this program asks operator new for: a run must ask for nothing.
std::atomic<int64_t> allocations = 0;

void* Allocate(size_t bytes, size_t alignment) {
  ++allocations;
  const size_t rounded = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return Allocate(bytes, alignof(std::max_align_t)); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace opscv::plan {
namespace {

using opscv::testing::Flush;
using opscv::testing::GuardedArena;
using opscv::testing::kBothFlush;
using testing::Count;
using testing::MakeSpec;
using testing::MustPlan;
using testing::RandomData;
using testing::RandomSpec;
using testing::Say;
using testing::Sizes;
using testing::TracedRandom;

constexpr size_t kAlign = 64;

std::vector<char> OutputOf(const ResampleSpec& spec) {
  return std::vector<char>(static_cast<size_t>(Count(spec.output.shape) * SizeOf(spec.dtype)),
                           '\x5A');
}

// Dense tensors: the first byte belongs to the element at coordinates 0.
RunRequest WholeRun(const Plan& plan, const std::vector<char>& input, std::vector<char>& output,
                    void* workspace, int threads) {
  return {.box = plan.OutputBox(),
          .buffers = {.input = input.data(),
                      .input_origin = {},
                      .output = output.data(),
                      .output_origin = {}},
          .workspace = workspace,
          .threads = threads};
}

std::vector<char> RunWith(const Plan& plan, const std::vector<char>& input, int threads) {
  std::vector<char> output = OutputOf(plan.spec());
  GuardedArena workspace(static_cast<size_t>(plan.WorkspaceBytes(threads)));
  const std::span<char> scratch =
      workspace.Take(static_cast<size_t>(plan.WorkspaceBytes(threads)), Flush::kEnd);
  EXPECT_TRUE(plan.Run(WholeRun(plan, input, output, scratch.data(), threads)));
  return output;
}

reference::Answer ReferenceOf(const ResampleSpec& spec, const std::vector<double>& x) {
  const auto& axes = spec.axes;
  const int64_t batch = spec.input.shape[kN] * spec.input.shape[kC];
  const bool forward = spec.direction == Direction::kForward;
  if (spec.method == Method::kTaps) {
    const reference::Bicubic2dAAProblem problem{.batch = batch,
                                                .in_h = axes[1].in,
                                                .in_w = axes[2].in,
                                                .out_h = axes[1].out,
                                                .out_w = axes[2].out};
    return forward ? reference::UpsampleBicubic2dAA(problem, x)
                   : reference::UpsampleBicubic2dAAGrad(problem, x);
  }
  const reference::NearestExact3dProblem problem{.batch = batch,
                                                 .in = {axes[0].in, axes[1].in, axes[2].in},
                                                 .out = {axes[0].out, axes[1].out, axes[2].out}};
  return forward ? reference::UpsampleNearestExact3d(problem, x)
                 : reference::UpsampleNearestExact3dGrad(problem, x);
}

TEST(Plan, KeepsTheAccuracyItPromises) {
  TracedRandom random;
  for (int i = 0; i < 300; ++i) {
    const ResampleSpec spec = RandomSpec(random, 70);
    SCOPED_TRACE(Say(spec));
    const std::shared_ptr<const Plan> plan = MustPlan(spec);
    const std::vector<char> input = RandomData(random, spec.dtype, Count(spec.input.shape));
    const std::vector<double> actual =
        testing::ValuesOf(spec.dtype, spec.output, RunWith(*plan, input, 2));
    const reference::Answer answer =
        ReferenceOf(spec, testing::ValuesOf(spec.dtype, spec.input, input));
    for (size_t e = 0; e < actual.size(); ++e) {
      ASSERT_LE(
          reference::ErrorFraction(spec.dtype, actual[e], answer.value[e], answer.magnitude[e],
                                   answer.TapsOf(static_cast<int64_t>(e))),
          1.0)
          << "element " << e << ": " << actual[e] << ", reference " << answer.value[e] << "\n"
          << plan->Describe();
    }
  }
}

TEST(Plan, AnyNumberOfThreadsGivesTheSameBits) {
  TracedRandom random;
  for (int i = 0; i < 25; ++i) {
    const ResampleSpec spec = RandomSpec(random, 400);
    SCOPED_TRACE(Say(spec));
    const std::shared_ptr<const Plan> plan = MustPlan(spec);
    const std::vector<char> input = RandomData(random, spec.dtype, Count(spec.input.shape));
    const std::vector<char> expected = RunWith(*plan, input, 1);
    for (const int threads : {2, 3, 8}) {
      ASSERT_TRUE(RunWith(*plan, input, threads) == expected) << threads << " threads";
    }
  }
}

// Runs between guard pages, full of a value that would show: what a run reads of it, it wrote
// before.
void ExpectItsWorkspaceSuffices(TracedRandom& random, const ResampleSpec& spec) {
  SCOPED_TRACE(Say(spec));
  const std::shared_ptr<const Plan> plan = MustPlan(spec);
  const std::vector<char> input = RandomData(random, spec.dtype, Count(spec.input.shape));
  std::vector<char> expected;
  for (const int threads : {1, 2, 5}) {
    const auto bytes = static_cast<size_t>(plan->WorkspaceBytes(threads));
    ASSERT_EQ(bytes % kAlign, 0u);
    GuardedArena arena(bytes);
    for (const Flush flush : kBothFlush) {
      const std::span<char> workspace = arena.Take(bytes, flush);
      std::fill(workspace.begin(), workspace.end(), '\xFF');
      std::vector<char> output = OutputOf(spec);
      ASSERT_TRUE(plan->Run(WholeRun(*plan, input, output, workspace.data(), threads)));
      if (expected.empty()) expected = output;
      ASSERT_TRUE(output == expected) << threads << " threads";
    }
  }
}

TEST(Plan, NeedsTheWorkspaceItSaysAndNoMore) {
  TracedRandom random;
  for (int i = 0; i < 150; ++i) {
    ExpectItsWorkspaceSuffices(random, RandomSpec(random, i < 120 ? 60 : 300));
    if (HasFatalFailure()) return;
  }
}

// More channels side by side than a block takes at once, of sums short and long.
TEST(Plan, NeedsTheWorkspaceItSaysForManyChannels) {
  TracedRandom random;
  for (int i = 0; i < 40; ++i) {
    const Method method = random.OneIn(2) ? Method::kTaps : Method::kNearest;
    const Direction direction = random.OneIn(2) ? Direction::kForward : Direction::kBackward;
    Sizes sizes{.c = random.Int(60, 1500),
                .in = {1, random.Int(20, 50), random.Int(1, 60)},
                .out = {1, random.Int(20, 50), random.Int(1, 6)}};
    if (direction == Direction::kBackward) std::swap(sizes.in, sizes.out);
    ExpectItsWorkspaceSuffices(
        random, MakeSpec(method, direction, random.Of(testing::kDTypes), sizes, true));
    if (HasFatalFailure()) return;
  }
}

TEST(Plan, RunsOnOneThreadWithoutAllocating) {
  TracedRandom random;
  for (int i = 0; i < 60; ++i) {
    const ResampleSpec spec = RandomSpec(random, 100);
    SCOPED_TRACE(Say(spec));
    const std::shared_ptr<const Plan> plan = MustPlan(spec);
    const std::vector<char> input = RandomData(random, spec.dtype, Count(spec.input.shape));
    std::vector<char> output = OutputOf(spec);
    GuardedArena arena(static_cast<size_t>(plan->WorkspaceBytes(1)));
    const RunRequest request =
        WholeRun(*plan, input, output, arena.Take(0, Flush::kStart).data(), 1);
    const int64_t before = allocations;
    const bool complete = plan->Run(request);
    EXPECT_EQ(allocations - before, 0);
    EXPECT_TRUE(complete);
  }
}

// At most 4 MiB a thread, or 64 rows of the intermediate where that is more.
void ExpectBoundedScratch(const ResampleSpec& spec) {
  SCOPED_TRACE(Say(spec));
  const std::shared_ptr<const Plan> plan = MustPlan(spec);
  const int64_t channels = HasChannelGroups(spec) ? spec.input.shape[kC] : 1;
  const int64_t real = spec.dtype == DType::kFloat64 ? 8 : 4;
  // Rows of the intermediate are the input's before the pass along W, the output's after it.
  const int64_t pixels = std::max(spec.input.shape[kW], spec.output.shape[kW]);
  const int64_t bound = std::max(int64_t{4} << 20, 64 * pixels * channels * real);
  EXPECT_LE(plan->WorkspaceBytes(1), bound) << plan->Describe();
  EXPECT_LE(plan->WorkspaceBytes(2), 2 * bound);
}

TEST(Plan, ScratchIsBoundedOnExtremeShapes) {
  using Extents = std::array<int64_t, kSpatial>;
  constexpr std::pair<Extents, Extents> kShapes[] = {
      {{1, 1 << 16, 16}, {1, 16, 1 << 16}}, {{1, 16, 1 << 16}, {1, 1 << 16, 16}},
      {{1, 1 << 18, 4}, {1, 3, 4}},         {{1, 4, 1 << 18}, {1, 5, 3}},
      {{1, 3, 1 << 20}, {1, 4, 1 << 14}},   {{1, 2, 3}, {1, 1 << 16, 5}},
      {{1, 500, 4000}, {1, 8000, 4100}},    {{1, 8000, 4100}, {1, 500, 4000}},
      {{1, 340, 340}, {1, 20, 20}},         {{1, 20, 5000}, {1, 320, 5100}},
      {{1, 1000, 1000}, {1, 61, 1000}},     {{1, 1000, 100000}, {1, 999, 100100}}};
  for (const auto& [in, out] : kShapes) {
    for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
      for (const DType dtype : {DType::kFloat16, DType::kFloat64}) {
        for (const int64_t channels : {1, 3, 2048}) {  // side by side where there is more than one
          const Sizes sizes{.n = 1000, .c = channels, .in = in, .out = out};
          ExpectBoundedScratch(MakeSpec(Method::kTaps, direction, dtype, sizes, channels > 1));
        }
      }
    }
  }
}

TEST(Plan, ScratchIsBoundedOnExtremeVolumes) {
  using Extents = std::array<int64_t, kSpatial>;
  constexpr std::pair<Extents, Extents> kShapes[] = {{{4, 4, 4}, {1000, 1000, 1 << 18}},
                                                     {{1, 1, 1}, {1 << 16, 3, 1 << 16}},
                                                     {{1 << 16, 3, 1 << 16}, {4, 4, 4}},
                                                     {{100, 100, 5000}, {200, 200, 10000}}};
  for (const auto& [in, out] : kShapes) {
    for (const DType dtype : {DType::kFloat16, DType::kFloat64}) {
      for (const bool channels_last : {false, true}) {
        const Sizes sizes{.n = 10, .c = 64, .in = in, .out = out};
        ExpectBoundedScratch(
            MakeSpec(Method::kNearest, Direction::kBackward, dtype, sizes, channels_last));
      }
    }
  }
}

// Scratch is a matter of sizes per plane.
// But for copies, which need a stage for large outputs and nothing else.
TEST(Plan, ScratchDoesNotGrowWithTheBatch) {
  TracedRandom random;
  for (int i = 0; i < 40; ++i) {
    const Method method = random.OneIn(2) ? Method::kTaps : Method::kNearest;
    Sizes sizes = testing::RandomSizes(random, method, 60);
    const auto plan = [&] {
      return MustPlan(MakeSpec(method, Direction::kBackward, DType::kFloat32, sizes, false));
    };
    sizes.n = sizes.c = 1;
    const int64_t one = plan()->WorkspaceBytes(1);
    sizes.n = 1000;
    sizes.c = 50;
    const auto many = plan();
    if (many->Passes().empty()) {
      EXPECT_LE(many->WorkspaceBytes(1), 33 * 1024);
    } else {
      EXPECT_EQ(many->WorkspaceBytes(1), one);
    }
  }
}

// Twice the planes take twice as long, and threads that help share the time.
TEST(Plan, TheEstimateGrowsWithTheWork) {
  TracedRandom random;
  for (int i = 0; i < 40; ++i) {
    const Method method = random.OneIn(2) ? Method::kTaps : Method::kNearest;
    const Direction direction = random.OneIn(2) ? Direction::kForward : Direction::kBackward;
    Sizes sizes = testing::RandomSizes(random, method, 60);
    const bool channels_last = random.OneIn(2);
    const auto plan = [&] {
      return MustPlan(MakeSpec(method, direction, DType::kFloat32, sizes, channels_last));
    };
    sizes.n = 64;
    const double once = plan()->EstimatedSeconds(1);
    EXPECT_GT(once, 0.0);
    sizes.n = 128;
    const auto twice = plan();
    const double threads = twice->UsefulThreads(2);
    EXPECT_DOUBLE_EQ(twice->EstimatedSeconds(1), 2 * once);
    EXPECT_DOUBLE_EQ(twice->EstimatedSeconds(2), twice->EstimatedSeconds(1) / threads);
  }
}

TEST(Plan, UsefulThreadsAreAtMostThoseGivenAndTheBlocks) {
  TracedRandom random;
  for (int i = 0; i < 50; ++i) {
    const std::shared_ptr<const Plan> plan = MustPlan(RandomSpec(random, 200));
    EXPECT_EQ(plan->UsefulThreads(1), 1);
    int last = 1;
    for (const int threads : {2, 3, 8, 1000}) {
      const int useful = plan->UsefulThreads(threads);
      EXPECT_LE(useful, threads);
      EXPECT_GE(useful, last);
      last = useful;
      EXPECT_EQ(plan->WorkspaceBytes(threads), useful * plan->WorkspaceBytes(1));
    }
  }
  const Sizes tiny{.in = {1, 4, 4}, .out = {1, 8, 8}};
  EXPECT_EQ(MustPlan(MakeSpec(Method::kTaps, Direction::kForward, DType::kFloat32, tiny, false))
                ->UsefulThreads(64),
            1);
}

TEST(Plan, AStoppedRunSaysSoAndWritesNothing) {
  TracedRandom random;
  for (int i = 0; i < 20; ++i) {
    const ResampleSpec spec = RandomSpec(random, 200);
    SCOPED_TRACE(Say(spec));
    const std::shared_ptr<const Plan> plan = MustPlan(spec);
    const std::vector<char> input = RandomData(random, spec.dtype, Count(spec.input.shape));
    std::vector<char> output = OutputOf(spec);
    GuardedArena arena(static_cast<size_t>(plan->WorkspaceBytes(2)));
    const std::atomic<bool> stop = true;
    RunRequest request = WholeRun(*plan, input, output, arena.Take(0, Flush::kStart).data(), 2);
    request.stop = &stop;
    EXPECT_FALSE(plan->Run(request));
    EXPECT_TRUE(output == OutputOf(spec));
  }
}

TEST(Plan, AnEmptyOutputIsNothingToDo) {
  for (const Method method : {Method::kTaps, Method::kNearest}) {
    for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
      const Sizes sizes{.n = 0, .c = 3, .in = {1, 4, 4}, .out = {1, 6, 7}};
      const auto plan = MustPlan(MakeSpec(method, direction, DType::kFloat32, sizes, false));
      EXPECT_EQ(plan->WorkspaceBytes(8), 0);
      EXPECT_TRUE(plan->Run({.box = plan->OutputBox(), .buffers = {}}));
      const Box5 input = plan->InputBox(plan->OutputBox());
      EXPECT_TRUE(input.Empty());
    }
  }
}

// Without a resampling axis every bit arrives, NaN payloads included, for any size of element.
TEST(Plan, AnIdentityCopiesBits) {
  TracedRandom random;
  for (const Method method : {Method::kTaps, Method::kNearest}) {
    for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
      for (const DType dtype : testing::kDTypes) {
        const Sizes sizes{.n = 2, .c = 3, .in = {1, 17, 33}, .out = {1, 17, 33}};
        ResampleSpec spec = MakeSpec(method, direction, dtype, sizes, false);
        if (random.OneIn(2)) spec.axes[1].multiplier = 1.0;
        std::vector<char> input(OutputOf(spec).size());
        for (char& byte : input) byte = static_cast<char>(random.Bits());
        EXPECT_TRUE(RunWith(*MustPlan(spec), input, 1) == input) << Say(spec);
      }
    }
  }
}

// Bytes outside the input box are NaN in the box's run; were one read, bits would differ.
TEST(Plan, ABoxReadsItsInputBoxAndWritesItself) {
  TracedRandom random;
  for (int i = 0; i < 300; ++i) {
    const ResampleSpec spec = RandomSpec(random, 50);
    SCOPED_TRACE(Say(spec));
    const std::shared_ptr<const Plan> plan = MustPlan(spec);
    const std::vector<char> input = RandomData(random, spec.dtype, Count(spec.input.shape));
    const std::vector<char> whole = RunWith(*plan, input, 1);
    Box5 box;
    for (size_t dim = 0; dim < kRank; ++dim) {
      box.begin[dim] = random.Int(0, spec.output.shape[dim] - 1);
      box.end[dim] = random.Int(box.begin[dim] + 1, spec.output.shape[dim]);
    }
    const auto copy_box = [&](const Tensor5& tensor, const Box5& part,
                              const std::vector<char>& from, std::vector<char>& to) {
      testing::ForEach(part, [&](const Coords& at) {
        const char* source = AddressOf(from.data(), Coords{}, tensor, at);
        std::memcpy(to.data() + (source - from.data()), source,
                    static_cast<size_t>(SizeOf(spec.dtype)));
      });
    };
    std::vector<char> needed(input.size(), '\xFF');
    copy_box(spec.input, plan->InputBox(box), input, needed);
    std::vector<char> expected = OutputOf(spec);
    copy_box(spec.output, box, whole, expected);
    std::vector<char> output = OutputOf(spec);
    GuardedArena arena(static_cast<size_t>(plan->WorkspaceBytes(1)));
    RunRequest request = WholeRun(*plan, needed, output, arena.Take(0, Flush::kStart).data(), 1);
    request.box = box;
    ASSERT_TRUE(plan->Run(request));
    ASSERT_TRUE(output == expected);
  }
}

TEST(Plan, InputBoxOfAnEmptyBoxIsEmpty) {
  const Sizes sizes{.in = {1, 10, 10}, .out = {1, 20, 20}};
  const auto plan =
      MustPlan(MakeSpec(Method::kTaps, Direction::kForward, DType::kFloat32, sizes, false));
  EXPECT_TRUE(plan->InputBox({.begin = {0, 0, 0, 5, 5}, .end = {1, 1, 1, 5, 9}}).Empty());
}

// Distances within a row of taps are 32-bit numbers: longer windows are refused, not cut.
// Before it asks the system for them, which would end a process, this one or another, later on.
TEST(Plan, RefusesTablesBeyondTheMemory) {
  const testing::Sizes sizes{.in = {1, int64_t{1} << 40, 5}, .out = {1, 1 << 20, 5}};
  const auto plan =
      MakePlan(MakeSpec(Method::kTaps, Direction::kBackward, DType::kFloat32, sizes, false));
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().code(), StatusCode::kOutOfMemory);
  EXPECT_NE(plan.error().message().find("tables do not fit in memory"), std::string::npos)
      << plan.error().message();
}

TEST(Plan, RefusesWindowsBeyondTables) {
  const int64_t long_axis = int64_t{1} << 33;
  const Sizes sizes{.in = {1, 1, long_axis}, .out = {1, 1, 2}};
  const auto plan =
      MakePlan(MakeSpec(Method::kTaps, Direction::kForward, DType::kFloat32, sizes, false));
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(plan.error().message().find("axis W"), std::string::npos) << plan.error().message();
}

}  // namespace
}  // namespace opscv::plan
