// SPDX-License-Identifier: Apache-2.0
#include "reference/axis_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>

namespace opscv::reference {
namespace {

using Indices = std::vector<int64_t>;

constexpr IndexRule kRules[] = {IndexRule::kAscend, IndexRule::kTorchCpu, IndexRule::kExact};

// Every output sample has one source, sources ascend, and the bounds tell the same story.
bool IsPartition(int64_t in, int64_t out, double scale, IndexRule rule) {
  const Indices bounds = NearestBounds(in, out, scale, rule);
  if (static_cast<int64_t>(bounds.size()) != in + 1 || bounds.front() != 0) return false;
  if (bounds.back() != out || !std::is_sorted(bounds.begin(), bounds.end())) return false;
  Indices from_bounds;
  for (int64_t i = 0; i < in; ++i) from_bounds.resize(bounds[i + 1], i);
  return NearestSources(in, out, scale, rule) == from_bounds;
}

void ExpectPartition(int64_t in, int64_t out, double scale, IndexRule rule) {
  EXPECT_TRUE(IsPartition(in, out, scale, rule))
      << "in " << in << " out " << out << " scale " << std::hexfloat << scale << " rule "
      << static_cast<int>(rule);
}

TEST(CubicKernel, IsTheDefinitionsPolynomials) {
  const double a = -0.5;
  for (double d = 0; d < 2.5; d += 1.0 / 1024) {
    const double near = (a + 2) * d * d * d - (a + 3) * d * d + 1;
    const double far = a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
    EXPECT_NEAR(CubicKernel(d), d <= 1 ? near : d < 2 ? far : 0, 4e-15) << d;
    EXPECT_EQ(CubicKernel(-d), CubicKernel(d)) << d;
  }
}

TEST(CubicTaps, AlignCornersToOneSample) {
  const TapTable table = CubicTaps(5, 1, true, 0);
  EXPECT_EQ(table.index, (Indices{0, 1}));
  EXPECT_EQ(table.weight, (std::vector<double>{1.125, -0.125}));
  EXPECT_EQ(CubicTaps(1, 1, true, 0).weight, std::vector<double>{1.0});
}

TEST(CubicTaps, AlignCornersWinsOverScale) {
  EXPECT_EQ(CubicTaps(8, 4, true, 0.5).weight, CubicTaps(8, 4, true, 0).weight);
  EXPECT_NE(CubicTaps(8, 4, false, 0.4).weight, CubicTaps(8, 4, false, 0).weight);
}

// Enlarging by 2 puts centres at quarters: weights are known fractions of 128.
TEST(CubicTaps, EnlargeByTwo) {
  const TapTable table = CubicTaps(8, 16, false, 0);
  const Indices row(table.index.begin() + table.begin[6], table.index.begin() + table.begin[7]);
  EXPECT_EQ(row, (Indices{1, 2, 3, 4}));
  const double expected[] = {-3 / 128.0, 29 / 128.0, 111 / 128.0, -9 / 128.0};
  for (int k = 0; k < 4; ++k) EXPECT_DOUBLE_EQ(table.weight[table.begin[6] + k], expected[k]);
}

TEST(CubicTaps, ZerosOfTheKernelAreDroppedInsideARow) {
  // Three to one: centre 1.5 * 3, so distances are whole thirds and +-1 falls on samples.
  const TapTable table = CubicTaps(27, 9, false, 0);
  const Indices row(table.index.begin() + table.begin[4], table.index.begin() + table.begin[5]);
  EXPECT_EQ(row, (Indices{8, 9, 11, 12, 13, 14, 15, 17, 18}));
}

TEST(CubicTaps, RowsSumToOneAndStayInside) {
  const int64_t sizes[] = {1, 2, 3, 5, 8, 33, 100, 257};
  for (int64_t in : sizes) {
    for (int64_t out : sizes) {
      for (bool align : {false, true}) {
        SCOPED_TRACE(testing::Message() << in << " -> " << out << " align " << align);
        const TapTable table = CubicTaps(in, out, align, 0);
        ASSERT_EQ(static_cast<int64_t>(table.begin.size()), out + 1);
        for (int64_t o = 0; o < out; ++o) {
          double sum = 0;
          ASSERT_LT(table.begin[o], table.begin[o + 1]);
          for (int64_t k = table.begin[o]; k < table.begin[o + 1]; ++k) {
            ASSERT_TRUE(k == table.begin[o] || table.index[k - 1] < table.index[k]);
            ASSERT_TRUE(table.index[k] >= 0 && table.index[k] < in);
            sum += table.weight[k];
          }
          EXPECT_NEAR(sum, 1, 1e-14);
        }
      }
    }
  }
}

TEST(CubicTaps, IdentityIsOneTapOfWeightOne) {
  const TapTable table = CubicTaps(1000, 1000, false, 1.0);
  for (int64_t o = 0; o < 1000; ++o) ASSERT_EQ(table.index[o], o);
  EXPECT_EQ(table.weight, std::vector<double>(1000, 1.0));
}

TEST(CubicTaps, LongAxesStaySparse) {
  EXPECT_LE(CubicTaps(12, int64_t{1} << 20, false, 0).weight.size(), size_t{4} << 20);
  EXPECT_LE(CubicTaps(int64_t{1} << 20, 20972, false, 0).weight.size(), size_t{202} * 20972);
}

TEST(NearestSources, TieSample) {
  EXPECT_EQ(NearestSources(2, 41, 0, IndexRule::kAscend)[20], 1);
  EXPECT_EQ(NearestSources(2, 41, 0, IndexRule::kTorchCpu)[20], 0);
  EXPECT_EQ(NearestSources(2, 41, 0, IndexRule::kExact)[20], 1);
}

TEST(NearestSources, KnownMaps) {
  EXPECT_EQ(NearestSources(4, 6, 0, IndexRule::kTorchCpu), (Indices{0, 1, 1, 2, 3, 3}));
  EXPECT_EQ(NearestSources(4, 6, 1.6, IndexRule::kTorchCpu), (Indices{0, 0, 1, 2, 2, 3}));
  EXPECT_EQ(NearestSources(26, 11, 0, IndexRule::kTorchCpu)[5], 12);
  EXPECT_EQ(NearestSources(14, 23, 0, IndexRule::kTorchCpu)[11], 6);
  EXPECT_EQ(NearestBounds(3, 7, 0, IndexRule::kExact), (Indices{0, 2, 5, 7}));
}

// The published figures: 3.3 % and 1.3 % of all pairs of sizes 1..129.
TEST(NearestSources, HowOftenRulesDiffer) {
  int torch_differs = 0;
  int exact_differs = 0;
  for (int64_t in = 1; in <= 129; ++in) {
    for (int64_t out = 1; out <= 129; ++out) {
      const Indices ascend = NearestSources(in, out, 0, IndexRule::kAscend);
      torch_differs += ascend != NearestSources(in, out, 0, IndexRule::kTorchCpu);
      exact_differs += ascend != NearestSources(in, out, 0, IndexRule::kExact);
    }
  }
  EXPECT_NEAR(100.0 * torch_differs / (129 * 129), 3.3, 0.05) << torch_differs << " pairs";
  EXPECT_NEAR(100.0 * exact_differs / (129 * 129), 1.3, 0.05) << exact_differs << " pairs";
}

TEST(NearestSources, EveryOutputHasOneInput) {
  for (IndexRule rule : kRules) {
    for (int64_t in = 1; in <= 129; ++in) {
      for (int64_t out = 1; out <= 129; ++out) ExpectPartition(in, out, 0, rule);
    }
  }
}

// Scales with out == floor(in * scale), at both ends of that range and inside it; also the float
// next to out/in, whose product may lie just below the whole number.
TEST(NearestSources, EveryOutputHasOneInputWithScales) {
  const unsigned seed = 20240611;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> fraction(0, 1);
  for (int64_t in = 1; in <= 129; ++in) {
    for (int64_t out = 1; out <= 129; ++out) {
      const double ratio = static_cast<double>(out) / static_cast<double>(in);
      const double top = std::nextafter(static_cast<double>(out + 1) / in, 0.0);
      const double inside = (static_cast<double>(out) + fraction(random)) / in;
      for (double scale : {ratio, double{static_cast<float>(ratio)}, inside, top}) {
        const double product = static_cast<double>(in) * scale;
        const bool close = product < out && product >= out * (1 - std::ldexp(1.0, -23));
        if (std::floor(product) != out && !close) continue;
        ExpectPartition(in, out, scale, IndexRule::kAscend);
        ExpectPartition(in, out, scale, IndexRule::kTorchCpu);
      }
    }
  }
}

// Up to 2^21 the float product still resolves halves; from there on double takes over.
TEST(NearestSources, EveryOutputHasOneInputOnLongAxes) {
  const int64_t limit = int64_t{1} << 21;
  for (IndexRule rule : kRules) {
    ExpectPartition(limit, limit - 1, 0, rule);
    ExpectPartition(limit / 3, limit, 0, rule);
    ExpectPartition(limit + 1, limit + 3, 0, rule);
    ExpectPartition(7, 2 * limit + 9, 0, rule);
    ExpectPartition(2 * limit + 9, 1001, 0, rule);
  }
}

TEST(NearestSources, AscendInDoubleBeyondItsFloatLimit) {
  const int64_t in = (int64_t{1} << 24) + 1;
  const int64_t out = in - 1;
  EXPECT_TRUE(NearestSources(in, out, 0, IndexRule::kAscend) ==
              NearestSources(in, out, 0, IndexRule::kExact));
}

TEST(NearestSources, IdentityAtAnyLengthAndRule) {
  const int64_t n = (int64_t{1} << 24) + 9;
  Indices identity(n);
  std::iota(identity.begin(), identity.end(), 0);
  for (IndexRule rule : kRules) {
    EXPECT_TRUE(NearestSources(n, n, rule == IndexRule::kExact ? 0 : 1, rule) == identity);
  }
}

TEST(NearestSources, RefusesWhatARuleCannotTake) {
  EXPECT_THROW(NearestSources(4, 6, 1.5, IndexRule::kExact), std::invalid_argument);
  EXPECT_THROW(NearestBounds(4, 6, 1.5, IndexRule::kExact), std::invalid_argument);
  EXPECT_THROW(NearestSources(0, 6, 0, IndexRule::kAscend), std::invalid_argument);
  EXPECT_THROW(CubicTaps(4, 0, false, 0), std::invalid_argument);
}

// The product in * scale lies less than 2^-23 below out, which is accepted, and half a sample more
// or less decides about the last output sample.
TEST(NearestSources, LastOutputSampleIsRead) {
  ExpectPartition(7155568, 7978703, 0x1.1d72df4fb3f42p+0, IndexRule::kAscend);
  ExpectPartition(13658185, 11289461, 0x1.a7345258cbac0p-1, IndexRule::kAscend);
}

}  // namespace
}  // namespace opscv::reference
