// SPDX-License-Identifier: Apache-2.0
// The bits of a result are a function of sizes, scales, dtype and data alone: not of threads,
// boxes, memory or SIMD target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <optional>

#include "tests/support/problem.h"
#include "tests/support/targets.h"

namespace opscv::testing {
namespace {

class Bits : public ::testing::TestWithParam<const ops::OpInfo*> {
 protected:
  void SetUp() override { trace_.emplace(__FILE__, __LINE__, SeedTrace()); }
  void TearDown() override { ASSERT_TRUE(kernels::PinTarget("").ok()); }

 private:
  std::optional<::testing::ScopedTrace> trace_;
};

INSTANTIATE_TEST_SUITE_P(Operators, Bits, ::testing::ValuesIn(AllOperators()),
                         [](const auto& info) { return std::string(info.param->name); });

Plan MustPlan(const Problem& problem, const TestTensor& input, const TestTensor& output) {
  Result<Plan> plan = MakePlan(problem.ToSpec(), input.desc(), output.desc());
  EXPECT_TRUE(plan.has_value()) << plan.error().message();
  return *std::move(plan);
}

// The result's bits with that many threads.
std::vector<uint64_t> RunWhole(const Problem& problem, const TestTensor& input, Form out_form,
                               int threads) {
  TestTensor output(problem.dtype, problem.OutputShape(), out_form);
  RunOptions options;
  options.threads = threads;
  const Status status = MustPlan(problem, input, output).Run(input.data(), output.data(), options);
  EXPECT_TRUE(status.ok()) << status.message();
  return output.Bits();
}

TestTensor RandomInput(const Problem& problem, Form form, Random& random) {
  TestTensor input(problem.dtype, problem.InputShape(), form);
  input.Fill(RandomValues(problem.dtype, input.size(), random));
  return input;
}

TEST_P(Bits, AnyNumberOfThreads) {
  Random random(11);
  for (int i = 0; i < 12 && !HasFailure(); ++i) {
    const Problem problem = RandomProblem(*GetParam(), GetParam()->rank == 4 ? 300 : 50, random);
    SCOPED_TRACE(problem.Text());
    const TestTensor input = RandomInput(problem, Form::kContiguous, random);
    const std::vector<uint64_t> one = RunWhole(problem, input, Form::kContiguous, 1);
    for (const int threads : {2, 5}) {
      ASSERT_EQ(one, RunWhole(problem, input, Form::kContiguous, threads)) << threads << " threads";
    }
  }
}

TEST_P(Bits, AnyFormOfMemory) {
  Random random(12);
  for (int i = 0; i < 40 && !HasFailure(); ++i) {
    const Problem problem = RandomProblem(*GetParam(), GetParam()->rank == 4 ? 50 : 16, random);
    SCOPED_TRACE(problem.Text());
    TestTensor input = RandomInput(problem, Form::kContiguous, random);
    const std::vector<uint64_t> expected = RunWhole(problem, input, Form::kContiguous, 1);
    for (int f = 1; f < static_cast<int>(Form::kExpanded); ++f) {
      const auto form = static_cast<Form>(f);
      const Form other = form == Form::kChannelsLast ? form : random.Of({Form::kContiguous, form});
      TestTensor copy(problem.dtype, problem.InputShape(), form);
      copy.FillBits(input.Bits());
      ASSERT_EQ(expected, RunWhole(problem, copy, other, 1))
          << NameOf(form) << " -> " << NameOf(other);
    }
  }
}

// More channels side by side than a block takes as one group.
TEST_P(Bits, AnyNumberOfChannels) {
  Random random(17);
  for (int i = 0; i < 8 && !HasFailure(); ++i) {
    Problem problem = RandomProblem(*GetParam(), 4, random);
    problem.n = 1;
    problem.c = i < 4 ? random.Int(1000, 2600) : random.Int(60, 600);
    if (i >= 4) {  // sums of many pixels
      std::fill(problem.scales.begin(), problem.scales.end(), 0.0);
      problem.rule = IndexRule::kAscend;
      (problem.backward() ? problem.out : problem.in).back() = random.Int(10, 60);
    }
    SCOPED_TRACE(problem.Text());
    const TestTensor input = RandomInput(problem, Form::kContiguous, random);
    TestTensor last(problem.dtype, problem.InputShape(), Form::kChannelsLast);
    last.FillBits(input.Bits());
    ASSERT_EQ(RunWhole(problem, input, Form::kContiguous, 1),
              RunWhole(problem, last, Form::kChannelsLast, 2));
  }
}

// The whole of a shape, cut `cuts` times: one box in two along one dimension.
std::vector<Box> RandomBoxes(const Dims& shape, int cuts, Random& random) {
  std::vector<Box> boxes = {{.begin = Dims::Filled(shape.rank(), 0), .end = shape}};
  for (int cut = 0; cut < cuts; ++cut) {
    const auto which = static_cast<size_t>(random.Int(0, static_cast<int64_t>(boxes.size()) - 1));
    const int dim = static_cast<int>(random.Int(0, shape.rank() - 1));
    Box& box = boxes[which];
    const int64_t at = random.Int(box.begin[dim], box.end[dim]);
    Box second = box;
    box.end[dim] = second.begin[dim] = at;
    boxes.push_back(second);
  }
  return boxes;
}

// The element of a tensor's memory at `at`.
int64_t OffsetOf(const TensorDesc& tensor, const Dims& at) {
  int64_t offset = 0;
  for (int dim = 0; dim < at.rank(); ++dim) offset += at[dim] * tensor.strides[dim];
  return offset * SizeOf(tensor.dtype);
}

// Copies a box of elements from one tensor to another one like it.
void CopyBox(const Box& box, const TestTensor& from, TestTensor& to) {
  Dims at = box.begin;
  for (int dim = 0; dim < at.rank(); ++dim) {
    if (box.begin[dim] >= box.end[dim]) return;
  }
  for (int dim = 0; dim >= 0;) {
    const int64_t offset = OffsetOf(from.desc(), at);
    std::memcpy(static_cast<char*>(to.data()) + offset,
                static_cast<const char*>(from.data()) + offset,
                static_cast<size_t>(SizeOf(from.desc().dtype)));
    dim = at.rank() - 1;
    while (dim >= 0 && ++at[dim] == box.end[dim]) {
      at[dim] = box.begin[dim];
      --dim;
    }
  }
}

// Computes a box from the part of the input that the plan says it needs, with NaN for everything
// else: were it read, the result would show it.
void RunBoxFromItsPart(const Problem& problem, Form form, const Plan& plan, const Box& box,
                       const TestTensor& input, TestTensor& output) {
  const Box needed = plan.InputBox(box);
  TestTensor part(problem.dtype, problem.InputShape(), form);
  part.Fill(std::vector<double>(static_cast<size_t>(part.size()), std::nan("")));
  CopyBox(needed, input, part);
  const Status status = plan.RunBox(
      box, static_cast<char*>(part.data()) + OffsetOf(input.desc(), needed.begin), needed.begin,
      static_cast<char*>(output.data()) + OffsetOf(output.desc(), box.begin));
  ASSERT_TRUE(status.ok()) << status.message();
}

// The result of cutting the output into boxes at random and computing each from the part of the
// input that the plan says it needs, moved elsewhere so that nothing else can be read.
TEST_P(Bits, AnySplitIntoBoxes) {
  Random random(13);
  for (int i = 0; i < 40 && !HasFailure(); ++i) {
    const Problem problem = RandomProblem(*GetParam(), GetParam()->rank == 4 ? 60 : 14, random);
    const Form form = random.Of({Form::kContiguous, Form::kChannelsLast, Form::kNegative,
                                 Form::kChannelsLastView, Form::kStrided});
    SCOPED_TRACE(problem.Text() + " " + std::string(NameOf(form)));
    const TestTensor input = RandomInput(problem, form, random);
    const std::vector<uint64_t> expected = RunWhole(problem, input, form, 1);
    TestTensor output(problem.dtype, problem.OutputShape(), form);
    const Plan plan = MustPlan(problem, input, output);
    for (const Box& box : RandomBoxes(output.desc().shape, 5, random)) {
      RunBoxFromItsPart(problem, form, plan, box, input, output);
    }
    ASSERT_EQ(expected, output.Bits());
    ASSERT_TRUE(output.GapsUntouched());
  }
}

// An output of more than 16 MiB, which is stored past the caches, of rows that are no whole cache
// lines; few or many channels.
Problem LargeProblem(const ops::OpInfo& info, Random& random) {
  Problem problem = RandomProblem(info, info.rank == 4 ? 150 : 40, random);
  problem.dtype = random.Of({DType::kFloat64, DType::kFloat32});
  problem.rule = IndexRule::kAscend;
  std::fill(problem.scales.begin(), problem.scales.end(), 0.0);
  std::vector<int64_t>& large = problem.backward() ? problem.in : problem.out;
  large = info.rank == 4 ? std::vector<int64_t>{139, 133} : std::vector<int64_t>{5, 29, 131};
  problem.n = problem.dtype == DType::kFloat64 ? 40 : 80;
  problem.c = 3;
  if (random.Chance(0.5)) std::swap(problem.n, problem.c);
  return problem;
}

// Whole or in boxes, with or without gaps between rows, channels apart or side by side.
TEST_P(Bits, LargeOutputs) {
  Random random(18);
  const Problem problem = LargeProblem(*GetParam(), random);
  SCOPED_TRACE(problem.Text());
  const TestTensor input = RandomInput(problem, Form::kContiguous, random);
  const std::vector<uint64_t> expected = RunWhole(problem, input, Form::kContiguous, 1);
  const Form other = random.Of({Form::kPadded, Form::kReversedSpace, Form::kChannelsLastView});
  ASSERT_EQ(expected, RunWhole(problem, input, other, 5)) << NameOf(other);
  ASSERT_EQ(expected, RunWhole(problem, input, Form::kContiguous, 2));
  for (const Form form : {Form::kContiguous, Form::kChannelsLast}) {
    SCOPED_TRACE(NameOf(form));
    TestTensor copy(problem.dtype, problem.InputShape(), form);
    copy.FillBits(input.Bits());
    if (form == Form::kChannelsLast) {
      for (const int threads : {1, 5}) {
        ASSERT_EQ(expected, RunWhole(problem, copy, form, threads)) << threads << " threads";
      }
    }
    TestTensor output(problem.dtype, problem.OutputShape(), form);
    const Plan plan = MustPlan(problem, copy, output);
    for (const Box& box : RandomBoxes(output.desc().shape, 4, random)) {
      RunBoxFromItsPart(problem, form, plan, box, copy, output);
    }
    ASSERT_EQ(expected, output.Bits());
    ASSERT_TRUE(output.GapsUntouched());
  }
}

// Some channels of pixels whose channels lie side by side, of a large output: the others are not
// touched.
TEST_P(Bits, ChannelsOfLargeOutputs) {
  Random random(19);
  const Problem problem = LargeProblem(*GetParam(), random);
  SCOPED_TRACE(problem.Text());
  const TestTensor input = RandomInput(problem, Form::kChannelsLast, random);
  TestTensor whole(problem.dtype, problem.OutputShape(), Form::kChannelsLast);
  const Plan plan = MustPlan(problem, input, whole);
  ASSERT_TRUE(plan.Run(input.data(), whole.data()).ok());
  TestTensor expected(problem.dtype, problem.OutputShape(), Form::kChannelsLast);
  TestTensor output(problem.dtype, problem.OutputShape(), Form::kChannelsLast);
  Box box = {.begin = Dims::Filled(whole.desc().shape.rank(), 0), .end = whole.desc().shape};
  const int channels = box.end.rank() - 1;
  box.begin[channels] = random.Int(0, problem.c - 1);
  box.end[channels] = box.begin[channels] + random.Int(1, problem.c - box.begin[channels]);
  CopyBox(box, whole, expected);
  RunBoxFromItsPart(problem, Form::kChannelsLast, plan, box, input, output);
  ASSERT_EQ(expected.Bits(), output.Bits())
      << "channels " << box.begin[channels] << " to " << box.end[channels];
}

TEST_P(Bits, EveryTargetWithFusedMultiplyAdd) {
  Random random(14);
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    const Problem problem = RandomProblem(*GetParam(), GetParam()->rank == 4 ? 70 : 16, random);
    const Form form = random.Of({Form::kContiguous, Form::kNegative, Form::kChannelsLastView});
    SCOPED_TRACE(problem.Text() + " " + std::string(NameOf(form)));
    const TestTensor input = RandomInput(problem, form, random);
    std::optional<std::vector<uint64_t>> expected;
    for (const kernels::Target& target : TargetsOfDefinedBits(*GetParam())) {
      ASSERT_TRUE(kernels::PinTarget(target.name).ok());
      const std::vector<uint64_t> bits = RunWhole(problem, input, form, 1);
      if (!expected) expected = bits;
      ASSERT_EQ(*expected, bits) << target.name;
    }
  }
}

TEST_P(Bits, IdentityCopiesEveryBit) {
  Random random(15);
  for (const DType dtype : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    Problem problem = RandomProblem(*GetParam(), 9, random);
    problem.dtype = dtype;
    problem.out = problem.in;
    const double scale = problem.rule == IndexRule::kExact ? 0.0 : random.Of({0.0, 1.0});
    std::fill(problem.scales.begin(), problem.scales.end(), scale);
    SCOPED_TRACE(problem.Text());
    TestTensor input(dtype, problem.InputShape(), Form::kNegative);
    std::vector<uint64_t> bits(static_cast<size_t>(input.size()));
    const uint64_t mask =
        SizeOf(dtype) == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * SizeOf(dtype)) - 1;
    for (uint64_t& element : bits) {  // signalling NaNs, -0 and all
      element = static_cast<uint64_t>(random.Int(INT64_MIN, INT64_MAX)) & mask;
    }
    bits[0] = mask ^ (mask >> 1);  // -0
    input.FillBits(bits);
    EXPECT_EQ(bits, RunWhole(problem, input, Form::kReversedSpace, 1));
  }
}

TEST_P(Bits, TheCallersFloatingPointEnvironmentDoesNotMatter) {
  Random random(16);
  for (int i = 0; i < 10 && !HasFailure(); ++i) {
    const Problem problem = RandomProblem(*GetParam(), 20, random);
    SCOPED_TRACE(problem.Text());
    TestTensor input = RandomInput(problem, Form::kContiguous, random);
    std::vector<double> values = input.Read();
    for (double& value : values) value *= random.Chance(0.3) ? 1e-38 : 1.0;  // subnormals
    input.Fill(values);
    const std::vector<uint64_t> expected = RunWhole(problem, input, Form::kContiguous, 1);
    std::fesetround(FE_UPWARD);
    const std::vector<uint64_t> upward = RunWhole(problem, input, Form::kContiguous, 1);
    const int kept = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(kept, FE_UPWARD);
    EXPECT_EQ(expected, upward);
  }
}

}  // namespace
}  // namespace opscv::testing
