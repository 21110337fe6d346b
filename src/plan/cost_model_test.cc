// SPDX-License-Identifier: Apache-2.0
#include "plan/cost_model.h"

#include <gtest/gtest.h>

#include "plan/test_plans.h"

namespace opscv::plan {
namespace {

using testing::TracedRandom;

taps::TapTable Gradient(int64_t in, int64_t out) {
  return taps::Transpose(taps::BuildTaps({.in = in, .out = out}, taps::Filter::kCubicAntialias));
}

// Rows of 68 taps: more than the ring of rows holds.
TEST(RowsFirst, AlwaysForLongHTables) {
  const taps::TapTable h = Gradient(10, 170);
  ASSERT_GT(h.max_taps(), kMaxRingTaps);
  for (const int64_t in : {2, 30, 400}) {
    for (const int64_t out : {3, 50, 700}) EXPECT_TRUE(RowsFirst(h, Gradient(in, out)));
  }
}

// The order is part of the bits: it may follow from axis sizes and nothing else of a problem.
TEST(RowsFirst, PlansDifferingInAllButSizesTakeTheSamePasses) {
  TracedRandom random;
  for (int i = 0; i < 60; ++i) {
    const testing::Sizes small{.in = {1, random.Int(2, 90), random.Int(2, 90)},
                               .out = {1, random.Int(2, 90), random.Int(2, 90)}};
    testing::Sizes large = small;
    large.n = random.Int(1, 20);
    large.c = random.Int(2, 20);
    const Direction direction = random.OneIn(2) ? Direction::kForward : Direction::kBackward;
    const auto passes = [&](const testing::Sizes& sizes, DType dtype, bool channels_last) {
      const std::string text = testing::MustPlan(testing::MakeSpec(Method::kTaps, direction, dtype,
                                                                   sizes, channels_last))
                                   ->Describe();
      return text.substr(0, text.find("intermediate"));
    };
    const std::string expected = passes(small, DType::kFloat32, false);
    for (const DType dtype : testing::kDTypes) {
      for (const bool channels_last : {false, true}) {
        ASSERT_EQ(passes(large, dtype, channels_last), expected);
      }
    }
  }
}

// One image row of output costs all of H first; a shrink along W leaves little for H to do.
TEST(RowsFirst, TakesTheCheaperOrder) {
  EXPECT_TRUE(RowsFirst(Gradient(8, 100), Gradient(100, 101)));
  EXPECT_FALSE(RowsFirst(Gradient(100, 101), Gradient(8, 400)));
}

taps::TapTable Forward(int64_t in, int64_t out) {
  return taps::BuildTaps({.in = in, .out = out}, taps::Filter::kCubicAntialias);
}

TEST(UsesBands, WhereTheKernelTakesThem) {
  EXPECT_TRUE(UsesBands(Forward(200, 300), {1, 8}, 4));
  EXPECT_TRUE(UsesBands(Gradient(200, 300), {3, 8}, 4));
  // A target without bands.
  EXPECT_FALSE(UsesBands(Forward(200, 300), {1, 0}, 4));
}

// Of more than one block the kernel makes no sums; 33 taps are the fewest.
TEST(UsesBands, NeverForSumsOfSeveralBlocks) {
  for (int64_t in = 100; in < 2000; in += 17) {
    const taps::TapTable table = Forward(in, 100);
    if (table.max_taps() > 32) {
      EXPECT_FALSE(UsesBands(table, {1, 4}, 4)) << in;
    }
  }
}

// Long tables do not stay in the cache, and wide bands are mostly zeros.
TEST(UsesBands, NotForLongTablesOrWideBands) {
  EXPECT_FALSE(UsesBands(Forward(200000, 300000), {1, 8}, 4));
  EXPECT_FALSE(UsesBands(Forward(300, 50), {8, 16}, 4));
  TracedRandom random;
  for (int i = 0; i < 200; ++i) {
    const taps::TapTable table = Forward(random.Int(2, 3000), random.Int(2, 3000));
    const kernels::BandTable::Shape shape{random.Int(1, 8), int64_t{4} << random.Int(0, 2)};
    if (!UsesBands(table, shape, 4)) continue;
    const int64_t weights = kernels::BandTable::Elements(table, shape) * shape.lanes;
    EXPECT_LE(weights * 4, 256 * 1024);
    EXPECT_LE(table.max_taps(), 32);
  }
}

TEST(WeavesChannels, FewerThanAVectorHolds) {
  EXPECT_TRUE(WeavesChannels(1));
  EXPECT_TRUE(WeavesChannels(3));
  EXPECT_FALSE(WeavesChannels(8));
  EXPECT_FALSE(WeavesChannels(1024));
}

TEST(GroupChannels, AreFewerForLongerSums) {
  EXPECT_EQ(GroupChannels(1, 4), 1);
  EXPECT_EQ(GroupChannels(1000), 1000);
  EXPECT_EQ(GroupChannels(1 << 20), 1024);
  int64_t last = GroupChannels(1 << 20);
  for (int64_t taps = 1; taps < 5000; taps = taps * 3 / 2 + 1) {
    const int64_t group = GroupChannels(1 << 20, taps);
    EXPECT_LE(group, last) << taps << " taps";
    EXPECT_EQ(group % 64, 0) << taps << " taps";
    EXPECT_GE(group, 64) << taps << " taps";
    last = group;
  }
  EXPECT_EQ(last, 64);
}

TEST(StoresPastCaches, OnlyLongRunsOfLargeOutputs) {
  EXPECT_TRUE(StoresPastCaches(0x1p28));
  EXPECT_FALSE(StoresPastCaches(0x1p20));
  EXPECT_TRUE(StoresRunsPastCaches(4096));
  EXPECT_FALSE(StoresRunsPastCaches(64));
}

TEST(StageRows, AreAsManyAsFit) {
  TracedRandom random;
  for (int i = 0; i < 1000; ++i) {
    const int64_t row_bytes = random.Int(1, 1 << random.Int(1, 20));
    const int64_t rows = random.Int(1, 1 << random.Int(1, 12));
    const int64_t staged = StageRows(row_bytes, rows);
    EXPECT_GE(staged, 0);
    EXPECT_LE(staged, rows);
    EXPECT_LE(staged * row_bytes, 32768);
    EXPECT_TRUE(staged == rows || (staged + 1) * row_bytes > 32768)
        << staged << " of " << rows << " rows of " << row_bytes << " bytes";
  }
}

TEST(TilePixels, IsAllPixelsWhereTheyFit) {
  EXPECT_EQ(TilePixels(1000, 1, 0), 1000);
  EXPECT_EQ(TilePixels(1000, 1, 8), 1000);
  EXPECT_EQ(TilePixels(1, 3, 1 << 30), 1);
}

TEST(TilePixels, IsAtLeastOneAndCutOnWholeVectors) {
  TracedRandom random;
  for (int i = 0; i < 1000; ++i) {
    const int64_t pixels = random.Int(1, 1 << random.Int(1, 24));
    const int64_t channels = random.OneIn(2) ? 1 : random.Int(1, 1 << random.Int(1, 12));
    const int64_t scratch = random.Int(0, 1 << random.Int(1, 24));
    const int64_t tile = TilePixels(pixels, channels, scratch);
    EXPECT_GE(tile, 1);
    EXPECT_LE(tile, pixels);
    // Groups of many channels are vectors by themselves.
    EXPECT_TRUE(tile == pixels || channels > 8 || scratch > 4096 || tile % 16 == 0)
        << tile << " of " << pixels;
    EXPECT_TRUE(tile == pixels || channels > 1 || tile % 16 == 0) << tile << " of " << pixels;
  }
}

// Pixels so large that few fit are not rounded up to many.
TEST(TilePixels, OfManyChannelsStayWithinTheCache) {
  EXPECT_LE(TilePixels(1000, 1024, 128 * 1024), 2);
  EXPECT_LE(TilePixels(1000, 1024, 1 << 20), 1);
}

TEST(ChooseBlocks, AreWithinTheOutputAndTallerThanTheOverlap) {
  TracedRandom random;
  for (int i = 0; i < 1000; ++i) {
    const Coords shape = {random.Int(1, 9), random.Int(1, 9), random.Int(1, 4), random.Int(1, 3000),
                          random.Int(1, 3000)};
    const int64_t overlap = random.Int(0, 64);
    const int64_t rows = shape[kD] * shape[kH];
    const int64_t group = random.OneIn(2) ? random.Int(1, shape[kC]) : 0;
    const BlockShape blocks = ChooseBlocks(shape, group, random.Int(1, 8), shape[kW], overlap);
    EXPECT_EQ(blocks.channels, std::max<int64_t>(group, 1));
    EXPECT_GE(blocks.planes, 1);
    EXPECT_GE(blocks.rows, std::min(rows, 4 * overlap));
    EXPECT_GE(blocks.rows, 1);
    EXPECT_LE(blocks.rows, rows);
    EXPECT_EQ(blocks.pixels, shape[kW]);
  }
}

}  // namespace
}  // namespace opscv::plan
