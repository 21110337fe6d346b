// SPDX-License-Identifier: Apache-2.0
#include "graph/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/random.h"

namespace opscv::graph {
namespace {

TEST(PlanMemory, AChainNeedsTwoNeighboursAtOnce) {
  // a -> b -> c: a is there in steps 0 and 1, b in 1 and 2, c in 2 and 3.
  const std::vector<Life> lives = {{640, 0, 1}, {128, 1, 2}, {640, 2, 3}};
  const MemoryPlan plan = PlanMemory(lives, 4);
  EXPECT_EQ(plan.live_bytes, (std::vector<int64_t>{640, 768, 768, 640}));
  EXPECT_EQ(plan.peak_bytes, 768);
  EXPECT_EQ(plan.arena_bytes, 768);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
}

TEST(PlanMemory, NothingNeedsNothing) {
  const MemoryPlan plan = PlanMemory({}, 2);
  EXPECT_EQ(plan.live_bytes, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(plan.peak_bytes, 0);
  EXPECT_EQ(plan.arena_bytes, 0);
}

TEST(PlanMemory, ASmallPieceFillsAGap) {
  // The middle piece is alive with the large one only, and fits where the first has ended.
  const std::vector<Life> lives = {{64, 0, 0}, {640, 0, 2}, {64, 1, 2}};
  EXPECT_EQ(PlanMemory(lives, 3).arena_bytes, 704);
}

TEST(PlanMemory, PiecesOfOneStepNeverOverlap) {
  testing::Random random(71);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(testing::SeedTrace());
    const auto steps = static_cast<int>(random.Int(1, 12));
    std::vector<Life> lives;
    for (int64_t count = random.Int(0, 14); count > 0; --count) {
      const auto first = static_cast<int>(random.Int(0, steps - 1));
      lives.push_back({random.Int(0, 1000), first, static_cast<int>(random.Int(first, steps - 1))});
    }
    const MemoryPlan plan = PlanMemory(lives, steps);
    int64_t peak = 0;
    for (int step = 0; step < steps; ++step) {
      int64_t live = 0;
      for (size_t a = 0; a < lives.size(); ++a) {
        if (lives[a].first > step || lives[a].last < step) continue;
        live += lives[a].bytes;
        ASSERT_EQ(plan.offsets[a] % 64, 0);
        ASSERT_LE(plan.offsets[a] + lives[a].bytes, plan.arena_bytes);
        for (size_t b = 0; b < a; ++b) {
          if (lives[b].first > step || lives[b].last < step) continue;
          ASSERT_TRUE(plan.offsets[a] + lives[a].bytes <= plan.offsets[b] ||
                      plan.offsets[b] + lives[b].bytes <= plan.offsets[a])
              << "pieces " << b << " and " << a << " in step " << step;
        }
      }
      ASSERT_EQ(plan.live_bytes[static_cast<size_t>(step)], live);
      peak = std::max(peak, live);
    }
    ASSERT_EQ(plan.peak_bytes, peak);
    ASSERT_EQ(PlanMemory(lives, steps).offsets, plan.offsets);  // the lives alone decide
  }
}

}  // namespace
}  // namespace opscv::graph
