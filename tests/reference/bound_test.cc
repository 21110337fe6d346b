// SPDX-License-Identifier: Apache-2.0
#include "reference/bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace opscv::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

PassTaps Taps(int64_t first, int64_t second, int64_t extent = 8) {
  return {.passes = 2, .taps = {first, second}, .largest_extent = extent};
}

TEST(BoundFor, Float32) {
  EXPECT_DOUBLE_EQ(BoundFor(DType::kFloat32, 0.1, 3, Taps(4, 4)), 14 * 3 * std::ldexp(1, -24));
  EXPECT_DOUBLE_EQ(BoundFor(DType::kFloat32, 0.1, 1, Taps(100, 33)), 70 * std::ldexp(1, -24));
  EXPECT_EQ(BoundFor(DType::kFloat32, 0, 0, Taps(4, 6)), std::ldexp(24, -149));
  EXPECT_EQ(BoundFor(DType::kFloat32, 0, 0, Taps(0, 6)), 0) << "an empty window is exactly zero";
}

TEST(BoundFor, Float64CountsTheLargestExtent) {
  EXPECT_DOUBLE_EQ(BoundFor(DType::kFloat64, 1, 2, Taps(4, 1, 1000)),
                   (11 + 1000) * std::ldexp(2, -52));
}

TEST(BoundFor, CopiesAreExact) {
  for (DType type : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    EXPECT_EQ(BoundFor(type, 3, 3, PassTaps{}), 0);
    EXPECT_EQ(ErrorFraction(type, 3, 3, 3, PassTaps{}), 0);
    EXPECT_EQ(ErrorFraction(type, std::nextafter(3, 4), 3, 3, PassTaps{}), kInfinity);
  }
}

TEST(BoundFor, HalfTypesAddHalfAUnit) {
  const double sum = 14 * std::ldexp(1, -24);
  EXPECT_NEAR(BoundFor(DType::kFloat16, 1.5, 1, Taps(4, 4)), sum + std::ldexp(1, -11), 1e-15);
  EXPECT_NEAR(BoundFor(DType::kBFloat16, 1.5, 1, Taps(4, 4)), sum + std::ldexp(1, -8), 1e-15);
}

TEST(BoundFor, PromisesNothingOnceSumsLeaveFloat) {
  EXPECT_EQ(BoundFor(DType::kFloat32, 1, 3.5e38, Taps(4, 4)), kInfinity);
  EXPECT_LT(BoundFor(DType::kFloat64, 1, 3.5e38, Taps(4, 4)), kInfinity);
  EXPECT_EQ(ErrorFraction(DType::kFloat32, std::nan(""), 1, 3.5e38, Taps(4, 4)), 0);
}

TEST(HalfUnitInLastPlace, NormalSubnormalAndTopOfTheRange) {
  EXPECT_EQ(HalfUnitInLastPlace(DType::kFloat16, 1), std::ldexp(1, -11));
  EXPECT_EQ(HalfUnitInLastPlace(DType::kFloat16, -1.99), std::ldexp(1, -11));
  EXPECT_EQ(HalfUnitInLastPlace(DType::kFloat16, 2), std::ldexp(1, -10));
  EXPECT_EQ(HalfUnitInLastPlace(DType::kFloat16, std::ldexp(1, -14)), std::ldexp(1, -25));
  EXPECT_EQ(HalfUnitInLastPlace(DType::kFloat16, std::ldexp(1, -20)), std::ldexp(1, -25));
  EXPECT_EQ(HalfUnitInLastPlace(DType::kFloat16, 0), std::ldexp(1, -25));
  EXPECT_EQ(HalfUnitInLastPlace(DType::kFloat16, 1e9), 16);
  EXPECT_EQ(HalfUnitInLastPlace(DType::kBFloat16, 1), std::ldexp(1, -8));
  EXPECT_EQ(HalfUnitInLastPlace(DType::kBFloat16, 0), std::ldexp(1, -134));
  EXPECT_EQ(HalfUnitInLastPlace(DType::kFloat32, 1), std::ldexp(1, -24));
  EXPECT_EQ(HalfUnitInLastPlace(DType::kFloat64, 1), std::ldexp(1, -53));
}

TEST(ErrorFraction, TellsRoundingFromTruncation) {
  // 1 + 0.6 units of float16: rounds up; cutting the tail off is 0.6 units away.
  const double unit = std::ldexp(1, -10);
  const double value = 1 + 0.6 * unit;
  EXPECT_LT(ErrorFraction(DType::kFloat16, 1 + unit, value, 1, Taps(2, 2)), 1);
  EXPECT_GT(ErrorFraction(DType::kFloat16, 1, value, 1, Taps(2, 2)), 1);
}

TEST(ErrorFraction, OverflowOfHalfTypes) {
  const PassTaps taps = Taps(2, 2);
  EXPECT_EQ(ErrorFraction(DType::kFloat16, kInfinity, 65521, 65521, taps), 0);
  EXPECT_EQ(ErrorFraction(DType::kFloat16, -kInfinity, 65521, 65521, taps), kInfinity);
  EXPECT_EQ(ErrorFraction(DType::kFloat16, std::nan(""), 65521, 65521, taps), kInfinity);
  EXPECT_EQ(ErrorFraction(DType::kFloat16, kInfinity, 65510, 65510, taps), kInfinity);
  EXPECT_LE(ErrorFraction(DType::kFloat16, 65504, 65510, 65510, taps), 1);
  EXPECT_GT(ErrorFraction(DType::kFloat16, 65504, 66000, 66000, taps), 1);
  EXPECT_EQ(ErrorFraction(DType::kFloat16, kInfinity, 65519.99, 65520, taps), 0) << "within bound";
  EXPECT_EQ(ErrorFraction(DType::kBFloat16, kInfinity, 3.4e38, 3.4e38, taps), 0);
  EXPECT_EQ(ErrorFraction(DType::kBFloat16, kInfinity, 3.38e38, 3.38e38, taps), kInfinity);
}

TEST(ErrorFraction, NonFiniteValues) {
  const PassTaps taps = Taps(2, 2);
  const double nan = std::nan("");
  EXPECT_EQ(ErrorFraction(DType::kFloat32, nan, nan, nan, taps), 0);
  EXPECT_EQ(ErrorFraction(DType::kFloat32, nan, kInfinity, kInfinity, taps), 0);
  EXPECT_EQ(ErrorFraction(DType::kFloat32, 1, nan, nan, taps), kInfinity);
  EXPECT_EQ(ErrorFraction(DType::kFloat32, nan, 1, 1, taps), kInfinity);
}

}  // namespace
}  // namespace opscv::reference
