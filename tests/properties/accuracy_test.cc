// SPDX-License-Identifier: Apache-2.0
// Every operator of the registry against the float64 reference, in every type and form of memory.
#include <gtest/gtest.h>

#include "tests/support/problem.h"

namespace opscv::testing {
namespace {

class Accuracy : public ::testing::TestWithParam<const ops::OpInfo*> {};

INSTANTIATE_TEST_SUITE_P(Operators, Accuracy, ::testing::ValuesIn(AllOperators()),
                         [](const auto& info) { return std::string(info.param->name); });

Form RandomForm(Random& random, bool input) {
  return static_cast<Form>(random.Int(0, input ? kForms - 1 : kForms - 2));
}

// Runs a problem on random data and expects every element within the bound and nothing else
// touched.
void ExpectAccurate(const Problem& problem, Form in_form, Form out_form, Random& random) {
  // Both tensors of a call have the same layout.
  if ((in_form == Form::kChannelsLast) != (out_form == Form::kChannelsLast)) {
    out_form = in_form = Form::kChannelsLast;
  }
  SCOPED_TRACE(problem.Text() + " " + std::string(NameOf(in_form)) + " -> " +
               std::string(NameOf(out_form)));
  TestTensor input(problem.dtype, problem.InputShape(), in_form);
  TestTensor output(problem.dtype, problem.OutputShape(), out_form);
  input.Fill(RandomValues(problem.dtype, input.size(), random));
  const Result<Plan> plan = MakePlan(problem.ToSpec(), input.desc(), output.desc());
  ASSERT_TRUE(plan.has_value()) << plan.error().message();
  RunOptions options;
  options.threads = static_cast<int>(random.Int(1, 3));
  const Status status = plan->Run(input.data(), output.data(), options);
  ASSERT_TRUE(status.ok()) << status.message();
  const Worst worst = WorstError(problem, Reference(problem, input.Read()), output.Read());
  EXPECT_LE(worst.fraction, 1.0) << "element " << worst.element << " is " << worst.actual
                                 << ", the reference says " << worst.expected;
  EXPECT_TRUE(output.GapsUntouched());
}

TEST_P(Accuracy, RandomProblemsStayWithinTheBound) {
  SCOPED_TRACE(SeedTrace());
  Random random(1);
  for (int i = 0; i < 250 && !HasFailure(); ++i) {
    const int64_t extent = GetParam()->rank == 4 ? 48 : 14;
    const Problem problem = RandomProblem(*GetParam(), extent, random);
    ExpectAccurate(problem, RandomForm(random, true), RandomForm(random, false), random);
  }
}

// Rows longer than a tile, blocks cut along every axis.
TEST_P(Accuracy, LargeProblemsStayWithinTheBound) {
  SCOPED_TRACE(SeedTrace());
  Random random(2);
  for (int i = 0; i < 6 && !HasFailure(); ++i) {
    const int64_t extent = GetParam()->rank == 4 ? 700 : 90;
    Problem problem = RandomProblem(*GetParam(), extent, random);
    problem.n = 1;
    problem.c = random.Int(1, 2);
    ExpectAccurate(problem, RandomForm(random, true), RandomForm(random, false), random);
  }
}

// Windows far longer than a block of the sum, both ways round.
TEST_P(Accuracy, StrongRatiosStayWithinTheBound) {
  SCOPED_TRACE(SeedTrace());
  Random random(3);
  for (int i = 0; i < 16 && !HasFailure(); ++i) {
    Problem problem = RandomProblem(*GetParam(), 6, random);
    problem.rule = IndexRule::kAscend;
    std::fill(problem.scales.begin(), problem.scales.end(), 0.0);
    for (size_t axis = 0; axis < problem.in.size(); ++axis) {
      const int64_t longest = problem.info->rank == 4 ? 900 : 60;
      (random.Chance(0.5) ? problem.in : problem.out)[axis] = random.Int(20, longest);
    }
    problem.n = problem.c = 1;
    ExpectAccurate(problem, RandomForm(random, true), RandomForm(random, false), random);
  }
}

// Near the largest float, where the first pass may overflow although the result does not.
TEST_P(Accuracy, HugeValuesStayWithinTheBoundWhereNoPassOverflows) {
  SCOPED_TRACE(SeedTrace());
  Random random(5);
  for (int i = 0; i < 80 && !HasFailure(); ++i) {
    Problem problem = RandomProblem(*GetParam(), 8, random);
    problem.dtype = random.Of({DType::kFloat32, DType::kBFloat16});
    SCOPED_TRACE(problem.Text());
    TestTensor input(problem.dtype, problem.InputShape(), Form::kContiguous);
    TestTensor output(problem.dtype, problem.OutputShape(), Form::kContiguous);
    std::vector<double> values = RandomValues(problem.dtype, input.size(), random);
    for (double& value : values) value *= 1e38;
    input.Fill(values);
    const Result<Plan> plan = MakePlan(problem.ToSpec(), input.desc(), output.desc());
    ASSERT_TRUE(plan.has_value()) << plan.error().message();
    ASSERT_TRUE(plan->Run(input.data(), output.data()).ok());
    const Worst worst = WorstError(problem, Reference(problem, input.Read()), output.Read());
    EXPECT_LE(worst.fraction, 1.0) << "element " << worst.element << " is " << worst.actual
                                   << ", the reference says " << worst.expected;
  }
}

// On normal data float32 keeps more than the bound promises: 1e-6 of S (docs/accuracy.md).
TEST_P(Accuracy, Float32OnNormalDataStaysBelowAMillionthOfTheMagnitude) {
  SCOPED_TRACE(SeedTrace());
  Random random(4);
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    Problem problem = RandomProblem(*GetParam(), GetParam()->rank == 4 ? 60 : 16, random);
    problem.dtype = DType::kFloat32;
    SCOPED_TRACE(problem.Text());
    TestTensor input(problem.dtype, problem.InputShape(), Form::kContiguous);
    TestTensor output(problem.dtype, problem.OutputShape(), Form::kContiguous);
    input.Fill(RandomValues(problem.dtype, input.size(), random));
    const Result<Plan> plan = MakePlan(problem.ToSpec(), input.desc(), output.desc());
    ASSERT_TRUE(plan.has_value()) << plan.error().message();
    ASSERT_TRUE(plan->Run(input.data(), output.data()).ok());
    const reference::Answer answer = Reference(problem, input.Read());
    const std::vector<double> actual = output.Read();
    for (size_t e = 0; e < actual.size(); ++e) {
      ASSERT_LE(std::abs(actual[e] - answer.value[e]), 1e-6 * answer.magnitude[e])
          << "element " << e;
    }
  }
}

}  // namespace
}  // namespace opscv::testing
