// SPDX-License-Identifier: Apache-2.0
#include "taps/tap_table.h"

#include <algorithm>
#include <cmath>

namespace opscv::taps {
namespace {

struct RowRange {
  int64_t begin;
  int64_t end;
};

RowRange Window(double centre, double support, int64_t in) {
  const auto begin = static_cast<int64_t>(std::trunc(centre - support + 0.5));
  const auto end = static_cast<int64_t>(std::trunc(centre + support + 0.5));
  return {std::max<int64_t>(begin, 0), std::min(end, in)};
}

// Appends the kept taps of one output sample, relative to the first of them, and returns that first
// sample's index.
int64_t AppendRow(const RowRange& window, double centre, double inverse, Filter filter,
                  std::vector<int32_t>& delta, std::vector<double>& weight) {
  const size_t first = weight.size();
  int64_t base = window.begin;
  double sum = 0.0;
  for (int64_t j = window.begin; j < window.end; ++j) {
    const double w = Weight(filter, (static_cast<double>(j) - centre + 0.5) * inverse);
    if (std::fabs(w) < kDropBelow) continue;
    if (weight.size() == first) base = j;
    delta.push_back(static_cast<int32_t>(j - base));
    weight.push_back(w);
    sum += w;
  }
  for (size_t k = first; k < weight.size(); ++k) weight[k] /= sum;
  return base;
}

std::vector<float> RoundToFloat(const std::vector<double>& values) {
  std::vector<float> rounded(values.size());
  std::transform(values.begin(), values.end(), rounded.begin(),
                 [](double value) { return static_cast<float>(value); });
  return rounded;
}

}  // namespace

double ScaleOf(const Axis& axis) {
  const auto in = static_cast<double>(axis.in);
  const auto out = static_cast<double>(axis.out);
  if (axis.align_corners) return axis.out > 1 ? (in - 1.0) / (out - 1.0) : 0.0;
  return axis.multiplier > 0.0 ? 1.0 / axis.multiplier : in / out;
}

bool IsIdentity(const Axis& axis) {
  const bool scaled = !axis.align_corners && axis.multiplier > 0.0 && axis.multiplier != 1.0;
  return axis.in == axis.out && !scaled;
}

void TapTable::Measure() {
  for (int64_t begin = 0; begin < rows(); begin += kGroup) {
    Reach reach{columns_, 0};
    for (int64_t row = begin; row < std::min(begin + kGroup, rows()); ++row) {
      if (Count(row) == 0) continue;
      dense_ = dense_ && end(row) - base(row) == static_cast<int64_t>(Count(row));
      reach.begin = std::min(reach.begin, base(row));
      reach.end = std::max(reach.end, end(row));
    }
    reach_.push_back(reach);
  }
}

TapTable BuildTaps(const Axis& axis, Filter filter) {
  const double scale = ScaleOf(axis);
  const double width = std::max(scale, 1.0);
  const double support = SupportOf(filter) * width;
  const double inverse = scale >= 1.0 ? 1.0 / scale : 1.0;
  TapTable table;
  table.columns_ = axis.in;
  table.base_.reserve(static_cast<size_t>(axis.out));
  table.offset_.reserve(static_cast<size_t>(axis.out) + 1);
  for (int64_t o = 0; o < axis.out; ++o) {
    const double centre = scale * (static_cast<double>(o) + 0.5);
    table.base_.push_back(AppendRow(Window(centre, support, axis.in), centre, inverse, filter,
                                    table.delta_, table.weight_));
    const auto total = static_cast<int64_t>(table.delta_.size());
    table.max_taps_ = std::max(table.max_taps_, total - table.offset_.back());
    table.offset_.push_back(total);
  }
  table.weight_float_ = RoundToFloat(table.weight_);
  table.Measure();
  return table;
}

TapTable Transpose(const TapTable& table) {
  TapTable result;
  const auto rows = static_cast<size_t>(table.columns());
  result.columns_ = table.rows();
  result.base_.assign(rows, 0);
  result.offset_.assign(rows + 1, 0);
  result.delta_.resize(table.delta_.size());
  result.weight_.resize(table.delta_.size());
  for (int64_t o = 0; o < table.rows(); ++o) {
    for (const int32_t delta : table.delta(o)) {
      ++result.offset_[static_cast<size_t>(table.base(o) + delta) + 1];
    }
  }
  for (size_t j = 0; j < rows; ++j) {
    result.max_taps_ = std::max(result.max_taps_, result.offset_[j + 1]);
    result.offset_[j + 1] += result.offset_[j];
  }
  std::vector<int64_t> next(result.offset_.begin(), result.offset_.end() - 1);
  for (int64_t o = 0; o < table.rows(); ++o) {
    const std::span<const int32_t> delta = table.delta(o);
    const std::span<const double> weight = table.weight(o);
    for (size_t k = 0; k < delta.size(); ++k) {
      const auto j = static_cast<size_t>(table.base(o) + delta[k]);
      if (next[j] == result.offset_[j]) result.base_[j] = o;
      const auto place = static_cast<size_t>(next[j]++);
      result.delta_[place] = static_cast<int32_t>(o - result.base_[j]);
      result.weight_[place] = weight[k];
    }
  }
  result.weight_float_ = RoundToFloat(result.weight_);
  result.Measure();
  return result;
}

}  // namespace opscv::taps
