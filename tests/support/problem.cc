// SPDX-License-Identifier: Apache-2.0
#include "tests/support/problem.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace opscv::testing {
namespace {

std::vector<int64_t> WithBatch(const Problem& problem, const std::vector<int64_t>& spatial) {
  std::vector<int64_t> shape = {problem.n, problem.c};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return shape;
}

// A scale that is not quite out/in but still gives out = floor(in * scale).
double FittingScale(int64_t in, int64_t out, Random& random) {
  const double low = static_cast<double>(out) / static_cast<double>(in);
  const double high = static_cast<double>(out + 1) / static_cast<double>(in);
  const double scale = random.Chance(0.3) ? low : random.Real(low, low + (high - low) * 0.999);
  const double product = static_cast<double>(in) * scale;
  return std::floor(product) == static_cast<double>(out) ? scale : 0.0;
}

}  // namespace

std::vector<int64_t> Problem::InputShape() const { return WithBatch(*this, backward() ? out : in); }
std::vector<int64_t> Problem::OutputShape() const {
  return WithBatch(*this, backward() ? in : out);
}

Spec Problem::ToSpec() const {
  Spec spec(info->name);
  spec.Set("output_size", IntList(out)).SetRule(rule);
  if (backward()) spec.Set("input_size", IntList(OutputShape()));
  if (info->rank == 4) {
    spec.Set("align_corners", align_corners).Set("scales_h", scales[0]).Set("scales_w", scales[1]);
  } else {
    spec.Set("scales", FloatList(scales));
  }
  return spec;
}

std::string Problem::Text() const {
  return fmt::format("{} {} N={} C={} in=({}) out=({}) align_corners={} scales=({}) rule={}",
                     info->name, opscv::NameOf(dtype), n, c, fmt::join(in, ","),
                     fmt::join(out, ","), align_corners, fmt::join(scales, ","),
                     opscv::NameOf(rule));
}

std::vector<const ops::OpInfo*> AllOperators() {
  std::vector<const ops::OpInfo*> operators;
  for (const ops::OpPair* pair : ops::AllPairs()) {
    operators.push_back(&pair->forward);
    operators.push_back(&pair->backward);
  }
  return operators;
}

Problem RandomProblem(const ops::OpInfo& info, int64_t extent, Random& random) {
  Problem problem;
  problem.info = &info;
  problem.dtype = random.Of({DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16});
  problem.n = random.Int(1, 3);
  problem.c = random.Chance(0.2) ? random.Int(6, 40) : random.Int(1, 4);
  problem.align_corners = info.rank == 4 && random.Chance(0.3);
  if (info.takes_rule) {
    problem.rule = random.Of({IndexRule::kAscend, IndexRule::kTorchCpu, IndexRule::kExact});
  }
  const bool scaled = problem.rule != IndexRule::kExact && random.Chance(0.4);
  for (int axis = 0; axis < info.rank - 2; ++axis) {
    const int64_t in = random.Int(1, extent);
    const int64_t out = random.Chance(0.2) ? in : random.Int(1, extent);
    problem.in.push_back(in);
    problem.out.push_back(out);
    problem.scales.push_back(scaled ? FittingScale(in, out, random) : 0.0);
  }
  return problem;
}

reference::Answer Reference(const Problem& problem, const std::vector<double>& input) {
  const int64_t batch = problem.n * problem.c;
  if (problem.info->rank == 4) {
    const reference::Bicubic2dAAProblem p = {.batch = batch,
                                             .in_h = problem.in[0],
                                             .in_w = problem.in[1],
                                             .out_h = problem.out[0],
                                             .out_w = problem.out[1],
                                             .align_corners = problem.align_corners,
                                             .scales_h = problem.scales[0],
                                             .scales_w = problem.scales[1]};
    return problem.backward() ? reference::UpsampleBicubic2dAAGrad(p, input)
                              : reference::UpsampleBicubic2dAA(p, input);
  }
  reference::NearestExact3dProblem p{.batch = batch, .rule = problem.rule};
  std::copy_n(problem.in.begin(), 3, p.in.begin());
  std::copy_n(problem.out.begin(), 3, p.out.begin());
  std::copy_n(problem.scales.begin(), 3, p.scales.begin());
  return problem.backward() ? reference::UpsampleNearestExact3dGrad(p, input)
                            : reference::UpsampleNearestExact3d(p, input);
}

Worst WorstError(const Problem& problem, const reference::Answer& answer,
                 const std::vector<double>& actual) {
  Worst worst;
  for (size_t i = 0; i < actual.size(); ++i) {
    const auto element = static_cast<int64_t>(i);
    const double fraction = reference::ErrorFraction(problem.dtype, actual[i], answer.value[i],
                                                     answer.magnitude[i], answer.TapsOf(element));
    if (worst.element < 0 || !(fraction <= worst.fraction)) {
      worst = {fraction, element, actual[i], answer.value[i]};
    }
  }
  return worst;
}

std::vector<double> RandomValues(DType dtype, int64_t count, Random& random) {
  std::vector<double> values(static_cast<size_t>(count));
  for (double& value : values) value = FromBits(dtype, ToBits(dtype, random.Normal()));
  return values;
}

}  // namespace opscv::testing
