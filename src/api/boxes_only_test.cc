// SPDX-License-Identifier: Apache-2.0
// Plans made for boxes whose output lies in memory of the box's own size.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "opscv/plan.h"

namespace opscv {
namespace {

constexpr int64_t kRows = 9;
constexpr int64_t kColumns = 11;
constexpr int64_t kBoxRows = 3;
constexpr int64_t kBoxColumns = 4;

Result<Plan> Make(const Dims& output_strides, const PlanOptions& options) {
  TensorDesc output = Contiguous(DType::kFloat32, {1, 2, kRows, kColumns});
  output.strides = output_strides;
  return MakePlan(Spec("UpsampleBicubic2dAA").Set("output_size", {kRows, kColumns}),
                  Contiguous(DType::kFloat32, {1, 2, 5, 7}), output, options);
}

// The strides of a dense box of two planes.
constexpr Dims kBoxStrides = {2 * kBoxRows * kBoxColumns, kBoxRows* kBoxColumns, kBoxColumns, 1};

TEST(BoxesOnly, ABoxInItsOwnMemoryHasTheBitsOfTheWhole) {
  std::vector<float> input(2 * 5 * 7);
  std::iota(input.begin(), input.end(), 1.0F);
  std::vector<float> whole(2 * kRows * kColumns);
  const Result<Plan> plan = Make(ContiguousStrides({1, 2, kRows, kColumns}), {});
  ASSERT_TRUE(plan->Run(input.data(), whole.data()).ok());

  const Result<Plan> boxes = Make(kBoxStrides, {.boxes_only = true});
  ASSERT_TRUE(boxes) << boxes.error().message();
  for (int64_t row = 0; row + kBoxRows <= kRows; ++row) {
    std::vector<float> part(2 * kBoxRows * kBoxColumns);
    const Box box = {.begin = {0, 0, row, 2}, .end = {1, 2, row + kBoxRows, 2 + kBoxColumns}};
    ASSERT_TRUE(boxes->RunBox(box, input.data(), Dims::Filled(4, 0), part.data()).ok());
    for (size_t i = 0; i < part.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t plane = at / (kBoxRows * kBoxColumns);
      const int64_t y = row + at / kBoxColumns % kBoxRows;
      const int64_t x = 2 + at % kBoxColumns;
      const auto index = static_cast<size_t>((plane * kRows + y) * kColumns + x);
      EXPECT_EQ(part[i], whole[index]) << "plane " << plane << ", row " << y << ", column " << x;
    }
  }
}

TEST(BoxesOnly, OtherPlansKeepTheWholeApart) {
  const Result<Plan> plan = Make(kBoxStrides, {});
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message().find("out must not overlap itself"), std::string::npos)
      << plan.error().message();
}

TEST(BoxesOnly, ABoxWhoseElementsMeetIsRefused) {
  const Result<Plan> boxes = Make(kBoxStrides, {.boxes_only = true});
  const std::vector<float> input(2 * 5 * 7);
  std::vector<float> output(2 * kRows * kColumns, 7.0F);
  const Status done =
      boxes->Run(input.data(), output.data());  // the whole does not fit strides of a box
  EXPECT_EQ(done.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(done.message().find("output must not overlap itself"), std::string::npos)
      << done.message();
  EXPECT_EQ(output, std::vector<float>(output.size(), 7.0F));
}

}  // namespace
}  // namespace opscv
