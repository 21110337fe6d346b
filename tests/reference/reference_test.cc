// SPDX-License-Identifier: Apache-2.0
#include "reference/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

namespace opscv::reference {
namespace {

std::vector<double> Arange(int64_t count, double first) {
  std::vector<double> data(count);
  std::iota(data.begin(), data.end(), first);
  return data;
}

std::vector<double> Normal(int64_t count, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> data(count);
  for (double& v : data) v = normal(random);
  return data;
}

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Rows of the seed example, printed to six digits.
void ExpectRow(const Answer& answer, int row, std::array<double, 4> expected) {
  for (int w = 0; w < 4; ++w) {
    EXPECT_NEAR(answer.value[4 * row + w], expected[w], 5.1e-7) << "row " << row << " w " << w;
  }
}

TEST(Bicubic2dAAGrad, WorkedExampleAlignCorners) {
  const Bicubic2dAAProblem p{.in_h = 8,
                             .in_w = 4,
                             .out_h = 4,
                             .out_w = 2,
                             .align_corners = true,
                             .scales_h = 0.5,
                             .scales_w = 0.5};
  const Answer answer = UpsampleBicubic2dAAGrad(p, Arange(8, 0));
  ASSERT_EQ(answer.value.size(), 32u);
  ExpectRow(answer, 0, {-0.037380, -0.021394, 0.076689, 0.210637});
  ExpectRow(answer, 3, {0.137444, 0.293525, 0.637135, 1.051797});
  ExpectRow(answer, 7, {1.005456, 1.876058, 3.500808, 5.389207});
}

TEST(Bicubic2dAAGrad, WorkedExampleScales) {
  const Bicubic2dAAProblem p{
      .in_h = 8, .in_w = 4, .out_h = 4, .out_w = 2, .scales_h = 0.5, .scales_w = 0.5};
  const Answer answer = UpsampleBicubic2dAAGrad(p, Arange(8, 0));
  ASSERT_EQ(answer.value.size(), 32u);
  ExpectRow(answer, 0, {-0.045273, 0.011286, 0.156882, 0.167795});
  ExpectRow(answer, 7, {1.099957, 1.583169, 1.728765, 1.313024});
}

TEST(NearestExact3dGrad, WorkedExample) {
  const NearestExact3dProblem p{.batch = 4, .out = {2, 2, 2}};
  const Answer answer = UpsampleNearestExact3dGrad(p, Arange(32, 1));
  EXPECT_EQ(answer.value, (std::vector<double>{36, 100, 164, 228}));
  EXPECT_EQ(answer.magnitude, answer.value);
  const PassTaps taps = answer.TapsOf(3);
  EXPECT_EQ(taps.passes, 2);
  EXPECT_EQ(taps.taps, (std::array<int64_t, 2>{4, 2}));
  EXPECT_EQ(taps.largest_extent, 2);
}

TEST(NearestExact3d, CopiesTheSourceSample) {
  const NearestExact3dProblem p{.in = {2, 1, 3}, .out = {3, 2, 5}, .rule = IndexRule::kExact};
  const Answer answer = UpsampleNearestExact3d(p, Arange(6, 0));
  const int64_t source_d[] = {0, 1, 1};
  const int64_t source_w[] = {0, 0, 1, 2, 2};
  for (int64_t d = 0, e = 0; d < 3; ++d) {
    for (int64_t h = 0; h < 2; ++h) {
      for (int64_t w = 0; w < 5; ++w, ++e) {
        EXPECT_EQ(answer.value[e], 3 * source_d[d] + source_w[w]) << d << h << w;
        EXPECT_EQ(answer.TapsOf(e).passes, 0);
      }
    }
  }
}

// kAscend drops a lone scale, kTorchCpu keeps it.
TEST(NearestExact3d, LoneScale) {
  NearestExact3dProblem p{.in = {1, 1, 4}, .out = {1, 1, 6}, .scales = {0, 0, 1.6}};
  EXPECT_EQ(UsedScale(p, 2), 0);
  p.rule = IndexRule::kTorchCpu;
  EXPECT_EQ(UsedScale(p, 2), 1.6);
  EXPECT_EQ(UpsampleNearestExact3d(p, Arange(4, 0)).value, (std::vector<double>{0, 0, 1, 2, 2, 3}));
}

TEST(Answer, MagnitudeIsTheFullSumOfProducts) {
  const Bicubic2dAAProblem p{.in_h = 7, .in_w = 5, .out_h = 4, .out_w = 9};
  const TapTable h = CubicTaps(7, 4, false, 0);
  const TapTable w = CubicTaps(5, 9, false, 0);
  std::mt19937_64 random(5);
  const std::vector<double> x = Normal(35, random);
  const Answer answer = UpsampleBicubic2dAA(p, x);
  for (int64_t oh = 0; oh < 4; ++oh) {
    for (int64_t ow = 0; ow < 9; ++ow) {
      double value = 0;
      double magnitude = 0;
      for (int64_t a = h.begin[oh]; a < h.begin[oh + 1]; ++a) {
        for (int64_t b = w.begin[ow]; b < w.begin[ow + 1]; ++b) {
          const double term = h.weight[a] * w.weight[b] * x[h.index[a] * 5 + w.index[b]];
          value += term;
          magnitude += std::fabs(term);
        }
      }
      const int64_t e = oh * 9 + ow;
      EXPECT_NEAR(answer.value[e], value, 1e-15 * magnitude) << oh << ',' << ow;
      EXPECT_NEAR(answer.magnitude[e], magnitude, 1e-15 * magnitude) << oh << ',' << ow;
      EXPECT_EQ(answer.TapsOf(e).taps, (std::array<int64_t, 2>{h.begin[oh + 1] - h.begin[oh],
                                                               w.begin[ow + 1] - w.begin[ow]}));
    }
  }
}

TEST(Answer, IdentityAxesHaveNoPass) {
  const Bicubic2dAAProblem one{.in_h = 6, .in_w = 8, .out_h = 6, .out_w = 4};
  const PassTaps taps = UpsampleBicubic2dAAGrad(one, Arange(24, 0)).TapsOf(16);
  EXPECT_EQ(taps.passes, 1);
  EXPECT_EQ(taps.taps[0], 2);  // outputs 0 and 1, at distances 0.25 and 1.25
  const Bicubic2dAAProblem both{.in_h = 6, .in_w = 8, .out_h = 6, .out_w = 8, .scales_h = 1};
  const Answer copy = UpsampleBicubic2dAAGrad(both, Arange(48, 0));
  EXPECT_EQ(copy.TapsOf(20).passes, 0);
  EXPECT_EQ(copy.value, Arange(48, 0));
  const NearestExact3dProblem depth{.in = {2, 3, 3}, .out = {4, 3, 3}};
  const PassTaps window = UpsampleNearestExact3dGrad(depth, Arange(36, 0)).TapsOf(10);
  EXPECT_EQ(window.passes, 1);
  EXPECT_EQ(window.taps[0], 2);
}

// <forward(x), g> = <x, backward(g)>.
TEST(Answer, BackwardIsTheAdjointOfForward) {
  const unsigned seed = 77;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << " round " << round);
    const auto size = [&] { return static_cast<int64_t>(random() % 12 + 1); };
    const Bicubic2dAAProblem a{.batch = 2,
                               .in_h = size(),
                               .in_w = size(),
                               .out_h = size(),
                               .out_w = size(),
                               .align_corners = round % 2 == 0};
    const std::vector<double> x = Normal(2 * a.in_h * a.in_w, random);
    const std::vector<double> g = Normal(2 * a.out_h * a.out_w, random);
    EXPECT_NEAR(Dot(UpsampleBicubic2dAA(a, x).value, g),
                Dot(x, UpsampleBicubic2dAAGrad(a, g).value), 1e-12);
    const NearestExact3dProblem b{.batch = 2,
                                  .in = {size(), size(), size()},
                                  .out = {size(), size(), size()},
                                  .rule = static_cast<IndexRule>(round % 3)};
    const std::vector<double> y = Normal(2 * b.in[0] * b.in[1] * b.in[2], random);
    const std::vector<double> k = Normal(2 * b.out[0] * b.out[1] * b.out[2], random);
    EXPECT_NEAR(Dot(UpsampleNearestExact3d(b, y).value, k),
                Dot(y, UpsampleNearestExact3dGrad(b, k).value), 1e-11);
  }
}

