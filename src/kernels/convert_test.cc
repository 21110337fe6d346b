// SPDX-License-Identifier: Apache-2.0
// The vector conversions of convert-inl.h, through the kernel that sums one row: it widens what it
// loads and narrows what it stores.
#include <gtest/gtest.h>

#include <limits>

#include "kernels/run_sum/run_sum.h"
#include "kernels/test_kernels.h"

namespace opscv::kernels {
namespace {

using opscv::testing::FloatsAroundHalves;
using opscv::testing::FormatOf;
using opscv::testing::OracleRound;
using opscv::testing::OracleValue;
using testing::SameValue;
using testing::TracedRandom;

OPSCV_TEST_ON_EACH_TARGET(ConvertTest);

// `src` converted, in rows of `width` columns so that any part of a vector comes to convert.
template <typename Dst, typename Src>
std::vector<Dst> Convert(const std::vector<Src>& src, size_t width) {
  const RunRowsKernel kernel = SelectRunRows({DTypeOf<Src>(), DTypeOf<Dst>()});
  std::vector<Dst> dst(src.size());
  for (size_t x = 0; x < src.size(); x += width) {
    kernel({.src = &src[x],
            .outer = 1,
            .outer_bytes = 0,
            .inner = 1,
            .inner_bytes = 0,
            .src_step_bytes = sizeof(Src),
            .dst = &dst[x],
            .dst_step_bytes = sizeof(Dst),
            .n = std::min(width, src.size() - x)});
  }
  return dst;
}

template <typename Half>
std::vector<Half> AllPatterns() {
  std::vector<Half> halves;
  for (uint32_t bits = 0; bits <= 0xFFFF; ++bits) halves.push_back({static_cast<uint16_t>(bits)});
  return halves;
}

constexpr size_t kWholeVectors = size_t{1} << 20;
constexpr size_t kPartOfAVector = 3;

template <typename Half>
void CheckWiden(size_t width) {
  const std::vector<float> wide = Convert<float>(AllPatterns<Half>(), width);
  for (uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    ASSERT_TRUE(SameValue(static_cast<double>(wide[bits]), OracleValue(FormatOf(Half{}), bits)))
        << "pattern " << bits << " became " << wide[bits];
  }
}

template <typename Half>
void CheckNarrow(const std::vector<float>& floats, size_t width) {
  const std::vector<Half> halves = Convert<Half>(floats, width);
  for (size_t i = 0; i < floats.size(); ++i) {
    const double expected = OracleRound(FormatOf(Half{}), static_cast<double>(floats[i]));
    ASSERT_TRUE(SameValue(OracleValue(FormatOf(Half{}), halves[i].bits), expected))
        << std::hexfloat << floats[i] << " became pattern " << halves[i].bits;
  }
}

template <typename Half>
void CheckBackAndForth() {
  const std::vector<Half> halves = AllPatterns<Half>();
  const std::vector<Half> back = Convert<Half>(halves, kWholeVectors);
  for (uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    if (std::isnan(OracleValue(FormatOf(Half{}), bits))) {
      ASSERT_TRUE(std::isnan(OracleValue(FormatOf(Half{}), back[bits].bits))) << "pattern " << bits;
    } else {
      ASSERT_EQ(back[bits].bits, bits);
    }
  }
}

std::vector<float> RandomFloats() {
  TracedRandom random;
  std::vector<float> floats(200003);
  for (float& x : floats) x = std::bit_cast<float>(static_cast<uint32_t>(random.Bits()));
  return floats;
}

// What comes of tensors of bfloat16: NaNs keep no bit that narrowing cuts off.
std::vector<float> WithoutLowBitsOfNans(std::vector<float> floats) {
  for (float& x : floats) {
    if (std::isnan(x)) x = std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xFFFF0000u);
  }
  return floats;
}

TEST_P(ConvertTest, EveryFloat16Widens) {
  CheckWiden<Float16>(kWholeVectors);
  CheckWiden<Float16>(kPartOfAVector);
}

TEST_P(ConvertTest, EveryBFloat16Widens) {
  CheckWiden<BFloat16>(kWholeVectors);
  CheckWiden<BFloat16>(kPartOfAVector);
}

TEST_P(ConvertTest, EveryHalfComesBack) {
  CheckBackAndForth<Float16>();
  CheckBackAndForth<BFloat16>();
}

TEST_P(ConvertTest, NarrowsToFloat16) {
  CheckNarrow<Float16>(FloatsAroundHalves(opscv::testing::kFloat16Format), kWholeVectors);
  CheckNarrow<Float16>(FloatsAroundHalves(opscv::testing::kFloat16Format), kPartOfAVector);
  CheckNarrow<Float16>(RandomFloats(), kWholeVectors);
}

TEST_P(ConvertTest, NarrowsToBFloat16) {
  const std::vector<float> around =
      WithoutLowBitsOfNans(FloatsAroundHalves(opscv::testing::kBFloat16Format));
  CheckNarrow<BFloat16>(around, kWholeVectors);
  CheckNarrow<BFloat16>(around, kPartOfAVector);
  CheckNarrow<BFloat16>(WithoutLowBitsOfNans(RandomFloats()), kWholeVectors);
}

// A payload in the bits that narrowing cuts off must not leave an infinity behind.
TEST_P(ConvertTest, NanOfAnyPayloadStaysNanInFloat16) {
  std::vector<float> floats;
  for (uint32_t payload = 1; payload < 0x00800000u; payload = payload * 3 / 2 + 1) {
    floats.push_back(std::bit_cast<float>(0x7F800000u | payload));
    floats.push_back(std::bit_cast<float>(0xFF800000u | payload));
  }
  const std::vector<Float16> halves = Convert<Float16>(floats, kWholeVectors);
  for (size_t i = 0; i < floats.size(); ++i) {
    EXPECT_TRUE(std::isnan(ToFloat(halves[i]))) << std::bit_cast<uint32_t>(floats[i]);
  }
}

// Every NaN that a bfloat16 widens to, and those that arithmetic makes.
TEST_P(ConvertTest, NanOfArithmeticStaysNanInBFloat16) {
  std::vector<float> floats;
  for (uint32_t payload = 1; payload < 0x80u; ++payload) {
    floats.push_back(std::bit_cast<float>((0x7F80u | payload) << 16));
    floats.push_back(std::bit_cast<float>((0xFF80u | payload) << 16));
  }
  const volatile float infinity = std::numeric_limits<float>::infinity();  // not summed beforehand
  const volatile float zero = 0.0F;
  floats.push_back(infinity - infinity);
  floats.push_back(infinity * zero);
  floats.push_back(-(infinity * zero));
  for (const size_t width : {kWholeVectors, kPartOfAVector}) {
    const std::vector<BFloat16> halves = Convert<BFloat16>(floats, width);
    for (size_t i = 0; i < floats.size(); ++i) {
      EXPECT_TRUE(std::isnan(ToFloat(halves[i]))) << std::bit_cast<uint32_t>(floats[i]);
    }
  }
}

// A NaN made by a kernel from infinities of both signs, with all its vector's lanes.
TEST_P(ConvertTest, NanMadeByAKernelStaysNanInBFloat16) {
  std::vector<BFloat16> infinities(2 * 40);
  for (size_t i = 0; i < infinities.size(); ++i) infinities[i].bits = i < 40 ? 0x7F80u : 0xFF80u;
  std::vector<BFloat16> sums(40);
  SelectRunRows({DType::kBFloat16, DType::kBFloat16})({.src = infinities.data(),
                                                       .outer = 1,
                                                       .outer_bytes = 0,
                                                       .inner = 2,
                                                       .inner_bytes = 80,
                                                       .src_step_bytes = 2,
                                                       .dst = sums.data(),
                                                       .dst_step_bytes = 2,
                                                       .n = 40});
  for (const BFloat16 sum : sums) EXPECT_TRUE(std::isnan(ToFloat(sum))) << sum.bits;
}

}  // namespace
}  // namespace opscv::kernels
