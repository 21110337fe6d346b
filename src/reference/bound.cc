// SPDX-License-Identifier: Apache-2.0
#include "reference/bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace opscv::reference {
namespace {

// Stored fraction bits, and exponents of the smallest and largest normal numbers.
struct Format {
  int fraction_bits;
  int min_exponent;
  int max_exponent;
};

Format FormatOf(DType type) {
  switch (type) {
    case DType::kFloat32:
      return {23, -126, 127};
    case DType::kFloat16:
      return {10, -14, 15};
    case DType::kBFloat16:
      return {7, -126, 127};
    default:
      return {52, -1022, 1023};
  }
}

// From here on, rounding to nearest gives infinity.
double OverflowThreshold(DType type) {
  const Format f = FormatOf(type);
  if (type == DType::kFloat64) return std::numeric_limits<double>::infinity();
  return std::ldexp(2.0, f.max_exponent) - std::ldexp(0.5, f.max_exponent - f.fraction_bits);
}

bool IsHalf(DType type) { return type == DType::kFloat16 || type == DType::kBFloat16; }

// The bound of the arithmetic, before a half type rounds the result.
double ArithmeticBound(DType type, double magnitude, const PassTaps& taps) {
  const double infinity = std::numeric_limits<double>::infinity();
  const bool in_double = type == DType::kFloat64;
  const double largest =
      in_double ? std::numeric_limits<double>::max() : double{std::numeric_limits<float>::max()};
  if (!(std::max(magnitude, taps.peak) < largest)) return infinity;
  double units = 0;
  double count = 1;
  for (int p = 0; p < taps.passes; ++p) {
    units += static_cast<double>(3 + std::min<int64_t>(taps.taps[p], 32));
    count *= static_cast<double>(taps.taps[p]);
  }
  if (in_double) {
    units += static_cast<double>(taps.largest_extent);
    return units * std::ldexp(magnitude, -52) + count * std::ldexp(1.0, -1074);
  }
  return units * std::ldexp(magnitude, -24) + count * std::ldexp(1.0, -149);
}

}  // namespace

double HalfUnitInLastPlace(DType type, double value) {
  const Format f = FormatOf(type);
  const int exponent =
      std::clamp(value == 0 ? f.min_exponent : std::ilogb(value), f.min_exponent, f.max_exponent);
  return std::ldexp(0.5, exponent - f.fraction_bits);
}

double BoundFor(DType type, double value, double magnitude, const PassTaps& taps) {
  if (taps.passes == 0) return 0;
  const double bound = ArithmeticBound(type, magnitude, taps);
  if (!IsHalf(type) || std::isinf(bound)) return bound;
  // Next to a power of two, or where terms cancel, the sum that is rounded may have a coarser unit
  // than the true value.
  return bound + HalfUnitInLastPlace(type, std::fabs(value) + bound);
}

double ErrorFraction(DType type, double actual, double value, double magnitude,
                     const PassTaps& taps) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (!std::isfinite(value)) return std::isfinite(actual) ? infinity : 0;
  const double bound = BoundFor(type, value, magnitude, taps);
  if (std::isinf(bound)) return 0;
  if (!std::isfinite(actual)) {
    const double reach = std::fabs(value) + ArithmeticBound(type, magnitude, taps);
    const bool overflows = std::isinf(actual) && std::signbit(actual) == std::signbit(value) &&
                           taps.passes > 0 && reach >= OverflowThreshold(type);
    return overflows ? 0 : infinity;
  }
  const double error = std::fabs(actual - value);
  return error == 0 ? 0 : error / bound;
}

}  // namespace opscv::reference
