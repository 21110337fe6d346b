// SPDX-License-Identifier: Apache-2.0
#include "reference/reference.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace opscv::reference {
namespace {

enum class Direction { kForward, kGrad };

// One axis of a problem: its taps, and whether it copies.
struct Axis {
  int64_t in;
  int64_t out;
  TapTable table;
  bool identity;
};

// A dense array seen as [outer][extent][inner] around one axis.
struct Shape {
  int64_t outer;
  int64_t inner;
};

// y = W x along the axis; with kGrad y = W^T x. `magnitude` takes |W| for W.
std::vector<double> Apply(const Axis& axis, Direction direction, bool magnitude, Shape shape,
                          const std::vector<double>& x) {
  if (axis.identity) return x;
  const bool grad = direction == Direction::kGrad;
  const int64_t from = grad ? axis.out : axis.in;
  const int64_t to = grad ? axis.in : axis.out;
  std::vector<double> y(shape.outer * to * shape.inner, 0.0);
  for (int64_t n = 0; n < shape.outer; ++n) {
    for (int64_t o = 0; o < axis.out; ++o) {
      for (int64_t k = axis.table.begin[o]; k < axis.table.begin[o + 1]; ++k) {
        const int64_t i = axis.table.index[k];
        const double weight = axis.table.weight[k];
        const double factor = magnitude ? std::fabs(weight) : weight;
        const double* source = &x[(n * from + (grad ? o : i)) * shape.inner];
        double* target = &y[(n * to + (grad ? i : o)) * shape.inner];
        for (int64_t m = 0; m < shape.inner; ++m) target[m] += factor * source[m];
      }
    }
  }
  return y;
}

// The largest value among the taps of each sample of the answer along the axis.
std::vector<double> Largest(const Axis& axis, Direction direction, Shape shape,
                            const std::vector<double>& x) {
  if (axis.identity) return x;
  const bool grad = direction == Direction::kGrad;
  const int64_t from = grad ? axis.out : axis.in;
  const int64_t to = grad ? axis.in : axis.out;
  std::vector<double> y(shape.outer * to * shape.inner, 0.0);
  for (int64_t n = 0; n < shape.outer; ++n) {
    for (int64_t o = 0; o < axis.out; ++o) {
      for (int64_t k = axis.table.begin[o]; k < axis.table.begin[o + 1]; ++k) {
        const int64_t i = axis.table.index[k];
        const double* source = &x[(n * from + (grad ? o : i)) * shape.inner];
        double* target = &y[(n * to + (grad ? i : o)) * shape.inner];
        for (int64_t m = 0; m < shape.inner; ++m) target[m] = std::max(target[m], source[m]);
      }
    }
  }
  return y;
}

// Below this, no sum of 2^20 terms with the filter's weights comes near the largest float.
constexpr double kLargeData = 1e30;

// What the first of two passes may hold on the way to every element, either axis coming first.
std::vector<double> Peaks(const Axis& h, const Axis& w, Direction direction, int64_t batch,
                          std::span<const double> x) {
  std::vector<double> size;
  for (double v : x) size.push_back(std::fabs(v));
  if (std::ranges::none_of(size, [](double v) { return v > kLargeData; })) return {};
  const bool grad = direction == Direction::kGrad;
  const int64_t rows = batch * (grad ? h.out : h.in);
  const int64_t rows_after = batch * (grad ? h.in : h.out);
  const int64_t width = grad ? w.out : w.in;
  const int64_t width_after = grad ? w.in : w.out;
  const std::vector<double> w_first =
      Largest(h, direction, {batch, width_after}, Apply(w, direction, true, {rows, 1}, size));
  std::vector<double> peak =
      Largest(w, direction, {rows_after, 1}, Apply(h, direction, true, {batch, width}, size));
  for (size_t i = 0; i < peak.size(); ++i) peak[i] = std::max(peak[i], w_first[i]);
  return peak;
}

// The taps that each sample of the answer sums over along this axis.
std::vector<int64_t> CountTaps(const Axis& axis, Direction direction) {
  if (axis.identity) return std::vector<int64_t>(axis.in, 1);
  std::vector<int64_t> count(direction == Direction::kGrad ? axis.in : axis.out, 0);
  for (int64_t o = 0; o < axis.out; ++o) {
    for (int64_t k = axis.table.begin[o]; k < axis.table.begin[o + 1]; ++k) {
      ++count[direction == Direction::kGrad ? axis.table.index[k] : o];
    }
  }
  return count;
}

// Axis after axis, outermost first, over values and over magnitudes. `pass_of_axis` says which
// pass of the engine sums over an axis, -1 for none.
Answer ApplyAll(const std::vector<Axis>& axes, const std::vector<int>& pass_of_axis,
                Direction direction, int64_t batch, std::span<const double> x) {
  const auto from = [&](const Axis& a) { return direction == Direction::kGrad ? a.out : a.in; };
  const auto to = [&](const Axis& a) { return direction == Direction::kGrad ? a.in : a.out; };
  Shape shape{batch, 1};
  for (const Axis& axis : axes) shape.inner *= from(axis);
  if (batch < 0 || static_cast<int64_t>(x.size()) != batch * shape.inner) {
    throw std::invalid_argument("reference: data length does not fit the problem");
  }
  Answer answer;
  answer.value.assign(x.begin(), x.end());
  for (double v : x) answer.magnitude.push_back(std::fabs(v));
  for (size_t a = 0; a < axes.size() && batch > 0; ++a) {
    shape.inner /= from(axes[a]);
    answer.value = Apply(axes[a], direction, false, shape, answer.value);
    answer.magnitude = Apply(axes[a], direction, true, shape, answer.magnitude);
    shape.outer *= to(axes[a]);
  }
  for (size_t a = 0; a < axes.size(); ++a) {
    answer.axes.push_back({CountTaps(axes[a], direction), axes[a].identity ? -1 : pass_of_axis[a]});
    answer.largest_extent = std::max({answer.largest_extent, axes[a].in, axes[a].out});
  }
  return answer;
}

std::vector<Axis> CubicAxes(const Bicubic2dAAProblem& p) {
  const auto make = [&](int64_t in, int64_t out, double scale) {
    return Axis{in, out, CubicTaps(in, out, p.align_corners, scale),
                IsIdentityCubic(in, out, p.align_corners, scale)};
  };
  return {make(p.in_h, p.out_h, p.scales_h), make(p.in_w, p.out_w, p.scales_w)};
}

// Nearest is the table whose weights are one.
std::vector<Axis> NearestAxes(const NearestExact3dProblem& p) {
  std::vector<Axis> axes;
  for (int a = 0; a < 3; ++a) {
    const double scale = UsedScale(p, a);
    TapTable table{{0}, {}, {}};
    for (int64_t source : NearestSources(p.in[a], p.out[a], scale, p.rule)) {
      table.index.push_back(source);
      table.begin.push_back(static_cast<int64_t>(table.index.size()));
    }
    table.weight.assign(table.index.size(), 1.0);
    axes.push_back(
        {p.in[a], p.out[a], std::move(table), IsIdentityNearest(p.in[a], p.out[a], scale)});
  }
  return axes;
}

}  // namespace

