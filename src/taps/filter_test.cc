// SPDX-License-Identifier: Apache-2.0
#include "taps/filter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace opscv::taps {
namespace {

constexpr Filter kCubic = Filter::kCubicAntialias;

// The definition, term by term in a wider type.
long double Definition(long double d) {
  const long double a = -0.5L;
  if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  if (d < 2) return a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
  return 0;
}

TEST(Filter, CubicIsTheDefinition) {
  for (int i = 0; i <= 3000; ++i) {
    const double d = static_cast<double>(i) / 1250.0;
    EXPECT_NEAR(Weight(kCubic, d), static_cast<double>(Definition(d)), 4e-16) << d;
    EXPECT_EQ(Weight(kCubic, -d), Weight(kCubic, d)) << d;
  }
}

TEST(Filter, CubicHasItsZerosAndItsPeak) {
  EXPECT_EQ(Weight(kCubic, 0.0), 1.0);
  for (const double d : {1.0, 2.0, 2.5, 1e300}) EXPECT_EQ(Weight(kCubic, d), 0.0) << d;
  EXPECT_EQ(Weight(kCubic, 0.5), 0.5625);
  EXPECT_EQ(Weight(kCubic, 1.5), -0.0625);
}

TEST(Filter, IsZeroFromItsSupportOn) {
  const double support = SupportOf(kCubic);
  EXPECT_EQ(Weight(kCubic, support), 0.0);
  EXPECT_NE(Weight(kCubic, support - 1e-3), 0.0);
}

// Far beneath any weight that matters, far above what rounding leaves of a zero.
TEST(Filter, DropsZerosOnly) {
  EXPECT_LT(std::fabs(Weight(kCubic, std::nextafter(1.0, 2.0))), kDropBelow);
  EXPECT_GT(std::fabs(Weight(kCubic, 1.0 + 1e-8)), kDropBelow);
}

}  // namespace
}  // namespace opscv::taps
