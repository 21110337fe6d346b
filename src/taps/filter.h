// SPDX-License-Identifier: Apache-2.0
// Filter shapes: what weight a sample at a distance gets. Knows nothing of axes or tables.
#ifndef OPSCV_TAPS_FILTER_H_
#define OPSCV_TAPS_FILTER_H_

#include <cstdint>

namespace opscv::taps {

enum class Filter : uint8_t {
  kCubicAntialias,  // Keys' cubic convolution, a = -0.5, widened when the resampling shrinks
};

// Half the width of the filter at scale 1: it is zero at this distance and beyond.
[[nodiscard]] double SupportOf(Filter filter);

// The weight at distance `d` (any sign, in samples of the filter's own scale), before
// normalisation.
[[nodiscard]] double Weight(Filter filter, double d);

// Weights smaller than this are zeros of the filter that rounding has blurred; they are dropped, so
// that a NaN or infinity reaches only samples that depend on it (docs/dropped_taps.md).
inline constexpr double kDropBelow = 1e-9;

}  // namespace opscv::taps

#endif  // OPSCV_TAPS_FILTER_H_
