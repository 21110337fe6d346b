// SPDX-License-Identifier: Apache-2.0
// The table of one axis: which input samples an output sample is made of, with which weights, and
// its transpose, which is the gradient. Pure maths: knows no tensor, no type of element, no SIMD.
#ifndef OPSCV_TAPS_TAP_TABLE_H_
#define OPSCV_TAPS_TAP_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "taps/filter.h"

namespace opscv::taps {

// One axis as a forward operator sees it.
struct Axis {
  int64_t in = 1;   // samples before
  int64_t out = 1;  // samples after
  bool align_corners = false;
  double multiplier = 0.0;  // the scale the caller gave, out over in; 0: none given
};

// Samples of the input per sample of the output: (in-1)/(out-1) with align_corners (0 where out is
// 1), else 1/multiplier where one was given, else in/out.
[[nodiscard]] double ScaleOf(const Axis& axis);

// Whether the axis maps each sample to itself whatever the filter: sizes equal, and scale 1.
[[nodiscard]] bool IsIdentity(const Axis& axis);

// Rows of taps: output sample o = sum over k of weight(o)[k] * input[base(o) + delta(o)[k]], with
// delta ascending from 0. A row may be empty in a transposed table.
class TapTable {
 public:
  [[nodiscard]] int64_t rows() const { return static_cast<int64_t>(base_.size()); }
  // Samples of the axis the rows read.
  [[nodiscard]] int64_t columns() const { return columns_; }

  [[nodiscard]] int64_t base(int64_t row) const { return base_[static_cast<size_t>(row)]; }
  [[nodiscard]] std::span<const int32_t> delta(int64_t row) const {
    return std::span(delta_).subspan(Begin(row), Count(row));
  }
  [[nodiscard]] std::span<const double> weight(int64_t row) const {
    return std::span(weight_).subspan(Begin(row), Count(row));
  }
  // The same weights rounded once to float.
  [[nodiscard]] std::span<const float> weight_float(int64_t row) const {
    return std::span(weight_float_).subspan(Begin(row), Count(row));
  }
  // Whether the taps of every row are neighbours: delta(row)[k] is k.
  [[nodiscard]] bool dense() const { return dense_; }
  // The base of every row, and where its taps begin in the arrays that delta(0) and weight(0) are
  // the first of: rows + 1 places.
  [[nodiscard]] const int64_t* bases() const { return base_.data(); }
  [[nodiscard]] const int64_t* places() const { return offset_.data(); }
  // One past the last sample that the row reads; base(row) for an empty row.
  [[nodiscard]] int64_t end(int64_t row) const {
    const std::span<const int32_t> deltas = delta(row);
    return deltas.empty() ? base(row) : base(row) + deltas.back() + 1;
  }
  // Samples from `begin` up to `end`.
  struct Reach {
    int64_t begin;
    int64_t end;
  };
  // Rows in a group.
  static constexpr int64_t kGroup = 16;
  // What the rows [group * kGroup, (group + 1) * kGroup) read; an end before the begin where that
  // is nothing.
  [[nodiscard]] const Reach& reach(int64_t group) const {
    return reach_[static_cast<size_t>(group)];
  }
  [[nodiscard]] int64_t max_taps() const { return max_taps_; }
  [[nodiscard]] int64_t total_taps() const { return static_cast<int64_t>(delta_.size()); }

  // Frees the weights of the precision that a plan does not use; its accessor is then off limits.
  void KeepOnlyFloat() { weight_ = {}; }
  void KeepOnlyDouble() { weight_float_ = {}; }

 private:
  friend TapTable BuildTaps(const Axis&, Filter);
  friend TapTable Transpose(const TapTable&);

  [[nodiscard]] size_t Begin(int64_t row) const {
    return static_cast<size_t>(offset_[static_cast<size_t>(row)]);
  }
  [[nodiscard]] size_t Count(int64_t row) const {
    return static_cast<size_t>(offset_[static_cast<size_t>(row) + 1]) - Begin(row);
  }

  void Measure();  // sets dense_ and reach_

  int64_t columns_ = 0;
  int64_t max_taps_ = 0;
  bool dense_ = true;
  std::vector<Reach> reach_;
  std::vector<int64_t> base_;
  std::vector<int64_t> offset_{0};  // rows + 1 places in the arrays below
  std::vector<int32_t> delta_;
  std::vector<double> weight_;
  std::vector<float> weight_float_;
};

// The forward table: for output o, centre = scale * (o + 0.5), support = SupportOf(filter) *
// max(scale, 1); taps j from trunc(centre - support + 0.5) to trunc(centre + support + 0.5), cut to
// the axis; weight Weight((j - centre + 0.5) / max(scale, 1)), small ones dropped, divided by the
// sum of those kept. Everything in double.
[[nodiscard]] TapTable BuildTaps(const Axis& axis, Filter filter);

// The table whose row j lists, ascending, the rows of `table` that read sample j: the gradient.
[[nodiscard]] TapTable Transpose(const TapTable& table);

}  // namespace opscv::taps

#endif  // OPSCV_TAPS_TAP_TABLE_H_
