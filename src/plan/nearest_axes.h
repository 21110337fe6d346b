// SPDX-License-Identifier: Apache-2.0
// The windows of the three spatial axes of a nearest resampling, with none stored for an identity.
#ifndef OPSCV_PLAN_NEAREST_AXES_H_
#define OPSCV_PLAN_NEAREST_AXES_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "plan/resample_spec.h"
#include "taps/nearest.h"

namespace opscv::plan {

// bounds()[i] .. bounds()[i + 1] is the window of sample i; of an identity axis i .. i + 1.
class AxisBounds {
 public:
  AxisBounds() = default;
  explicit AxisBounds(std::vector<int64_t> bounds) : bounds_(std::move(bounds)) {}

  [[nodiscard]] bool identity() const { return bounds_.empty(); }
  [[nodiscard]] int64_t At(int64_t i) const {
    return bounds_.empty() ? i : bounds_[static_cast<size_t>(i)];
  }
  [[nodiscard]] const std::vector<int64_t>& bounds() const { return bounds_; }
  // The most samples in a window.
  [[nodiscard]] int64_t Widest() const {
    int64_t widest = bounds_.empty() ? 1 : 0;
    for (size_t i = 0; i + 1 < bounds_.size(); ++i) {
      widest = std::max(widest, bounds_[i + 1] - bounds_[i]);
    }
    return widest;
  }

 private:
  std::vector<int64_t> bounds_;
};

[[nodiscard]] inline std::array<AxisBounds, kSpatial> BuildBounds(const ResampleSpec& spec) {
  std::array<AxisBounds, kSpatial> bounds;
  for (int i = 0; i < kSpatial; ++i) {
    const taps::Axis& axis = spec.axes[i];
    if (taps::IsIdentity(axis)) continue;
    bounds[i] = AxisBounds(taps::NearestBounds(
        {.in = axis.in, .out = axis.out, .multiplier = axis.multiplier}, spec.rule));
  }
  return bounds;
}

}  // namespace opscv::plan

#endif  // OPSCV_PLAN_NEAREST_AXES_H_
