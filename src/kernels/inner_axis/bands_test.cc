// SPDX-License-Identifier: Apache-2.0
#include "kernels/inner_axis/bands.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/test_random.h"

namespace opscv::kernels {
namespace {

using opscv::testing::TracedRandom;
using taps::TapTable;

TapTable RandomTable(TracedRandom& random) {
  taps::Axis axis{.in = random.Int(1, 60), .out = random.Int(1, 60)};
  axis.align_corners = random.OneIn(3);
  const TapTable forward = taps::BuildTaps(axis, taps::Filter::kCubicAntialias);
  return random.OneIn(2) ? taps::Transpose(forward) : forward;
}

// The weights of an output element, by the input element that they multiply.
std::map<int64_t, double> WeightsOfElement(const TapTable& table, int64_t channels, int64_t element,
                                           bool wide) {
  std::map<int64_t, double> weights;
  const int64_t row = element / channels;
  for (size_t k = 0; k < table.delta(row).size(); ++k) {
    const int64_t pixel = table.base(row) + table.delta(row)[k];
    weights[pixel * channels + element % channels] =
        wide ? table.weight(row)[k] : static_cast<double>(table.weight_float(row)[k]);
  }
  return weights;
}

// The weights of lane `lane` of a block, by the input element; zeros left out.
std::map<int64_t, double> WeightsOfLane(const BandTable& bands, const BandTable::Block& block,
                                        int64_t lanes, int64_t lane, bool wide) {
  std::map<int64_t, double> weights;
  for (int64_t i = 0; i < block.count; ++i) {
    const int64_t at = block.place + i * lanes + lane;
    const double weight = wide
                              ? static_cast<const double*>(bands.weights())[at]
                              : static_cast<double>(static_cast<const float*>(bands.weights())[at]);
    if (weight != 0 || std::signbit(weight)) weights[block.first + i] = weight;
  }
  return weights;
}

void ExpectTableIn(const BandTable& bands, const TapTable& table, const BandTable::Shape& shape,
                   bool wide) {
  const int64_t elements = table.rows() * shape.channels;
  const int64_t blocks = (elements + shape.lanes - 1) / shape.lanes;
  int64_t place = 0;
  for (int64_t b = 0; b < blocks; ++b) {
    const BandTable::Block& block = bands.blocks()[b];
    ASSERT_EQ(block.place, place) << "block " << b;
    place += block.count * shape.lanes;
    std::map<int64_t, double> all;
    for (int64_t lane = 0; lane < shape.lanes; ++lane) {
      const int64_t element = b * shape.lanes + lane;
      const std::map<int64_t, double> expected =
          element < elements ? WeightsOfElement(table, shape.channels, element, wide)
                             : std::map<int64_t, double>();
      ASSERT_EQ(WeightsOfLane(bands, block, shape.lanes, lane, wide), expected)
          << "output element " << element;
      all.insert(expected.begin(), expected.end());
    }
    // No element more than what lies between the first and the last that some lane reads.
    const int64_t count = all.empty() ? 0 : all.rbegin()->first - all.begin()->first + 1;
    ASSERT_EQ(block.count, count) << "block " << b;
    const int64_t first = all.empty() ? block.first : all.begin()->first;
    ASSERT_EQ(block.first, first) << "block " << b;
  }
  ASSERT_EQ(BandTable::Elements(table, shape) * shape.lanes, place);
}

TEST(BandTable, HoldsTheWeightsOfTheTableAndZerosBeside) {
  TracedRandom random;
  for (int i = 0; i < 400; ++i) {
    const TapTable table = RandomTable(random);
    const BandTable::Shape shape{random.Int(1, 9), random.Int(1, 16)};
    for (const bool wide : {false, true}) {
      const BandTable bands(table, shape, wide);
      SCOPED_TRACE(std::to_string(table.rows()) + " rows of " + std::to_string(table.columns()) +
                   " samples, " + std::to_string(shape.channels) + " channels, " +
                   std::to_string(shape.lanes) + " lanes");
      EXPECT_FALSE(bands.empty());
      EXPECT_EQ(reinterpret_cast<uintptr_t>(bands.weights()) % 64, 0u);
      ExpectTableIn(bands, table, shape, wide);
      if (HasFatalFailure()) return;
    }
  }
}

// A plan keeps the weights of one type.
TEST(BandTable, NeedsTheWeightsOfItsTypeOnly) {
  const taps::Axis axis{.in = 20, .out = 33};
  const TapTable table = taps::BuildTaps(axis, taps::Filter::kCubicAntialias);
  for (const bool wide : {false, true}) {
    TapTable kept = table;
    wide ? kept.KeepOnlyDouble() : kept.KeepOnlyFloat();
    ExpectTableIn(BandTable(kept, {3, 8}, wide), table, {3, 8}, wide);
  }
}

// The gradient of one sample drawn from the first two of 40.
TEST(BandTable, BlocksThatReadNothingAreEmpty) {
  const taps::Axis axis{.in = 40, .out = 1, .align_corners = true};
  const TapTable table = taps::Transpose(taps::BuildTaps(axis, taps::Filter::kCubicAntialias));
  const BandTable bands(table, {1, 8}, false);
  EXPECT_EQ(BandTable::Elements(table, {1, 8}), 1);
  EXPECT_EQ(bands.blocks()[0].count, 1);
  for (int b = 1; b < 5; ++b) EXPECT_EQ(bands.blocks()[b].count, 0);
}

TEST(BandTable, IsEmptyByDefault) { EXPECT_TRUE(BandTable().empty()); }

}  // namespace
}  // namespace opscv::kernels
