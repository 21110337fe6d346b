// SPDX-License-Identifier: Apache-2.0
// A resampling in the engine's own words: axes, filter, direction, strided tensors. Below this line
// nobody knows which operator it was.
#ifndef OPSCV_PLAN_RESAMPLE_SPEC_H_
#define OPSCV_PLAN_RESAMPLE_SPEC_H_

#include <array>
#include <cstdint>

#include "opscv/spec.h"
#include "opscv/view.h"
#include "taps/filter.h"
#include "taps/tap_table.h"

namespace opscv::plan {

enum class Method : uint8_t {
  kTaps,     // weighted taps of a filter, over the two innermost axes
  kNearest,  // one sample each, over all three spatial axes
};

enum class Direction : uint8_t { kForward, kBackward };

// Every tensor of the engine has five dimensions N,C,D,H,W, whatever the layout was; operators on
// images have D = 1.
inline constexpr int kRank = 5;
inline constexpr int kN = 0;
inline constexpr int kC = 1;
inline constexpr int kD = 2;
inline constexpr int kH = 3;
inline constexpr int kW = 4;
inline constexpr int kSpatial = 3;  // axes D, H, W stand at dimensions 2, 3, 4

using Coords = std::array<int64_t, kRank>;

struct Box5 {
  Coords begin{};
  Coords end{};
  [[nodiscard]] bool Empty() const {
    for (int i = 0; i < kRank; ++i) {
      if (begin[i] >= end[i]) return true;
    }
    return false;
  }
  bool operator==(const Box5&) const = default;
};

struct Tensor5 {
  Coords shape{};
  Coords stride_bytes{};  // any sign; 0 in dimensions of one element
};

struct ResampleSpec {
  Method method = Method::kTaps;
  taps::Filter filter = taps::Filter::kCubicAntialias;
  Direction direction = Direction::kForward;
  IndexRule rule = IndexRule::kAscend;
  DType dtype = DType::kFloat32;
  // D, H, W as the forward operator sees them: `in` before it, `out` after it.
  std::array<taps::Axis, kSpatial> axes{};
  Tensor5 input;  // of this operator, not of the forward one
  Tensor5 output;
};

}  // namespace opscv::plan

#endif  // OPSCV_PLAN_RESAMPLE_SPEC_H_
