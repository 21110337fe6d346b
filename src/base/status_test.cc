// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>

namespace opscv {
namespace {

Status Check(int value) {
  if (value < 0) return InvalidArgument("value must be positive, got {}", value);
  return {};
}

Result<std::unique_ptr<int>> Make(int value) {
  if (Status status = Check(value); !status.ok()) return Unexpected(std::move(status));
  return std::make_unique<int>(value);
}

Status Sum(int a, int b, int& sum) {
  OPSCV_RETURN_IF_ERROR(Check(a));
  OPSCV_ASSIGN_OR_RETURN(const std::unique_ptr<int> first, Make(a));
  OPSCV_ASSIGN_OR_RETURN(const std::unique_ptr<int> second, Make(b));
  sum = *first + *second;
  return {};
}

TEST(Status, MacrosPassValuesAndTheFirstError) {
  int sum = 0;
  EXPECT_TRUE(Sum(2, 3, sum).ok());
  EXPECT_EQ(sum, 5);
  const Status second = Sum(2, -3, sum);
  EXPECT_EQ(second.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(second.message(), "value must be positive, got -3");
  EXPECT_EQ(Sum(-9, -3, sum).message(), "value must be positive, got -9");
  EXPECT_EQ(sum, 5);
}

}  // namespace
}  // namespace opscv
