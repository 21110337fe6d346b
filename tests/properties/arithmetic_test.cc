// SPDX-License-Identifier: Apache-2.0
// The defined arithmetic (docs/arithmetic.md) written down a second time, element by element, and
// compared bit by bit: order of passes, order of terms, blocks of 32, where each rounding falls.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/axis_rules.h"
#include "tests/support/problem.h"

namespace opscv::testing {
namespace {

// The terms of one sum, ascending: input position and weight.
struct Terms {
  std::vector<int64_t> index;
  std::vector<double> weight;
};

// Row j lists the outputs that read input j.
std::vector<Terms> Transposed(const std::vector<Terms>& rows, int64_t columns) {
  std::vector<Terms> result(static_cast<size_t>(columns));
  for (size_t o = 0; o < rows.size(); ++o) {
    for (size_t k = 0; k < rows[o].index.size(); ++k) {
      Terms& terms = result[static_cast<size_t>(rows[o].index[k])];
      terms.index.push_back(static_cast<int64_t>(o));
      terms.weight.push_back(rows[o].weight[k]);
    }
  }
  return result;
}

std::vector<Terms> AxisTerms(const Problem& problem, size_t axis) {
  const reference::TapTable table = reference::CubicTaps(
      problem.in[axis], problem.out[axis], problem.align_corners, problem.scales[axis]);
  std::vector<Terms> rows(static_cast<size_t>(problem.out[axis]));
  for (size_t o = 0; o < rows.size(); ++o) {
    const auto begin = static_cast<size_t>(table.begin[o]);
    const auto end = static_cast<size_t>(table.begin[o + 1]);
    rows[o].index.assign(table.index.begin() + begin, table.index.begin() + end);
    rows[o].weight.assign(table.weight.begin() + begin, table.weight.begin() + end);
  }
  return problem.backward() ? Transposed(rows, problem.in[axis]) : rows;
}

bool IsIdentity(const Problem& problem, size_t axis) {
  return reference::IsIdentityCubic(problem.in[axis], problem.out[axis], problem.align_corners,
                                    problem.scales[axis]);
}

// A sum from `start`, growing by `next`, in blocks of 32 of type Real, blocks in double.
template <typename Real, typename Next>
Real Sum(size_t terms, Real start, Next next) {
  if (terms == 0) return 0;
  double total = 0;
  for (size_t first = 0; first < terms; first += 32) {
    Real block = start;
    for (size_t k = first; k < terms && k < first + 32; ++k) block = next(block, k);
    total = first == 0 ? static_cast<double>(block) : total + static_cast<double>(block);
  }
  return static_cast<Real>(total);
}

template <typename Real>
struct Plane {
  int64_t height = 0;
  int64_t width = 0;
  std::vector<Real> value;
  [[nodiscard]] Real At(int64_t y, int64_t x) const {
    return value[static_cast<size_t>(y * width + x)];
  }
};

template <typename Real>
Plane<Real> AlongH(const Plane<Real>& in, const std::vector<Terms>& rows) {
  Plane<Real> out{static_cast<int64_t>(rows.size()), in.width, {}};
  for (const Terms& row : rows) {
    for (int64_t x = 0; x < in.width; ++x) {
      out.value.push_back(Sum<Real>(row.index.size(), Real{0},
                                    [&](Real sum, size_t k) {
                                      return std::fma(static_cast<Real>(row.weight[k]),
                                                      in.At(row.index[k], x), sum);
                                    }) +
                          Real{0});
    }
  }
  return out;
}

template <typename Real>
Plane<Real> AlongW(const Plane<Real>& in, const std::vector<Terms>& columns) {
  Plane<Real> out{in.height, static_cast<int64_t>(columns.size()), {}};
  for (int64_t y = 0; y < in.height; ++y) {
    for (const Terms& column : columns) {
      out.value.push_back(Sum<Real>(column.index.size(), Real{0},
                                    [&](Real sum, size_t k) {
                                      return std::fma(static_cast<Real>(column.weight[k]),
                                                      in.At(y, column.index[k]), sum);
                                    }) +
                          Real{0});
    }
  }
  return out;
}

struct TableSize {
  double taps = 0;
  double rows = 0;
  double most = 0;
};

TableSize SizeOfTable(const std::vector<Terms>& rows) {
  TableSize size;
  size.rows = static_cast<double>(rows.size());
  for (const Terms& row : rows) {
    size.taps += static_cast<double>(row.index.size());
    size.most = std::max(size.most, static_cast<double>(row.index.size()));
  }
  return size;
}

// docs/arithmetic.md, "Order of passes".
bool HBeforeW(const std::vector<Terms>& h, const std::vector<Terms>& w, double in_h, double in_w) {
  const TableSize hs = SizeOfTable(h);
  const TableSize ws = SizeOfTable(w);
  if (hs.most > 64) return true;
  return hs.taps * in_w + hs.rows * 2 * ws.taps <= in_h * 2 * ws.taps + hs.taps * ws.rows;
}

template <typename Real>
std::vector<double> Bicubic(const Problem& problem, const std::vector<double>& input) {
  const std::vector<int64_t>& from = problem.backward() ? problem.out : problem.in;
  const std::vector<Terms> h = AxisTerms(problem, 0);
  const std::vector<Terms> w = AxisTerms(problem, 1);
  const bool along_h = !IsIdentity(problem, 0);
  const bool along_w = !IsIdentity(problem, 1);
  const bool h_first = HBeforeW(h, w, static_cast<double>(from[0]), static_cast<double>(from[1]));
  std::vector<double> result;
  const int64_t size = from[0] * from[1];
  for (int64_t plane = 0; plane < problem.n * problem.c; ++plane) {
    Plane<Real> p{from[0], from[1], {}};
    for (int64_t i = 0; i < size; ++i) {
      p.value.push_back(static_cast<Real>(input[static_cast<size_t>(plane * size + i)]));
    }
    if (along_h && (h_first || !along_w)) p = AlongH(p, h);
    if (along_w) p = AlongW(p, w);
    if (along_h && along_w && !h_first) p = AlongH(p, h);
    result.insert(result.end(), p.value.begin(), p.value.end());
  }
  return result;
}

std::vector<int64_t> Bounds(const Problem& problem, size_t axis) {
  const reference::NearestExact3dProblem p = {
      .batch = 1,
      .in = {problem.in[0], problem.in[1], problem.in[2]},
      .out = {problem.out[0], problem.out[1], problem.out[2]},
      .scales = {problem.scales[0], problem.scales[1], problem.scales[2]},
      .rule = problem.rule};
  return reference::NearestBounds(problem.in[axis], problem.out[axis],
                                  reference::UsedScale(p, static_cast<int>(axis)), p.rule);
}

// The (d, h) window for each w first, d outer and h inner, then along w.
template <typename Real>
std::vector<double> NearestGrad(const Problem& problem, const std::vector<double>& input) {
  const std::vector<int64_t> d = Bounds(problem, 0);
  const std::vector<int64_t> h = Bounds(problem, 1);
  const std::vector<int64_t> w = Bounds(problem, 2);
  const auto at = [&](int64_t plane, int64_t z, int64_t y, int64_t x) {
    const int64_t i = ((plane * problem.out[0] + z) * problem.out[1] + y) * problem.out[2] + x;
    return static_cast<Real>(input[static_cast<size_t>(i)]);
  };
  std::vector<double> result;
  for (int64_t plane = 0; plane < problem.n * problem.c; ++plane) {
    for (size_t z = 0; z + 1 < d.size(); ++z) {
      for (size_t y = 0; y + 1 < h.size(); ++y) {
        const int64_t deep = d[z + 1] - d[z];
        const int64_t high = h[y + 1] - h[y];
        std::vector<Real> row;
        for (int64_t x = 0; x < problem.out[2]; ++x) {
          row.push_back(
              Sum<Real>(static_cast<size_t>(deep * high), Real{-0.0}, [&](Real sum, size_t k) {
                const auto member = static_cast<int64_t>(k);
                return sum + at(plane, d[z] + member / high, h[y] + member % high, x);
              }));
        }
        for (size_t x = 0; x + 1 < w.size(); ++x) {
          result.push_back(Sum<Real>(
              static_cast<size_t>(w[x + 1] - w[x]), Real{-0.0},
              [&](Real sum, size_t k) { return sum + row[static_cast<size_t>(w[x]) + k]; }));
        }
      }
    }
  }
  return result;
}

class Arithmetic : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Operators, Arithmetic,
                         ::testing::Values("UpsampleBicubic2dAA", "UpsampleBicubic2dAAGrad",
                                           "UpsampleNearestExact3dGrad"),
                         [](const auto& info) { return std::string(info.param); });

std::vector<uint64_t> Expected(const Problem& problem, const std::vector<double>& input) {
  const bool bicubic = problem.info->rank == 4;
  std::vector<double> values;
  if (problem.dtype == DType::kFloat64) {
    values = bicubic ? Bicubic<double>(problem, input) : NearestGrad<double>(problem, input);
  } else {
    values = bicubic ? Bicubic<float>(problem, input) : NearestGrad<float>(problem, input);
  }
  std::vector<uint64_t> bits;
  bits.reserve(values.size());
  for (const double value : values) bits.push_back(ToBits(problem.dtype, value));
  return bits;
}

void ExpectDefinedBits(const Problem& problem, Random& random) {
  SCOPED_TRACE(SeedTrace() + " " + problem.Text());
  TestTensor input(problem.dtype, problem.InputShape(), Form::kContiguous);
  TestTensor output(problem.dtype, problem.OutputShape(), Form::kContiguous);
  std::vector<double> values = RandomValues(problem.dtype, input.size(), random);
  for (double& value : values) {
    if (random.Chance(0.05)) value = -0.0;
  }
  input.Fill(values);
  const Result<Plan> plan = MakePlan(problem.ToSpec(), input.desc(), output.desc());
  ASSERT_TRUE(plan.has_value()) << plan.error().message();
  ASSERT_TRUE(plan->Run(input.data(), output.data()).ok());
  ASSERT_EQ(output.Bits(), Expected(problem, input.Read()));
}

TEST_P(Arithmetic, IsTheDefinedOne) {
  Random random(51);
  const ops::OpInfo& info = **ops::FindOperator(GetParam());
  for (int i = 0; i < 120 && !HasFailure(); ++i) {
    ExpectDefinedBits(RandomProblem(info, info.rank == 4 ? 40 : 12, random), random);
  }
}

// Sums of more than one block in each pass, and ratios on both sides of every order of passes.
TEST_P(Arithmetic, IsTheDefinedOneForLongSums) {
  Random random(52);
  const ops::OpInfo& info = **ops::FindOperator(GetParam());
  for (int i = 0; i < 40 && !HasFailure(); ++i) {
    Problem problem = RandomProblem(info, 8, random);
    problem.rule = IndexRule::kAscend;
    problem.n = 1;
    std::fill(problem.scales.begin(), problem.scales.end(), 0.0);
    for (size_t axis = 0; axis < problem.in.size(); ++axis) {
      (problem.backward() ? problem.out : problem.in)[axis] =
          random.Int(1, info.rank == 4 ? 200 : 40);
    }
    ExpectDefinedBits(problem, random);
  }
}

// Outputs of more than 16 MiB of rows that are no whole cache lines, by either order of passes.
TEST_P(Arithmetic, IsTheDefinedOneForLargeOutputs) {
  Random random(53);
  const ops::OpInfo& info = **ops::FindOperator(GetParam());
  for (const DType dtype : {DType::kFloat64, DType::kFloat32}) {
    Problem problem = RandomProblem(info, info.rank == 4 ? 150 : 40, random);
    problem.dtype = dtype;
    problem.rule = IndexRule::kAscend;
    std::fill(problem.scales.begin(), problem.scales.end(), 0.0);
    (problem.backward() ? problem.in : problem.out) =
        info.rank == 4 ? std::vector<int64_t>{139, 133} : std::vector<int64_t>{5, 29, 131};
    problem.n = dtype == DType::kFloat64 ? 40 : 80;
    problem.c = 3;
    ExpectDefinedBits(problem, random);
  }
}

}  // namespace
}  // namespace opscv::testing
