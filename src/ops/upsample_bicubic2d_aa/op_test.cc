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

using ::testing::HasSubstr;

// A good call, to be spoilt one argument at a time.
struct Call {
  Spec spec =
      Spec("UpsampleBicubic2dAAGrad").Set("output_size", {4, 2}).Set("input_size", {1, 1, 8, 4});
  TensorDesc input = Contiguous(DType::kFloat32, {1, 1, 4, 2});
  TensorDesc output = Contiguous(DType::kFloat32, {1, 1, 8, 4});

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

std::vector<double> Gradient(const Spec& spec) {
  const TensorDesc input = Contiguous(DType::kFloat64, {1, 1, 4, 2});
  const TensorDesc output = Contiguous(DType::kFloat64, {1, 1, 8, 4});
  const Result<OpCall> call = BindCall(spec, input, output);
  EXPECT_TRUE(call.has_value()) << call.error().message();
  EXPECT_TRUE(call->info->validate(*call, DoorChecks()).ok());
  const auto plan = plan::MakePlan(call->info->to_spec(*call));
  EXPECT_TRUE(plan.has_value());
  std::vector<double> grad_out(8);
  std::iota(grad_out.begin(), grad_out.end(), 0.0);
  std::vector<double> grad_in(32);
  std::vector<std::byte> workspace(static_cast<size_t>((*plan)->WorkspaceBytes(1)) + 64);
  void* aligned = workspace.data();
  size_t space = workspace.size();
  std::align(64, 0, aligned, space);
  EXPECT_TRUE((*plan)->Run({.box = (*plan)->OutputBox(),
                            .buffers = {grad_out.data(), {}, grad_in.data(), {}},
                            .workspace = aligned}));
  return grad_in;
}

void ExpectRow(const std::vector<double>& grad_in, int row, const std::vector<double>& expected) {
  for (size_t x = 0; x < expected.size(); ++x) {
    EXPECT_NEAR(grad_in[static_cast<size_t>(row) * 4 + x], expected[x], 5e-7) << row << "," << x;
  }
}

TEST(UpsampleBicubic2dAAGrad, WorkedExampleWithAlignedCorners) {
  const std::vector<double> grad_in =
      Gradient(Call().spec.Set("align_corners", true).Set("scales_h", 0.5).Set("scales_w", 0.5));
  ExpectRow(grad_in, 0, {-0.037380, -0.021394, 0.076689, 0.210637});
  ExpectRow(grad_in, 3, {0.137444, 0.293525, 0.637135, 1.051797});
  ExpectRow(grad_in, 7, {1.005456, 1.876058, 3.500808, 5.389207});
}

TEST(UpsampleBicubic2dAAGrad, WorkedExampleWithScales) {
  const std::vector<double> grad_in =
      Gradient(Call().spec.Set("scales_h", 0.5).Set("scales_w", 0.5));
  ExpectRow(grad_in, 0, {-0.045273, 0.011286, 0.156882, 0.167795});
  ExpectRow(grad_in, 7, {1.099957, 1.583169, 1.728765, 1.313024});
}

TEST(UpsampleBicubic2dAAGrad, GoodCallPasses) { EXPECT_TRUE(Call().Check().ok()); }

TEST(UpsampleBicubic2dAAGrad, RefusesDTypes) {
  Call call;
  call.input.dtype = call.output.dtype = DType::kInt32;
  ExpectRefused(call,
                "grad_output must be of type float32, float16, bfloat16, float64, got int32.");
  call = Call();
  call.output.dtype = DType::kFloat16;
  ExpectRefused(call, "grad_input must be of the same type as grad_output, float32, got float16.");
}

TEST(UpsampleBicubic2dAAGrad, RefusesRanksAndLengths) {
  Call call;
  call.input = Contiguous(DType::kFloat32, {1, 4, 2});
  ExpectRefused(call, "grad_output must have 4 dimensions, got 3.");
  call = Call();
  call.output.strides = {1, 1};
  ExpectRefused(call, "grad_input must have 4 strides, one per dimension, got 2.");
  call = Call();
  call.input = Contiguous(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1, 1, 4, 2});
  ExpectRefused(call, "grad_output must have 4 dimensions, got 10.");
  call = Call();
  call.spec.Set("output_size", {4, 2, 1});
  ExpectRefused(call, "output_size must have 2 elements, got 3.");
  call = Call();
  call.spec.Set("input_size", {1, 8, 4});
  ExpectRefused(call, "input_size must have 4 elements, got 3.");
}

TEST(UpsampleBicubic2dAAGrad, RefusesScales) {
  Call call;
  call.spec.Set("scales_h", -1.0);
  ExpectRefused(call, "scales_h must be >= 0, got -1.");
  call = Call();
  call.spec.Set("scales_w", std::numeric_limits<double>::infinity());
  ExpectRefused(call, "scales_w must be finite, got inf.");
  call = Call();
  call.spec.Set("scales_h", 0.7);
  ExpectRefused(call,
                "output_size[0] must be floor(input_size[2] * scales_h) = floor(8 * 0.7) = 5, "
                "got 4.");
}

