// SPDX-License-Identifier: Apache-2.0
#include "taps/tap_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/test_random.h"
#include "reference/axis_rules.h"

namespace opscv::taps {
namespace {

using testing::TracedRandom;

TapTable Build(const Axis& axis) { return BuildTaps(axis, Filter::kCubicAntialias); }

std::string Say(const Axis& axis) {
  return "in " + std::to_string(axis.in) + " out " + std::to_string(axis.out) +
         (axis.align_corners ? " align_corners" : "") + " multiplier " +
         std::to_string(axis.multiplier);
}

// Any axis that an operator admits: the multiplier, where there is one, fits the sizes.
Axis RandomAxis(TracedRandom& random, int64_t largest) {
  Axis axis;
  axis.in = random.Int(1, random.OneIn(4) ? 4 : largest);
  axis.out = random.Int(1, random.OneIn(4) ? 4 : largest);
  axis.align_corners = random.OneIn(3);
  if (random.OneIn(2)) {
    const double in = static_cast<double>(axis.in);
    axis.multiplier = (static_cast<double>(axis.out) + random.Real(0.0, 0.999)) / in;
    axis.out = std::max<int64_t>(static_cast<int64_t>(std::floor(in * axis.multiplier)), 1);
  }
  return axis;
}

// The taps of a row as (sample, weight).
std::vector<std::pair<int64_t, double>> RowOf(const TapTable& table, int64_t row) {
  std::vector<std::pair<int64_t, double>> taps;
  for (size_t k = 0; k < table.delta(row).size(); ++k) {
    taps.emplace_back(table.base(row) + table.delta(row)[k], table.weight(row)[k]);
  }
  return taps;
}

// Where a row lies: taps ascend from its base and stay on the axis.
void ExpectRowAscends(const TapTable& table, int64_t row) {
  const auto delta = table.delta(row);
  if (delta.empty()) {
    EXPECT_EQ(table.end(row), table.base(row));
    return;
  }
  EXPECT_EQ(delta[0], 0);
  EXPECT_GE(table.base(row), 0);
  EXPECT_LE(table.end(row), table.columns());
  EXPECT_EQ(table.end(row), table.base(row) + delta.back() + 1);
  EXPECT_EQ(std::adjacent_find(delta.begin(), delta.end(), std::greater_equal<>()), delta.end())
      << "row " << row;
}

void ExpectFloatWeights(const TapTable& table, int64_t row) {
  ASSERT_EQ(table.weight(row).size(), table.delta(row).size());
  ASSERT_EQ(table.weight_float(row).size(), table.delta(row).size());
  for (size_t k = 0; k < table.delta(row).size(); ++k) {
    EXPECT_EQ(table.weight_float(row)[k], static_cast<float>(table.weight(row)[k]));
  }
}

// Every group's reach holds what its rows read, and no sample more at either end.
void ExpectReaches(const TapTable& table) {
  for (int64_t begin = 0; begin < table.rows(); begin += TapTable::kGroup) {
    int64_t low = table.columns();
    int64_t high = 0;
    for (int64_t row = begin; row < std::min(begin + TapTable::kGroup, table.rows()); ++row) {
      if (table.delta(row).empty()) continue;
      low = std::min(low, table.base(row));
      high = std::max(high, table.end(row));
    }
    const TapTable::Reach& reach = table.reach(begin / TapTable::kGroup);
    EXPECT_EQ(reach.begin, low) << "group of row " << begin;
    EXPECT_EQ(reach.end, high) << "group of row " << begin;
  }
}

// What the accessors promise of each other.
void ExpectWellFormed(const TapTable& table) {
  int64_t total = 0;
  int64_t widest = 0;
  for (int64_t row = 0; row < table.rows(); ++row) {
    ExpectRowAscends(table, row);
    ExpectFloatWeights(table, row);
    const auto taps = static_cast<int64_t>(table.delta(row).size());
    total += taps;
    widest = std::max(widest, taps);
  }
  EXPECT_EQ(table.total_taps(), total);
  EXPECT_EQ(table.max_taps(), widest);
  ExpectReaches(table);
}

// The same taps, and weights that sum to one.
void ExpectRowIs(const TapTable& table, int64_t row, const reference::TapTable& expected) {
  const auto begin = static_cast<size_t>(expected.begin[static_cast<size_t>(row)]);
  const auto end = static_cast<size_t>(expected.begin[static_cast<size_t>(row) + 1]);
  ASSERT_EQ(table.delta(row).size(), end - begin) << "row " << row;
  double sum = 0.0;
  for (size_t k = 0; k < end - begin; ++k) {
    EXPECT_EQ(table.base(row) + table.delta(row)[k], expected.index[begin + k]) << "row " << row;
    EXPECT_NEAR(table.weight(row)[k], expected.weight[begin + k], 1e-15) << "row " << row;
    sum += table.weight(row)[k];
  }
  // Each division rounds to half a unit, and so does each addition, none above 2.
  EXPECT_NEAR(sum, 1.0, static_cast<double>(end - begin + 1) * 0x1p-52) << "row " << row;
}

void ExpectIsReference(const Axis& axis) {
  SCOPED_TRACE(Say(axis));
  const TapTable table = Build(axis);
  const reference::TapTable expected =
      reference::CubicTaps(axis.in, axis.out, axis.align_corners, axis.multiplier);
  ASSERT_EQ(table.rows(), axis.out);
  ASSERT_EQ(table.columns(), axis.in);
  for (int64_t row = 0; row < axis.out; ++row) ExpectRowIs(table, row, expected);
}

TEST(BuildTaps, IsTheReference) {
  TracedRandom random;
  for (int i = 0; i < 400; ++i) ExpectIsReference(RandomAxis(random, 300));
  for (int i = 0; i < 10; ++i) ExpectIsReference(RandomAxis(random, 20000));
}

TEST(BuildTaps, IsTheReferenceOnAllSmallSizes) {
  for (int64_t in = 1; in <= 24; ++in) {
    for (int64_t out = 1; out <= 24; ++out) {
      ExpectIsReference({.in = in, .out = out});
      ExpectIsReference({.in = in, .out = out, .align_corners = true});
    }
  }
}

TEST(BuildTaps, TablesAreWellFormed) {
  TracedRandom random;
  for (int i = 0; i < 100; ++i) {
    const Axis axis = RandomAxis(random, 200);
    SCOPED_TRACE(Say(axis));
    ExpectWellFormed(Build(axis));
    ExpectWellFormed(Transpose(Build(axis)));
  }
}

// Scale 0: every row is centred on the edge before sample 0.
TEST(BuildTaps, AlignCornersToOneSample) {
  const TapTable table = Build({.in = 9, .out = 1, .align_corners = true});
  EXPECT_EQ(RowOf(table, 0), (std::vector<std::pair<int64_t, double>>{{0, 1.125}, {1, -0.125}}));
}

TEST(BuildTaps, AlignCornersWinsOverMultiplier) {
  const Axis axis{.in = 20, .out = 10, .align_corners = true, .multiplier = 0.5};
  EXPECT_EQ(ScaleOf(axis), 19.0 / 9.0);
}

// Zeros of the cubic inside a row fall away: at an odd whole ratio every centre is a sample's.
TEST(BuildTaps, DropsZerosInsideARow) {
  const TapTable table = Build({.in = 60, .out = 20});
  const auto row = RowOf(table, 10);
  ASSERT_EQ(row.size(), 9u);  // of the 11 samples closer than 6, those 3 away weigh nothing
  for (const auto& [sample, weight] : row) EXPECT_NE(std::abs(sample - 31), 3);
}

TEST(IsIdentity, EqualSizesAtScaleOne) {
  EXPECT_TRUE(IsIdentity({.in = 5, .out = 5}));
  EXPECT_TRUE(IsIdentity({.in = 5, .out = 5, .multiplier = 1.0}));
  EXPECT_TRUE(IsIdentity({.in = 5, .out = 5, .align_corners = true, .multiplier = 1.1}));
  EXPECT_FALSE(IsIdentity({.in = 5, .out = 5, .multiplier = 1.1}));
  EXPECT_FALSE(IsIdentity({.in = 5, .out = 6}));
  EXPECT_FALSE(IsIdentity({.in = 5, .out = 6, .align_corners = true}));
}

TEST(Transpose, ListsTheReadersOfEachSample) {
  TracedRandom random;
  for (int i = 0; i < 150; ++i) {
    const Axis axis = RandomAxis(random, 200);
    SCOPED_TRACE(Say(axis));
    const TapTable table = Build(axis);
    std::vector<std::vector<std::pair<int64_t, double>>> expected(static_cast<size_t>(axis.in));
    for (int64_t row = 0; row < table.rows(); ++row) {
      for (const auto& [sample, weight] : RowOf(table, row)) {
        expected[static_cast<size_t>(sample)].emplace_back(row, weight);
      }
    }
    const TapTable transposed = Transpose(table);
    ASSERT_EQ(transposed.rows(), axis.in);
    ASSERT_EQ(transposed.columns(), axis.out);
    for (int64_t row = 0; row < axis.in; ++row) {
      EXPECT_EQ(RowOf(transposed, row), expected[static_cast<size_t>(row)]) << "sample " << row;
    }
  }
}

TEST(Transpose, TwiceIsTheTable) {
  TracedRandom random;
  for (int i = 0; i < 150; ++i) {
    const Axis axis = RandomAxis(random, 200);
    SCOPED_TRACE(Say(axis));
    const TapTable table = Build(axis);
    const TapTable twice = Transpose(Transpose(table));
    ASSERT_EQ(twice.rows(), table.rows());
    EXPECT_EQ(twice.columns(), table.columns());
    EXPECT_EQ(twice.max_taps(), table.max_taps());
    for (int64_t row = 0; row < table.rows(); ++row) {
      EXPECT_EQ(RowOf(twice, row), RowOf(table, row)) << "row " << row;
    }
  }
}

TEST(Transpose, KeepsRowsThatNothingReads) {
  const TapTable table = Transpose(Build({.in = 9, .out = 1, .align_corners = true}));
  ASSERT_EQ(table.rows(), 9);
  EXPECT_EQ(table.delta(1).size(), 1u);
  for (int64_t row = 2; row < 9; ++row) EXPECT_TRUE(table.delta(row).empty());
}

TEST(TapTable, KeepsOnePrecision) {
  TapTable table = Build({.in = 10, .out = 20});
  const std::vector<float> weights(table.weight_float(3).begin(), table.weight_float(3).end());
  table.KeepOnlyFloat();
  EXPECT_EQ(std::vector<float>(table.weight_float(3).begin(), table.weight_float(3).end()),
            weights);
}

}  // namespace
}  // namespace opscv::taps
