// SPDX-License-Identifier: Apache-2.0
#include "taps/nearest.h"

#include <algorithm>
#include <cmath>

namespace opscv::taps {
namespace {

__extension__ using Int128 = __int128;

// Above this extent a float cannot tell scale*i - 0.5 from its neighbours well enough: the spacing
// of floats reaches 0.25 at 2^21, so every sample would sit on a tie.
constexpr int64_t kFloatExtent = int64_t{1} << 21;

template <typename Real>
std::vector<int64_t> AscendBounds(const NearestAxis& axis) {
  const Real scale = axis.multiplier > 0.0
                         ? static_cast<Real>(axis.multiplier)
                         : static_cast<Real>(axis.out) / static_cast<Real>(axis.in);
  std::vector<int64_t> bounds(static_cast<size_t>(axis.in) + 1);
  for (int64_t i = 0; i < axis.in; ++i) {
    const Real position = static_cast<Real>(i) * scale;
    const Real bound = std::ceil(position - Real{0.5});
    bounds[static_cast<size_t>(i)] = std::min(static_cast<int64_t>(bound), axis.out);
  }
  bounds.back() = axis.out;
  return bounds;
}

// Collects the windows from the map that says which input sample an output sample reads; the map
// never descends.
template <typename SourceOf>
std::vector<int64_t> BoundsOfMap(const NearestAxis& axis, SourceOf source_of) {
  std::vector<int64_t> bounds(static_cast<size_t>(axis.in) + 1, axis.out);
  int64_t next = 0;
  for (int64_t o = 0; o < axis.out; ++o) {
    for (const int64_t source = source_of(o); next <= source; ++next) {
      bounds[static_cast<size_t>(next)] = o;
    }
  }
  return bounds;
}

std::vector<int64_t> TorchCpuBounds(const NearestAxis& axis) {
  const float scale = axis.multiplier > 0.0
                          ? static_cast<float>(1.0 / axis.multiplier)
                          : static_cast<float>(axis.in) / static_cast<float>(axis.out);
  return BoundsOfMap(axis, [&](int64_t o) {
    // PyTorch adds the half in double, so the product is rounded to float only once.
    const double position = (static_cast<double>(o) + 0.5) * static_cast<double>(scale);
    return std::min(static_cast<int64_t>(std::floor(static_cast<float>(position))), axis.in - 1);
  });
}

std::vector<int64_t> ExactBounds(const NearestAxis& axis) {
  return BoundsOfMap(axis, [&](int64_t o) {
    return static_cast<int64_t>(Int128{2 * o + 1} * axis.in / (Int128{2} * axis.out));
  });
}

}  // namespace

std::vector<int64_t> NearestBounds(const NearestAxis& axis, IndexRule rule) {
  switch (rule) {
    case IndexRule::kAscend:
      return std::max(axis.in, axis.out) > kFloatExtent ? AscendBounds<double>(axis)
                                                        : AscendBounds<float>(axis);
    case IndexRule::kTorchCpu:
      return TorchCpuBounds(axis);
    case IndexRule::kExact:
      return ExactBounds(axis);
  }
  return {};
}

std::vector<int64_t> NearestSources(const std::vector<int64_t>& bounds) {
  std::vector<int64_t> sources(static_cast<size_t>(bounds.back()));
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    std::fill(sources.begin() + bounds[i], sources.begin() + bounds[i + 1],
              static_cast<int64_t>(i));
  }
  return sources;
}

}  // namespace opscv::taps
