// SPDX-License-Identifier: Apache-2.0
#include "kernels/targets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace opscv::kernels {
namespace {

TEST(Targets, TheBestIsInUseUnlessPinned) {
  const std::vector<Target> targets = SupportedTargets();
  ASSERT_FALSE(targets.empty());
  ASSERT_TRUE(PinTarget("").ok());
  EXPECT_EQ(CurrentTarget(), targets.front().name);
}

TEST(Targets, EachCanBePinned) {
  for (const Target& target : SupportedTargets()) {
    ASSERT_TRUE(PinTarget(target.name).ok()) << target.name;
    EXPECT_EQ(CurrentTarget(), target.name);
  }
  ASSERT_TRUE(PinTarget("").ok());
  EXPECT_EQ(CurrentTarget(), SupportedTargets().front().name);
}

TEST(Targets, AnUnknownPinChangesNothingAndNamesTheKnown) {
  const Target last = SupportedTargets().back();
  ASSERT_TRUE(PinTarget(last.name).ok());
  const Status status = PinTarget("AVX9");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("'AVX9'"), std::string::npos) << status.message();
  for (const Target& target : SupportedTargets()) {
    EXPECT_NE(status.message().find(target.name), std::string::npos) << status.message();
  }
  EXPECT_EQ(CurrentTarget(), last.name);
  ASSERT_TRUE(PinTarget("").ok());
}

}  // namespace
}  // namespace opscv::kernels
