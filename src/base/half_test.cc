// SPDX-License-Identifier: Apache-2.0
#include "base/half.h"

#include <gtest/gtest.h>

#include "base/test_half_oracle.h"
#include "base/test_random.h"

namespace opscv {
namespace {

using testing::FloatsAroundHalves;
using testing::FormatOf;
using testing::OracleRound;
using testing::OracleValue;
using testing::SameValue;

Float16 NarrowTo(float x, Float16) { return ToFloat16(x); }
BFloat16 NarrowTo(float x, BFloat16) { return ToBFloat16(x); }

template <typename Half>
class HalfTest : public ::testing::Test {};
using Halves = ::testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(HalfTest, Halves);

template <typename Half>
void ExpectNarrows(float x) {
  const double expected = OracleRound(FormatOf(Half{}), static_cast<double>(x));
  const Half half = NarrowTo(x, Half{});
  EXPECT_TRUE(SameValue(OracleValue(FormatOf(Half{}), half.bits), expected))
      << std::hexfloat << x << " became pattern " << half.bits << ", expected " << expected;
}

TYPED_TEST(HalfTest, EveryPatternWidensExactly) {
  for (uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const float wide = ToFloat(TypeParam{static_cast<uint16_t>(bits)});
    EXPECT_TRUE(SameValue(static_cast<double>(wide), OracleValue(FormatOf(TypeParam{}), bits)))
        << "pattern " << bits << " became " << wide;
  }
}

TYPED_TEST(HalfTest, EveryPatternComesBack) {
  for (uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const TypeParam half{static_cast<uint16_t>(bits)};
    const TypeParam back = NarrowTo(ToFloat(half), TypeParam{});
    if (std::isnan(OracleValue(FormatOf(TypeParam{}), bits))) {
      const uint32_t quiet = 1u << (FormatOf(TypeParam{}).fraction_bits - 1);
      EXPECT_EQ(back.bits, bits | quiet);
    } else {
      EXPECT_EQ(back.bits, bits);
    }
  }
}

TYPED_TEST(HalfTest, NarrowsToNearestEven) {
  for (const float x : FloatsAroundHalves(FormatOf(TypeParam{}))) ExpectNarrows<TypeParam>(x);
}

TYPED_TEST(HalfTest, NarrowsAnyFloat) {
  testing::TracedRandom random;
  for (int i = 0; i < 200000; ++i) {
    ExpectNarrows<TypeParam>(std::bit_cast<float>(static_cast<uint32_t>(random.Bits())));
  }
}

TEST(Half, OverflowStartsHalfWayBeyondTheLargest) {
  EXPECT_EQ(ToFloat16(65519.996F).bits, 0x7BFF);
  EXPECT_EQ(ToFloat16(65520.0F).bits, 0x7C00);
  EXPECT_EQ(ToFloat16(-65520.0F).bits, 0xFC00);
  EXPECT_EQ(ToBFloat16(std::numeric_limits<float>::max()).bits, 0x7F80);
  EXPECT_EQ(ToFloat16(0x1p-25F).bits, 0);  // half of the smallest, a tie with zero
  EXPECT_EQ(ToFloat16(std::nextafter(0x1p-25F, 1.0F)).bits, 1);
  EXPECT_EQ(ToFloat16(-0x1p-30F).bits, 0x8000);
}

}  // namespace
}  // namespace opscv
