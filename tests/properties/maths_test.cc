// SPDX-License-Identifier: Apache-2.0
// What must hold of every operator whatever the numbers: the pair is adjoint, the gradient linear,
// weights sum to one, and NaN and infinity stay where taps reach.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/problem.h"

namespace opscv::testing {
namespace {

class Pairs : public ::testing::TestWithParam<const ops::OpPair*> {};
INSTANTIATE_TEST_SUITE_P(Operators, Pairs, ::testing::ValuesIn(ops::AllPairs()),
                         [](const auto& info) { return std::string(info.param->forward.name); });

class Maths : public ::testing::TestWithParam<const ops::OpInfo*> {};
INSTANTIATE_TEST_SUITE_P(Operators, Maths, ::testing::ValuesIn(AllOperators()),
                         [](const auto& info) { return std::string(info.param->name); });

std::vector<double> RunOperator(const Problem& problem, const std::vector<double>& values) {
  TestTensor input(problem.dtype, problem.InputShape(), Form::kContiguous);
  TestTensor output(problem.dtype, problem.OutputShape(), Form::kContiguous);
  input.Fill(values);
  const Result<Plan> plan = MakePlan(problem.ToSpec(), input.desc(), output.desc());
  if (!plan) {
    ADD_FAILURE() << plan.error().message();
    return {};
  }
  EXPECT_TRUE(plan->Run(input.data(), output.data()).ok());
  return output.Read();
}

int64_t Count(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

TEST_P(Pairs, ForwardAndBackwardAreAdjoint) {
  SCOPED_TRACE(SeedTrace());
  Random random(21);
  for (int i = 0; i < 80 && !HasFailure(); ++i) {
    Problem forward = RandomProblem(GetParam()->forward, 30, random);
    forward.dtype = DType::kFloat64;
    Problem backward = forward;
    backward.info = &GetParam()->backward;
    SCOPED_TRACE(forward.Text());
    const std::vector<double> x =
        RandomValues(DType::kFloat64, Count(forward.InputShape()), random);
    const std::vector<double> g =
        RandomValues(DType::kFloat64, Count(backward.InputShape()), random);
    const std::vector<double> y = RunOperator(forward, x);
    const std::vector<double> back = RunOperator(backward, g);
    double left = 0.0;
    double right = 0.0;
    double size = 0.0;
    for (size_t k = 0; k < y.size(); ++k) {
      left += y[k] * g[k];
      size += std::abs(y[k] * g[k]);
    }
    for (size_t k = 0; k < x.size(); ++k) {
      right += x[k] * back[k];
      size += std::abs(x[k] * back[k]);
    }
    EXPECT_NEAR(left, right, 1e-13 * size);
  }
}

TEST_P(Pairs, ForwardKeepsConstants) {
  SCOPED_TRACE(SeedTrace());
  Random random(22);
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    Problem problem = RandomProblem(GetParam()->forward, 40, random);
    problem.dtype = DType::kFloat32;
    SCOPED_TRACE(problem.Text());
    for (const double y : RunOperator(
             problem, std::vector<double>(static_cast<size_t>(Count(problem.InputShape())), 1.0))) {
      ASSERT_NEAR(y, 1.0, 1e-6);
    }
  }
}

// Powers of two scale exactly, so the bits scale with them.
TEST_P(Maths, ScalesWithItsInput) {
  SCOPED_TRACE(SeedTrace());
  Random random(23);
  for (int i = 0; i < 40 && !HasFailure(); ++i) {
    Problem problem = RandomProblem(*GetParam(), 20, random);
    problem.dtype = random.Of({DType::kFloat32, DType::kFloat64});
    SCOPED_TRACE(problem.Text());
    std::vector<double> x = RandomValues(problem.dtype, Count(problem.InputShape()), random);
    const std::vector<double> y = RunOperator(problem, x);
    for (double& value : x) value *= -4.0;
    const std::vector<double> scaled = RunOperator(problem, x);
    for (size_t k = 0; k < y.size(); ++k) ASSERT_EQ(scaled[k], -4.0 * y[k]) << "element " << k;
  }
}

TEST_P(Maths, NaNAndInfinityStayWhereTapsReach) {
  SCOPED_TRACE(SeedTrace());
  Random random(24);
  for (int i = 0; i < 80 && !HasFailure(); ++i) {
    const Problem problem = RandomProblem(*GetParam(), GetParam()->rank == 4 ? 30 : 10, random);
    SCOPED_TRACE(problem.Text());
    std::vector<double> x = RandomValues(problem.dtype, Count(problem.InputShape()), random);
    for (int bad = 0; bad < 3; ++bad) {
      const auto where = static_cast<size_t>(random.Int(0, static_cast<int64_t>(x.size()) - 1));
      x[where] = random.Chance(0.5) ? std::nan("") : std::numeric_limits<double>::infinity();
    }
    const std::vector<double> y = RunOperator(problem, x);
    const reference::Answer answer = Reference(problem, x);
    for (size_t k = 0; k < y.size(); ++k) {
      ASSERT_EQ(std::isfinite(y[k]), std::isfinite(answer.value[k]))
          << "element " << k << " is " << y[k] << ", the reference says " << answer.value[k];
    }
  }
}

TEST_P(Maths, NoResultOfTapsIsMinusZero) {
  if (GetParam()->rank != 4) return;
  Random random(25);
  for (int i = 0; i < 20; ++i) {
    Problem problem = RandomProblem(*GetParam(), 20, random);
    problem.in[0] = problem.out[0] + 1;  // not all axes the identity
    std::fill(problem.scales.begin(), problem.scales.end(), 0.0);
    std::vector<double> x(static_cast<size_t>(Count(problem.InputShape())), -0.0);
    for (const double y : RunOperator(problem, x)) ASSERT_FALSE(std::signbit(y)) << problem.Text();
  }
}

}  // namespace
}  // namespace opscv::testing
