// SPDX-License-Identifier: Apache-2.0
#include "base/checked_math.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/test_random.h"

namespace opscv {
namespace {

__extension__ using Int128 = __int128;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

std::optional<int64_t> Fit(Int128 value) {
  if (value > kMax || value < kMin) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::optional<int64_t> Product(std::vector<int64_t> values) { return CheckedProduct(values); }

// Of any size: each number of bits is as likely.
int64_t AnyInt(testing::TracedRandom& random) {
  return static_cast<int64_t>(random.Bits()) >> random.Int(0, 63);
}

TEST(CheckedMath, AgreesWith128Bits) {
  testing::TracedRandom random;
  for (int i = 0; i < 20000; ++i) {
    const int64_t a = AnyInt(random);
    const int64_t b = AnyInt(random);
    EXPECT_EQ(CheckedMul(a, b), Fit(Int128{a} * b)) << a << " * " << b;
    EXPECT_EQ(CheckedAdd(a, b), Fit(Int128{a} + b)) << a << " + " << b;
  }
}

TEST(CheckedMath, Limits) {
  EXPECT_EQ(CheckedMul(kMin, -1), std::nullopt);
  EXPECT_EQ(CheckedMul(kMax, 1), kMax);
  EXPECT_EQ(CheckedMul(int64_t{1} << 32, int64_t{1} << 31), std::nullopt);
  EXPECT_EQ(CheckedMul(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_EQ(CheckedAdd(kMax, 1), std::nullopt);
  EXPECT_EQ(CheckedAdd(kMin, -1), std::nullopt);
  EXPECT_EQ(CheckedAdd(kMax, kMin), -1);
}

TEST(CheckedProduct, OfNothingIsOne) { EXPECT_EQ(Product({}), 1); }

TEST(CheckedProduct, OverflowsWhereItMust) {
  EXPECT_EQ(Product({int64_t{1} << 31, int64_t{1} << 31, 1}), int64_t{1} << 62);
  EXPECT_EQ(Product({int64_t{1} << 31, int64_t{1} << 31, 2}), std::nullopt);
  EXPECT_EQ(Product({3, 5, 7}), 105);
}

TEST(CheckedProduct, AZeroAnywhereWins) {
  EXPECT_EQ(Product({kMax, kMax, 0}), 0);
  EXPECT_EQ(Product({0, kMax, kMax}), 0);
}

TEST(CeilDiv, RoundsUp) {
  for (int64_t a = 0; a < 50; ++a) {
    for (int64_t b = 1; b < 20; ++b) {
      EXPECT_GE(CeilDiv(a, b) * b, a);
      EXPECT_LT((CeilDiv(a, b) - 1) * b, a);
      EXPECT_EQ(RoundUp(a, b), CeilDiv(a, b) * b);
    }
  }
}

}  // namespace
}  // namespace opscv