PassTaps Answer::TapsOf(int64_t element) const {
  PassTaps result;
  result.largest_extent = largest_extent;
  if (!peak.empty()) result.peak = peak[static_cast<size_t>(element)];
  std::array<int64_t, 2> taps = {1, 1};
  std::array<bool, 2> used = {false, false};
  for (size_t a = axes.size(); a-- > 0;) {
    const int64_t extent = static_cast<int64_t>(axes[a].taps.size());
    const int64_t position = element % extent;
    element /= extent;
    if (axes[a].pass < 0) continue;
    taps[axes[a].pass] *= axes[a].taps[position];
    used[axes[a].pass] = true;
  }
  for (int p = 0; p < 2; ++p) {
    if (used[p]) result.taps[result.passes++] = taps[p];
  }
  return result;
}

double UsedScale(const NearestExact3dProblem& problem, int axis) {
  const bool all = std::ranges::all_of(problem.scales, [](double s) { return s > 0; });
  const bool used = problem.rule == IndexRule::kAscend ? all : problem.scales[axis] > 0;
  return used ? problem.scales[axis] : 0.0;
}

namespace {

Answer Bicubic(const Bicubic2dAAProblem& problem, Direction direction, std::span<const double> x) {
  const std::vector<Axis> axes = CubicAxes(problem);
  Answer answer = ApplyAll(axes, {0, 1}, direction, problem.batch, x);
  answer.peak = Peaks(axes[0], axes[1], direction, problem.batch, x);
  return answer;
}

}  // namespace

Answer UpsampleBicubic2dAA(const Bicubic2dAAProblem& problem, std::span<const double> x) {
  return Bicubic(problem, Direction::kForward, x);
}

Answer UpsampleBicubic2dAAGrad(const Bicubic2dAAProblem& problem,
                               std::span<const double> grad_out) {
  return Bicubic(problem, Direction::kGrad, grad_out);
}

Answer UpsampleNearestExact3d(const NearestExact3dProblem& problem, std::span<const double> x) {
  return ApplyAll(NearestAxes(problem), {-1, -1, -1}, Direction::kForward, problem.batch, x);
}

// The (d, h) window is one pass with nd * nh members; w is the second.
Answer UpsampleNearestExact3dGrad(const NearestExact3dProblem& problem,
                                  std::span<const double> grad_out) {
  return ApplyAll(NearestAxes(problem), {0, 0, 1}, Direction::kGrad, problem.batch, grad_out);
}

}  // namespace opscv::reference
