// SPDX-License-Identifier: Apache-2.0
// A call of any registered operator with random or given sizes, and what the float64 reference says
// to it.
#ifndef OPSCV_TESTS_SUPPORT_PROBLEM_H_
#define OPSCV_TESTS_SUPPORT_PROBLEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ops/registry.h"
#include "opscv/plan.h"
#include "reference/bound.h"
#include "reference/reference.h"
#include "tests/support/random.h"
#include "tests/support/tensor.h"

namespace opscv::testing {

struct Problem {
  const ops::OpInfo* info = nullptr;
  DType dtype = DType::kFloat32;
  int64_t n = 1;
  int64_t c = 1;
  std::vector<int64_t> in;   // spatial extents before the forward operator
  std::vector<int64_t> out;  // and after it
  bool align_corners = false;
  std::vector<double> scales;  // one per axis; 0: not given
  IndexRule rule = IndexRule::kAscend;

  [[nodiscard]] bool backward() const { return info->direction == plan::Direction::kBackward; }
  // N,C,spatial of the operator's own input and output.
  [[nodiscard]] std::vector<int64_t> InputShape() const;
  [[nodiscard]] std::vector<int64_t> OutputShape() const;
  [[nodiscard]] Spec ToSpec() const;
  [[nodiscard]] std::string Text() const;
};

// Every operator of the registry.
std::vector<const ops::OpInfo*> AllOperators();

// Sizes up to about `extent` along each axis, scales that fit them now and then, any dtype that the
// reference judges.
Problem RandomProblem(const ops::OpInfo& info, int64_t extent, Random& random);

// What the reference says of input values that already are values of the dtype.
reference::Answer Reference(const Problem& problem, const std::vector<double>& input);

// The largest error of `actual` against the answer as a fraction of the bound, and where.
struct Worst {
  double fraction = 0.0;
  int64_t element = -1;
  double actual = 0.0;
  double expected = 0.0;
};
Worst WorstError(const Problem& problem, const reference::Answer& answer,
                 const std::vector<double>& actual);

// Standard normal values rounded to the dtype.
std::vector<double> RandomValues(DType dtype, int64_t count, Random& random);

}  // namespace opscv::testing

#endif  // OPSCV_TESTS_SUPPORT_PROBLEM_H_
