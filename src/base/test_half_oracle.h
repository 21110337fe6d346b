// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 by arithmetic in double instead of by their bits: what half.h and the vector
// conversions are judged by.
#ifndef OPSCV_BASE_TEST_HALF_ORACLE_H_
#define OPSCV_BASE_TEST_HALF_ORACLE_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/half.h"

namespace opscv::testing {

struct HalfFormat {
  int fraction_bits;
  int exponent_bits;
  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
inline constexpr HalfFormat kFloat16Format{10, 5};
inline constexpr HalfFormat kBFloat16Format{7, 8};

inline HalfFormat FormatOf(Float16) { return kFloat16Format; }
inline HalfFormat FormatOf(BFloat16) { return kBFloat16Format; }

// The value of a pattern: sign, exponent and fraction put together by ldexp.
inline double OracleValue(HalfFormat format, uint32_t bits) {
  const int fraction = static_cast<int>(bits & ((1u << format.fraction_bits) - 1));
  const int exponent_mask = (1 << format.exponent_bits) - 1;
  const int exponent = static_cast<int>(bits >> format.fraction_bits) & exponent_mask;
  double magnitude = 0;
  if (exponent == exponent_mask) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, 1 - format.bias() - format.fraction_bits);
  } else {
    magnitude = std::ldexp(fraction + (1 << format.fraction_bits),
                           exponent - format.bias() - format.fraction_bits);
  }
  return (bits & 0x8000u) != 0 ? -magnitude : magnitude;
}

// x rounded to the format, to nearest with ties to even.
inline double OracleRound(HalfFormat format, double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), 1 - format.bias());
  const int unit = exponent - format.fraction_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  const double limit = std::ldexp(1.0, format.bias() + 1);
  return std::fabs(rounded) >= limit ? std::copysign(std::numeric_limits<double>::infinity(), x)
                                     : rounded;
}

// Whether two numbers are the same, the sign of zero included; all NaN count as one.
inline bool SameValue(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

// Floats around everything that rounding to the format decides: all its values, the midpoints
// between neighbours, the floats next to both, the ends of float's range, NaN.
inline std::vector<float> FloatsAroundHalves(HalfFormat format) {
  std::vector<float> values;
  const auto add = [&](double x) {
    const auto centre = static_cast<float>(x);
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float v :
         {centre, std::nextafter(centre, infinity), std::nextafter(centre, -infinity)}) {
      values.push_back(v);
      values.push_back(-v);
    }
  };
  const uint32_t infinity_bits = ((1u << format.exponent_bits) - 1) << format.fraction_bits;
  for (uint32_t bits = 0; bits < infinity_bits; ++bits) {
    const double here = OracleValue(format, bits);
    const double above = bits + 1 == infinity_bits ? std::ldexp(1.0, format.bias() + 1)
                                                   : OracleValue(format, bits + 1);
    add(here);
    add((here + above) / 2);
  }
  for (const uint32_t bits : {0x00000001u, 0x007FFFFFu, 0x00800000u, 0x7F7FFFFFu, 0x7F800000u,
                              0x7F800001u, 0x7FBFFFFFu, 0x7FC00000u, 0x7FFFFFFFu}) {
    values.push_back(std::bit_cast<float>(bits));
    values.push_back(std::bit_cast<float>(bits | 0x80000000u));
  }
  return values;
}

}  // namespace opscv::testing

#endif  // OPSCV_BASE_TEST_HALF_ORACLE_H_