TEST(UpsampleBicubic2dAAGrad, TakesScalesThatMissAWholeNumberByARounding) {
  Call call;
  call.spec.Set("output_size", {120, 2})
      .Set("input_size", {1, 1, 88, 4})
      .Set("scales_h", 120.0 / 88);
  call.input = Contiguous(DType::kFloat32, {1, 1, 120, 2});
  call.output = Contiguous(DType::kFloat32, {1, 1, 88, 4});
  ASSERT_LT(88 * (120.0 / 88), 120.0);
  EXPECT_TRUE(call.Check().ok()) << call.Check().message();
  call.spec.Set("output_size", {119, 2});
  call.input = Contiguous(DType::kFloat32, {1, 1, 119, 2});
  EXPECT_TRUE(call.Check().ok()) << call.Check().message();
}

TEST(UpsampleBicubic2dAAGrad, RefusesSizes) {
  Call call;
  call.spec.Set("output_size", {4, 0});
  ExpectRefused(call, "output_size[1] must be > 0, got 0.");
  call = Call();
  call.spec.Set("input_size", {1, 1, -8, 4});
  ExpectRefused(call, "input_size[2] must be > 0, got -8.");
  call = Call();
  call.spec.Set("output_size", {5, 2});
  ExpectRefused(call,
                "grad_output must have the shape given by N, C of input_size and then output_size, "
                "(1, 1, 5, 2), got (1, 1, 4, 2).");
  call = Call();
  call.output = Contiguous(DType::kFloat32, {1, 1, 8, 5});
  ExpectRefused(
      call, "grad_input must have the shape given by input_size, (1, 1, 8, 4), got (1, 1, 8, 5).");
}

TEST(UpsampleBicubic2dAAGrad, RefusesOverlapAndAbsurdReach) {
  Call call;
  call.output.strides = {0, 0, 2, 1};
  EXPECT_THAT(call.Check().message(), HasSubstr("grad_input must not overlap itself"));
  call = Call();
  call.input.strides = {0, 0, int64_t{1} << 62, 1};
  EXPECT_THAT(call.Check().message(), HasSubstr("grad_output must span less than 2^63 bytes"));
}

TEST(UpsampleBicubic2dAAGrad, EarlierFaultWins) {
  Call call;
  call.input = Contiguous(DType::kInt8, {1, 4, 2});
  EXPECT_THAT(call.Check().message(), HasSubstr("type"));
  call = Call();
  call.spec.Set("output_size", {0, 2, 1}).Set("scales_h", -1.0);
  EXPECT_THAT(call.Check().message(), HasSubstr("elements"));
  call = Call();
  call.spec.Set("output_size", {0, 2}).Set("scales_h", -1.0);
  EXPECT_THAT(call.Check().message(), HasSubstr("scales_h"));
  call = Call();
  call.spec.Set("output_size", {3, 0});
  EXPECT_THAT(call.Check().message(), HasSubstr("output_size[1]"));
  call = Call();
  call.spec.Set("output_size", {3, 2}).Set("scales_h", 3.0);
  EXPECT_THAT(call.Check().message(), HasSubstr("shape"));
  call = Call();
  call.spec.Set("scales_h", 3.0);
  call.output.strides = {0, 0, 0, 0};
  EXPECT_THAT(call.Check().message(), HasSubstr("floor"));
}

TEST(Registry, FindsOperatorsInAnyCaseAndListsThemOtherwise) {
  EXPECT_TRUE(FindOperator("upsamplebicubic2daagrad").has_value());
  const auto missing = FindOperator("Upsample");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code(), StatusCode::kNotFound);
  EXPECT_EQ(missing.error().message(),
            "operator must be one of UpsampleBicubic2dAA, UpsampleBicubic2dAAGrad, "
            "UpsampleNearestExact3d, UpsampleNearestExact3dGrad, got 'Upsample'.");
}

TEST(Registry, RefusesAttributes) {
  Call call;
  call.spec.Set("scale_h", 1.0);
  EXPECT_EQ(call.Check().code(), StatusCode::kNotFound);
  EXPECT_EQ(call.Check().message(),
            "UpsampleBicubic2dAAGrad has no attribute 'scale_h'; it has output_size, input_size, "
            "align_corners, scales_h, scales_w.");
  call = Call();
  call.spec.Set("align_corners", 1.5);
  ExpectRefused(call, "align_corners must be BOOL, got a float.");
  call = Call();
  call.spec = Spec("UpsampleBicubic2dAAGrad").Set("output_size", {4, 2});
  ExpectRefused(call, "input_size must be given: UpsampleBicubic2dAAGrad requires it.");
  call = Call();
  call.spec.SetRule(IndexRule::kExact);
  ExpectRefused(call,
                "rule must not be given for UpsampleBicubic2dAAGrad, which has no index rule, got "
                "exact.");
}

TEST(UpsampleBicubic2dAA, RefusesByTheForwardOperatorsNames) {
  const Result<OpCall> call = BindCall(Spec("UpsampleBicubic2dAA").Set("output_size", {4, 2}),
                                       Contiguous(DType::kFloat32, {1, 1, 8, 0}),
                                       Contiguous(DType::kFloat32, {1, 1, 4, 2}));
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->info->validate(*call, DoorChecks()).message(),
            "self.shape[3] must be > 0, got 0.");
}

}  // namespace
}  // namespace opscv::ops
