// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "opscv/plan.h"
#include "opscv/targets.h"

namespace opscv {
namespace {

Plan Shrunk() {
  return MakePlan(Spec("UpsampleBicubic2dAA").Set("output_size", {4, 50}),
                  Contiguous(DType::kFloat32, {2, 3, 8, 100}),
                  Contiguous(DType::kFloat32, {2, 3, 4, 50}))
      .value();
}

Plan VolumeGradient() {
  return MakePlan(Spec("UpsampleNearestExact3dGrad").Set("input_size", {1, 2, 3, 4, 5}),
                  Contiguous(DType::kFloat32, {1, 2, 6, 4, 15}),
                  Contiguous(DType::kFloat32, {1, 2, 3, 4, 5}))
      .value();
}

TEST(Facts, AnAxisTellsScaleInverseAndSupport) {
  const PlanFacts facts = Shrunk().Facts();
  ASSERT_EQ(facts.axes.size(), 2u);
  const AxisFacts& h = facts.axes[0];
  EXPECT_EQ(h.name, 'H');
  EXPECT_EQ(h.before, 8);
  EXPECT_EQ(h.after, 4);
  EXPECT_EQ(h.scale, 2.0);
  EXPECT_EQ(h.inverse, 0.5);
  EXPECT_EQ(h.support, 4.0);
  EXPECT_FALSE(h.identity);
  EXPECT_EQ(facts.axes[1].name, 'W');
}

TEST(Facts, EveryAxisThatIsNoIdentityHasItsPass) {
  const PlanFacts facts = Shrunk().Facts();
  ASSERT_EQ(facts.passes.size(), 2u);
  EXPECT_NE(facts.passes[0].axes, facts.passes[1].axes);
  for (const PassFacts& pass : facts.passes) {
    // The filter spans 8 samples; none of the 4 windows on H lies wholly inside its 8 samples.
    const int64_t expected = pass.axes == "H" ? 7 : 8;
    EXPECT_EQ(pass.most_taps, std::vector<int64_t>{expected}) << pass.axes;
  }
}

TEST(Facts, AVolumesGradientSumsDepthAndHeightTogether) {
  const PlanFacts facts = VolumeGradient().Facts();
  ASSERT_EQ(facts.axes.size(), 3u);
  EXPECT_TRUE(facts.axes[1].identity);
  EXPECT_EQ(facts.axes[0].scale, 0.5);
  ASSERT_EQ(facts.passes.size(), 2u);
  EXPECT_EQ(facts.passes[0].axes, "DH");
  EXPECT_EQ(facts.passes[0].most_taps, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(facts.passes[1].axes, "W");
  EXPECT_EQ(facts.passes[1].most_taps, std::vector<int64_t>{3});
}

TEST(Facts, BlocksCoverTheOutput) {
  const Plan plan = Shrunk();
  int64_t covered = 0;
  for (int64_t i = 0; i < plan.Facts().blocks; ++i) {
    const BlockFacts block = plan.BlockAt(i);
    covered += (block.plane_end - block.plane_begin) * (block.row_end - block.row_begin) *
               (block.pixel_end - block.pixel_begin);
  }
  EXPECT_EQ(covered, 2 * 3 * 4 * 50);
}

TEST(Facts, AnEmptyOutputHasNoBlocks) {
  const Plan plan = MakePlan(Spec("UpsampleNearestExact3d").Set("output_size", {2, 2, 2}),
                             Contiguous(DType::kFloat32, {0, 1, 1, 1, 1}),
                             Contiguous(DType::kFloat32, {0, 1, 2, 2, 2}))
                        .value();
  EXPECT_EQ(plan.Facts().blocks, 0);
  EXPECT_TRUE(plan.Facts().passes.empty());
}

TEST(Targets, PlansUseOneOfTheSupported) {
  const std::vector<std::string> known = SupportedTargets();
  const Result<std::string> current = CurrentTarget();
  ASSERT_TRUE(current) << current.error().message();
  EXPECT_NE(std::find(known.begin(), known.end(), *current), known.end()) << *current;
  EXPECT_EQ(Shrunk().Facts().target, *current);
}

}  // namespace
}  // namespace opscv
