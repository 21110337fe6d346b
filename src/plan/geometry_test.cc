// SPDX-License-Identifier: Apache-2.0
#include "plan/geometry.h"

#include <gtest/gtest.h>

#include "plan/test_plans.h"

namespace opscv::plan {
namespace {

using testing::Dense;
using testing::TracedRandom;

// The index of an element of a dense tensor.
size_t IndexOf(const Coords& tensor, const Coords& at) {
  int64_t index = 0;
  for (size_t dim = 0; dim < kRank; ++dim) index = index * tensor[dim] + at[dim];
  return static_cast<size_t>(index);
}

// Counts the elements of one row of a block: its channels side by side, its pixels along W.
void CountRow(const Coords& tensor, const Coords& row, int64_t channels, const Block& block,
              std::vector<int>& counts) {
  Coords at = row;
  for (at[kC] = row[kC]; at[kC] < row[kC] + channels; ++at[kC]) {
    for (at[kW] = block.pixel_begin; at[kW] < block.pixel_end; ++at[kW]) {
      ++counts.at(IndexOf(tensor, at));
    }
  }
}

// How often the blocks of a grid cover each element of a tensor.
std::vector<int> Covered(const Coords& tensor, const Box5& box, const BlockShape& shape,
                         bool groups) {
  std::vector<int> counts(static_cast<size_t>(testing::Count(tensor)), 0);
  const BlockGrid grid(box, shape, groups);
  for (int64_t index = 0; index < grid.size(); ++index) {
    const Block block = grid[index];
    EXPECT_LT(block.plane_begin, block.plane_end);
    EXPECT_LT(block.row_begin, block.row_end);
    EXPECT_LT(block.pixel_begin, block.pixel_end);
    for (int64_t plane = block.plane_begin; plane < block.plane_end; ++plane) {
      for (int64_t row = block.row_begin; row < block.row_end; ++row) {
        const Coords at = grid.At(plane, row);
        EXPECT_EQ(at[kW], box.begin[kW]);
        CountRow(tensor, at, grid.Channels(plane), block, counts);
      }
    }
  }
  return counts;
}

// One for each element of the box, none for the others.
std::vector<int> Inside(const Coords& tensor, const Box5& box) {
  std::vector<int> counts(static_cast<size_t>(testing::Count(tensor)));
  for (size_t index = 0; index < counts.size(); ++index) {
    auto rest = static_cast<int64_t>(index);
    bool inside = true;
    for (size_t dim = kRank; dim-- > 0;) {
      const int64_t at = rest % tensor[dim];
      rest /= tensor[dim];
      inside = inside && at >= box.begin[dim] && at < box.end[dim];
    }
    counts[index] = inside ? 1 : 0;
  }
  return counts;
}

TEST(BlockGrid, CoversTheBoxOnce) {
  TracedRandom random;
  for (int i = 0; i < 2000; ++i) {
    const Coords tensor = {random.Int(1, 3), random.Int(1, 3), random.Int(1, 3), random.Int(1, 6),
                           random.Int(1, 40)};
    Box5 box;
    for (size_t dim = 0; dim < kRank; ++dim) {
      box.begin[dim] = random.Int(0, tensor[dim] - 1);
      box.end[dim] = random.Int(box.begin[dim] + (random.OneIn(20) ? 0 : 1), tensor[dim]);
    }
    const BlockShape shape{.channels = random.Int(1, 4),
                           .planes = random.Int(1, 5),
                           .rows = random.Int(1, 8),
                           .pixels = random.Int(1, 45)};
    const bool groups = random.OneIn(2);
    ASSERT_EQ(Covered(tensor, box, shape, groups), Inside(tensor, box))
        << "blocks of " << shape.planes << " planes, " << shape.rows << " rows, " << shape.pixels
        << " pixels";
    ASSERT_EQ(BlockGrid(box, shape, groups).size() == 0, box.Empty());
  }
}

// Whatever the box, so that a vector along W never straddles two blocks.
TEST(BlockGrid, CutsAlongWFallOnMultiples) {
  const Box5 box{.begin = {0, 0, 0, 0, 5}, .end = {1, 1, 1, 1, 50}};
  const BlockGrid grid(box, {.planes = 1, .rows = 1, .pixels = 16}, false);
  ASSERT_EQ(grid.size(), 4);
  EXPECT_EQ(grid[0].pixel_begin, 5);
  EXPECT_EQ(grid[0].pixel_end, 16);
  EXPECT_EQ(grid[1].pixel_begin, 16);
  EXPECT_EQ(grid[3].pixel_begin, 48);
  EXPECT_EQ(grid[3].pixel_end, 50);
}

TEST(HasChannelGroups, WhereChannelsTouchInBothTensors) {
  const Coords shape = {2, 3, 1, 4, 5};
  ResampleSpec spec;
  const auto groups = [&](bool input_last, bool output_last) {
    spec.input = Dense(shape, 4, input_last);
    spec.output = Dense(shape, 4, output_last);
    return HasChannelGroups(spec);
  };
  EXPECT_TRUE(groups(true, true));
  EXPECT_FALSE(groups(false, true));
  EXPECT_FALSE(groups(true, false));
  EXPECT_FALSE(groups(false, false));
}

// One channel, or channels that are no nearer than pixels, gain nothing from groups.
TEST(HasChannelGroups, NotForOneChannelOrTouchingPixels) {
  ResampleSpec spec;
  spec.input = spec.output = Dense({2, 1, 1, 4, 5}, 4, true);
  EXPECT_FALSE(HasChannelGroups(spec));
  spec.input = spec.output = {.shape = {1, 3, 1, 1, 5}, .stride_bytes = {0, 4, 0, 0, 4}};
  EXPECT_FALSE(HasChannelGroups(spec));
}

}  // namespace
}  // namespace opscv::plan
