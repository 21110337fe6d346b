// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "ops/check_rules.h"
#include "ops/registry.h"
#include "plan/plan.h"

namespace opscv::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A good call, to be spoilt one argument at a time.
struct Call {
  Spec spec = Spec("UpsampleNearestExact3dGrad")
                  .Set("output_size", {2, 2, 2})
                  .Set("input_size", {2, 2, 1, 1, 1});
  TensorDesc input = Contiguous(DType::kFloat32, {2, 2, 2, 2, 2});
  TensorDesc output = Contiguous(DType::kFloat32, {2, 2, 1, 1, 1});

  [[nodiscard]] Status Check() const {
    const Result<OpCall> call = BindCall(spec, input, output);
    return call ? call->info->validate(*call, DoorChecks()) : call.error();
  }
};

void ExpectRefused(const Call& call, const std::string& sentence) {
  const Status status = call.Check();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), sentence);
}

TEST(UpsampleNearestExact3dGrad, WorkedExample) {
  const Call given;
  for (const bool with_output_size : {true, false}) {
    Spec spec = given.spec;
    if (!with_output_size) {
      spec = Spec("UpsampleNearestExact3dGrad").Set("input_size", {2, 2, 1, 1, 1});
    }
    const Result<OpCall> call = BindCall(spec, given.input, given.output);
    ASSERT_TRUE(call.has_value()) << call.error().message();
    ASSERT_TRUE(call->info->validate(*call, DoorChecks()).ok());
    const auto plan = plan::MakePlan(call->info->to_spec(*call));
    ASSERT_TRUE(plan.has_value());
    std::vector<float> grad_out(32);
    std::iota(grad_out.begin(), grad_out.end(), 1.0F);
    std::vector<float> grad_in(4);
    alignas(64) std::byte workspace[256];
    ASSERT_LE((*plan)->WorkspaceBytes(1), static_cast<int64_t>(sizeof(workspace)));
    ASSERT_TRUE((*plan)->Run({.box = (*plan)->OutputBox(),
                              .buffers = {grad_out.data(), {}, grad_in.data(), {}},
                              .workspace = workspace}));
    EXPECT_THAT(grad_in, ElementsAre(36, 100, 164, 228));
  }
}

TEST(UpsampleNearestExact3dGrad, NamesTensorsAndScales) {
  Call call;
  call.output.dtype = DType::kFloat64;
  ExpectRefused(call, "y must be of the same type as grad_output, float32, got float64.");
  call = Call();
  call.spec.Set("scales", {1.0, std::numeric_limits<double>::quiet_NaN(), 1.0});
  ExpectRefused(call, "scales[1] must be finite, got nan.");
  call = Call();
  call.spec.Set("scales", {2.0, 2.0});
  ExpectRefused(call, "scales must have 3 elements, got 2.");
  call = Call();
  call.spec.Set("scales", {2.0, 2.0, 3.0});
  ExpectRefused(call,
                "output_size[2] must be floor(input_size[4] * scales[2]) = floor(1 * 3) = 3, "
                "got 2.");
  call = Call();
  call.output.layout = Layout::kChannelsLast;
  ExpectRefused(call, "y must have the layout of grad_output, got the other one.");
}

TEST(UpsampleNearestExact3dGrad, ScalesCountOnlyTogetherExceptForTorch) {
  Call call;
  call.spec.Set("scales", {0.0, 3.0, -1.0});  // one alone is dropped, and negative means none
  EXPECT_TRUE(call.Check().ok()) << call.Check().message();
  call.spec.SetRule(IndexRule::kTorchCpu);
  EXPECT_THAT(call.Check().message(), HasSubstr("output_size[1] must be floor"));
}

TEST(UpsampleNearestExact3dGrad, ExactTakesNoScales) {
  Call call;
  call.spec.Set("scales", {0.0, 2.0, 0.0}).SetRule(IndexRule::kExact);
  ExpectRefused(call, "scales[1] must not be given with the rule exact, got 2.");
}

TEST(UpsampleNearestExact3dGrad, EmptyBatchPassesWhateverTheScales) {
  Call call;
  call.spec.Set("input_size", {0, 2, 1, 1, 1}).Set("scales", {7.0, 7.0, 7.0});
  call.input = Contiguous(DType::kFloat32, {0, 2, 2, 2, 2});
  call.output = Contiguous(DType::kFloat32, {0, 2, 1, 1, 1});
  EXPECT_TRUE(call.Check().ok()) << call.Check().message();
}

TEST(UpsampleNearestExact3d, TakesIntegersForward) {
  for (const DType dtype : {DType::kUInt8, DType::kInt16, DType::kInt64, DType::kBool}) {
    const Result<OpCall> call =
        BindCall(Spec("UpsampleNearestExact3d").Set("output_size", {3, 3, 3}),
                 Contiguous(dtype, {1, 1, 2, 2, 2}), Contiguous(dtype, {1, 1, 3, 3, 3}));
    ASSERT_TRUE(call.has_value());
    EXPECT_TRUE(call->info->validate(*call, DoorChecks()).ok()) << NameOf(dtype);
  }
}

TEST(MayMeet, TellsRangesAndInterleavedViewsApart) {
  alignas(8) std::byte memory[64];
  const TensorDesc whole = Contiguous(DType::kFloat32, {4});
  EXPECT_TRUE(MayMeet(whole, memory, whole, memory + 12));
  EXPECT_FALSE(MayMeet(whole, memory, whole, memory + 16));
  const TensorDesc every_other = {.dtype = DType::kFloat32, .shape = {6}, .strides = {2}};
  EXPECT_FALSE(MayMeet(every_other, memory, every_other, memory + 4));
  EXPECT_FALSE(MayMeet(every_other, memory + 4, every_other, memory));
  EXPECT_TRUE(MayMeet(every_other, memory, every_other, memory + 8));
  EXPECT_TRUE(MayMeet(every_other, memory + 8, every_other, memory));
  // Channels 0-2 and 3-5 of the pixels of one image.
  const TensorDesc half_pixels = {
      .dtype = DType::kUInt8, .shape = {1, 2, 3, 3}, .strides = {36, 18, 6, 1}};
  EXPECT_FALSE(MayMeet(half_pixels, memory, half_pixels, memory + 3));
  EXPECT_FALSE(MayMeet(half_pixels, memory + 3, half_pixels, memory));
  EXPECT_TRUE(MayMeet(half_pixels, memory, half_pixels, memory + 2));
  const TensorDesc empty = Contiguous(DType::kFloat32, {0});
  EXPECT_FALSE(MayMeet(empty, memory, whole, memory));
}

TEST(CheckNoSelfOverlap, DecidesInterleavedStridesByCounting) {
  // Two dimensions whose steps do not nest, yet whose offsets 0,2,4 and 0,3 never meet.
  EXPECT_TRUE(
      CheckNoSelfOverlap("out", {.dtype = DType::kFloat32, .shape = {3, 2}, .strides = {2, 3}})
          .ok());
  EXPECT_FALSE(
      CheckNoSelfOverlap("out", {.dtype = DType::kFloat32, .shape = {4, 2}, .strides = {2, 6}})
          .ok());
  EXPECT_FALSE(
      CheckNoSelfOverlap("out", {.dtype = DType::kFloat32, .shape = {4}, .strides = {0}}).ok());
}

}  // namespace
}  // namespace opscv::ops
