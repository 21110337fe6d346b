// SPDX-License-Identifier: Apache-2.0
#include "opscv/view.h"

#include <gtest/gtest.h>

#include <vector>

#include "opscv/spec.h"

namespace opscv {
namespace {

using Values = std::vector<int64_t>;

Values ValuesOf(const Dims& dims) { return {dims.values().begin(), dims.values().end()}; }

TEST(Dims, HoldsAList) {
  Dims dims = {2, 3, 4};
  EXPECT_EQ(dims.rank(), 3);
  EXPECT_EQ(ValuesOf(dims), (Values{2, 3, 4}));
  dims[1] = -7;
  EXPECT_EQ(dims[1], -7);
  EXPECT_EQ(dims, Dims({2, -7, 4}));
  EXPECT_NE(dims, Dims({2, -7}));
  EXPECT_EQ(Dims().rank(), 0);
  EXPECT_TRUE(Dims().values().empty());
}

TEST(Dims, KeepsTheRankOfALongerList) {
  const Values longer(20, 5);
  const Dims dims{std::span<const int64_t>(longer)};
  EXPECT_EQ(dims.rank(), 20);
  EXPECT_EQ(ValuesOf(dims), Values(kMaxRank, 5));
  EXPECT_EQ(ValuesOf(Dims::Filled(11, 3)), Values(kMaxRank, 3));
  EXPECT_EQ(Dims::Filled(11, 3).rank(), 11);
}

TEST(Dims, RankZeroIsNotAListOfOneZero) { EXPECT_NE(Dims(), Dims({0})); }

TEST(ContiguousStrides, AreRowMajor) {
  EXPECT_EQ(ContiguousStrides({2, 3, 4}), Dims({12, 4, 1}));
  EXPECT_EQ(ContiguousStrides({7}), Dims({1}));
  EXPECT_EQ(ContiguousStrides({}), Dims());
  EXPECT_EQ(ContiguousStrides({5, 0, 3}), Dims({0, 3, 1}));
  EXPECT_EQ(Contiguous(DType::kInt8, {2, 5}).strides, Dims({5, 1}));
}

TEST(ContiguousStrides, TakesRanksBeyondTheHeld) {
  EXPECT_EQ(ValuesOf(ContiguousStrides(Dims::Filled(12, 2))),
            (Values{128, 64, 32, 16, 8, 4, 2, 1}));
}

TEST(DType, SizesAndNames) {
  const std::pair<DType, std::pair<std::string_view, int64_t>> rows[] = {
      {DType::kFloat64, {"float64", 8}}, {DType::kFloat32, {"float32", 4}},
      {DType::kFloat16, {"float16", 2}}, {DType::kBFloat16, {"bfloat16", 2}},
      {DType::kInt8, {"int8", 1}},       {DType::kUInt8, {"uint8", 1}},
      {DType::kInt16, {"int16", 2}},     {DType::kUInt16, {"uint16", 2}},
      {DType::kInt32, {"int32", 4}},     {DType::kUInt32, {"uint32", 4}},
      {DType::kInt64, {"int64", 8}},     {DType::kUInt64, {"uint64", 8}},
      {DType::kBool, {"bool", 1}}};
  for (const auto& [dtype, row] : rows) {
    EXPECT_EQ(NameOf(dtype), row.first);
    EXPECT_EQ(SizeOf(dtype), row.second) << row.first;
    EXPECT_EQ(IsFloating(dtype), row.first.find("float") != std::string_view::npos) << row.first;
  }
}

TEST(IndexRule, Names) {
  EXPECT_EQ(NameOf(IndexRule::kAscend), "ascend");
  EXPECT_EQ(NameOf(IndexRule::kTorchCpu), "torch_cpu");
  EXPECT_EQ(NameOf(IndexRule::kExact), "exact");
}

}  // namespace
}  // namespace opscv
