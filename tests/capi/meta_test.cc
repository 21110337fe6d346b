// SPDX-License-Identifier: Apache-2.0
// Tensors and arrays as handles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/capi/device.h"

namespace opscv::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

aclTensor* MakeTensor(const Shape& dims, const int64_t* strides = nullptr) {
  return aclCreateTensor(dims.data(), dims.size(), ACL_FLOAT, strides, 0, ACL_FORMAT_ND, nullptr, 0,
                         nullptr);
}

Shape ReadShape(const aclTensor* tensor,
                aclnnStatus (*read)(const aclTensor*, int64_t**, uint64_t*)) {
  int64_t* values = nullptr;
  uint64_t count = 0;
  EXPECT_EQ(read(tensor, &values, &count), 0);
  Shape shape(values, values + count);
  delete[] values;
  return shape;
}

TEST(Meta, ATensorTellsWhatItIs) {
  const Shape dims = {2, 3, 4};
  aclTensor* tensor =
      aclCreateTensor(dims.data(), 3, ACL_BF16, nullptr, 0, ACL_FORMAT_NCL, nullptr, 0, nullptr);
  ASSERT_NE(tensor, nullptr);
  EXPECT_THAT(ReadShape(tensor, aclGetViewShape), ElementsAre(2, 3, 4));
  EXPECT_THAT(ReadShape(tensor, aclGetViewStrides), ElementsAre(12, 4, 1));
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  EXPECT_EQ(aclGetDataType(tensor, &type), 0);
  EXPECT_EQ(aclGetFormat(tensor, &format), 0);
  EXPECT_EQ(type, ACL_BF16);
  EXPECT_EQ(format, ACL_FORMAT_NCL);
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
  EXPECT_EQ(aclDestroyTensor(tensor), 161002);
  EXPECT_EQ(Message(),
            "EZ1001: aclDestroyTensor: tensor must be a tensor of this process, got one that was "
            "destroyed or never created.");
}

TEST(Meta, ArgumentsAreCopied) {
  Shape dims = {2, 3};
  Shape strides = {1, 2};
  aclTensor* tensor = MakeTensor(dims, strides.data());
  dims = {9, 9};
  strides = {9, 9};
  EXPECT_THAT(ReadShape(tensor, aclGetViewShape), ElementsAre(2, 3));
  EXPECT_THAT(ReadShape(tensor, aclGetViewStrides), ElementsAre(1, 2));
  aclDestroyTensor(tensor);
}

TEST(Meta, AScalarHasNoDims) {
  aclTensor* tensor =
      aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
  ASSERT_NE(tensor, nullptr);
  EXPECT_TRUE(ReadShape(tensor, aclGetViewShape).empty());
  aclDestroyTensor(tensor);
}

TEST(Meta, ImpossibleTensorsAreRefused) {
  const Shape dims = {1, -2};
  EXPECT_EQ(MakeTensor(dims), nullptr);
  EXPECT_EQ(Message(), "EZ1001: aclCreateTensor: viewDims[1] must be >= 0, got -2.");
  EXPECT_EQ(aclCreateTensor(nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr),
            nullptr);
  EXPECT_THAT(Message(), HasSubstr("viewDims must not be null where viewDimsNum is 2"));
  EXPECT_EQ(MakeTensor(Shape(9, 1)), nullptr);
  EXPECT_THAT(Message(), HasSubstr("viewDimsNum must be <= 8, got 9"));
  const int64_t good = 1;
  const int64_t bad = -1;
  EXPECT_EQ(aclCreateTensor(&good, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &bad, 1, nullptr),
            nullptr);
  EXPECT_THAT(Message(), HasSubstr("storageDims[0] must be >= 0"));
  EXPECT_NE(MakeTensor(Shape(8, 1)), nullptr);
}

TEST(Meta, NullPointersAreRefused) {
  aclTensor* tensor = MakeTensor({1});
  int64_t* values = nullptr;
  uint64_t count = 0;
  aclDataType type = ACL_FLOAT;
  EXPECT_EQ(aclDestroyTensor(nullptr), 161001);
  EXPECT_EQ(aclGetViewShape(nullptr, &values, &count), 161001);
  EXPECT_EQ(aclGetViewShape(tensor, nullptr, &count), 161001);
  EXPECT_EQ(aclGetViewStrides(tensor, &values, nullptr), 161001);
  EXPECT_EQ(aclGetDataType(tensor, nullptr), 161001);
  EXPECT_EQ(aclGetDataType(nullptr, &type), 161001);
  EXPECT_EQ(aclGetFormat(tensor, nullptr), 161001);
  EXPECT_EQ(aclDestroyIntArray(nullptr), 161001);
  EXPECT_EQ(aclDestroyFloatArray(nullptr), 161001);
  EXPECT_EQ(values, nullptr);
  aclDestroyTensor(tensor);
}

TEST(Meta, ArraysLiveUntilDestroyed) {
  const int64_t ints[] = {1, 2};
  const float floats[] = {0.5f};
  aclIntArray* int_array = aclCreateIntArray(ints, 2);
  aclFloatArray* float_array = aclCreateFloatArray(floats, 1);
  aclIntArray* empty = aclCreateIntArray(nullptr, 0);
  ASSERT_NE(int_array, nullptr);
  ASSERT_NE(float_array, nullptr);
  ASSERT_NE(empty, nullptr);
  EXPECT_EQ(aclCreateIntArray(nullptr, 2), nullptr);
  EXPECT_EQ(Message(), "EZ1001: aclCreateIntArray: value must not be null where size is 2.");
  EXPECT_EQ(aclCreateFloatArray(nullptr, 2), nullptr);
  EXPECT_EQ(aclDestroyFloatArray(reinterpret_cast<aclFloatArray*>(int_array)), 161002);
  EXPECT_THAT(Message(), HasSubstr("must be a float array, got an int array"));
  EXPECT_EQ(aclDestroyIntArray(int_array), 0);
  EXPECT_EQ(aclDestroyIntArray(int_array), 161002);
  EXPECT_EQ(aclDestroyFloatArray(float_array), 0);
  EXPECT_EQ(aclDestroyIntArray(empty), 0);
}

TEST(Meta, ForeignPointersAreRefused) {
  int64_t object = 0;
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), 0);
  EXPECT_EQ(aclDestroyTensor(reinterpret_cast<aclTensor*>(&object)), 161002);
  EXPECT_THAT(Message(), HasSubstr("which is no handle"));
  EXPECT_EQ(aclDestroyTensor(static_cast<aclTensor*>(stream)), 161002);
  EXPECT_THAT(Message(), HasSubstr("must be a tensor, got a stream"));
  EXPECT_EQ(aclrtDestroyStream(&object), 107003);
  EXPECT_EQ(aclrtDestroyEvent(stream), 107003);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

}  // namespace
}  // namespace opscv::testing