TEST(Answer, NonFiniteInputsReachExactlyTheirKeptTaps) {
  const Bicubic2dAAProblem p{.in_h = 6, .in_w = 27, .out_h = 6, .out_w = 9};
  const TapTable w = CubicTaps(27, 9, false, 0);
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    std::vector<double> g(54, 1.0);
    g[2 * 9 + 4] = bad;
    const Answer answer = UpsampleBicubic2dAAGrad(p, g);
    for (int64_t i = 0; i < 6 * 27; ++i) {
      bool kept = false;
      for (int64_t k = w.begin[4]; k < w.begin[5]; ++k) kept |= i == 2 * 27 + w.index[k];
      EXPECT_EQ(!std::isfinite(answer.value[i]), kept) << "element " << i;
      EXPECT_EQ(!std::isfinite(answer.magnitude[i]), kept) << "element " << i;
    }
  }
}

TEST(Answer, EmptyBatch) {
  const NearestExact3dProblem p{.batch = 0, .in = {2, 2, 2}, .out = {4, 4, 4}};
  EXPECT_TRUE(UpsampleNearestExact3dGrad(p, {}).value.empty());
}

TEST(Answer, RefusesDataOfAnotherLength) {
  const Bicubic2dAAProblem p{.in_h = 2, .in_w = 2, .out_h = 3, .out_w = 3};
  EXPECT_THROW(UpsampleBicubic2dAA(p, Arange(9, 0)), std::invalid_argument);
  EXPECT_THROW(UpsampleBicubic2dAAGrad(p, Arange(4, 0)), std::invalid_argument);
}

// Long axes: a gradient over 2^20 samples keeps the total, since every row of weights sums to one.
TEST(Answer, LongAxisKeepsTheTotal) {
  const int64_t n = int64_t{1} << 20;
  std::mt19937_64 random(9);
  const std::vector<double> g = Normal(n, random);
  const double total = std::accumulate(g.begin(), g.end(), 0.0);
  const Bicubic2dAAProblem a{.in_h = 1, .in_w = 20972, .out_h = 1, .out_w = n};
  const std::vector<double> grad = UpsampleBicubic2dAAGrad(a, g).value;
  EXPECT_NEAR(std::accumulate(grad.begin(), grad.end(), 0.0), total, 1e-8);
  const NearestExact3dProblem b{.in = {1, 1, 4099}, .out = {1, 1, n}};
  const std::vector<double> sums = UpsampleNearestExact3dGrad(b, g).value;
  EXPECT_NEAR(std::accumulate(sums.begin(), sums.end(), 0.0), total, 1e-8);
}

}  // namespace
}  // namespace opscv::reference
