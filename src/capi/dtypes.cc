// SPDX-License-Identifier: Apache-2.0
#include "capi/dtypes.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "acl/acl_base.h"

namespace opscv::capi {
namespace {

struct TypeRow {
  int number;
  std::string_view name;
  std::optional<DType> dtype;
};
constexpr std::array<TypeRow, 17> kTypes = {{
    {ACL_DT_UNDEFINED, "ACL_DT_UNDEFINED", std::nullopt},
    {ACL_FLOAT, "ACL_FLOAT", DType::kFloat32},
    {ACL_FLOAT16, "ACL_FLOAT16", DType::kFloat16},
    {ACL_INT8, "ACL_INT8", DType::kInt8},
    {ACL_INT32, "ACL_INT32", DType::kInt32},
    {ACL_UINT8, "ACL_UINT8", DType::kUInt8},
    {ACL_INT16, "ACL_INT16", DType::kInt16},
    {ACL_UINT16, "ACL_UINT16", DType::kUInt16},
    {ACL_UINT32, "ACL_UINT32", DType::kUInt32},
    {ACL_INT64, "ACL_INT64", DType::kInt64},
    {ACL_UINT64, "ACL_UINT64", DType::kUInt64},
    {ACL_DOUBLE, "ACL_DOUBLE", DType::kFloat64},
    {ACL_BOOL, "ACL_BOOL", DType::kBool},
    {ACL_STRING, "ACL_STRING", std::nullopt},
    {ACL_COMPLEX64, "ACL_COMPLEX64", std::nullopt},
    {ACL_COMPLEX128, "ACL_COMPLEX128", std::nullopt},
    {ACL_BF16, "ACL_BF16", DType::kBFloat16},
}};

struct FormatRow {
  int number;
  std::string_view name;
};
constexpr std::array<FormatRow, 7> kFormats = {{
    {ACL_FORMAT_UNDEFINED, "ACL_FORMAT_UNDEFINED"},
    {ACL_FORMAT_NCHW, "ACL_FORMAT_NCHW"},
    {ACL_FORMAT_NHWC, "ACL_FORMAT_NHWC"},
    {ACL_FORMAT_ND, "ACL_FORMAT_ND"},
    {ACL_FORMAT_NDHWC, "ACL_FORMAT_NDHWC"},
    {ACL_FORMAT_NCDHW, "ACL_FORMAT_NCDHW"},
    {ACL_FORMAT_NCL, "ACL_FORMAT_NCL"},
}};

}  // namespace

std::string DataTypeText(int acl_data_type) {
  for (const TypeRow& row : kTypes) {
    if (row.number == acl_data_type) return std::string(row.name);
  }
  return fmt::format("aclDataType {}", acl_data_type);
}

std::string FormatText(int acl_format) {
  for (const FormatRow& row : kFormats) {
    if (row.number == acl_format) return std::string(row.name);
  }
  return fmt::format("aclFormat {}", acl_format);
}

std::optional<DType> ToDType(int acl_data_type) {
  for (const TypeRow& row : kTypes) {
    if (row.number == acl_data_type) return row.dtype;
  }
  return std::nullopt;
}

int ToAclDataType(DType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return row.number;
  }
  return ACL_DT_UNDEFINED;
}

}  // namespace opscv::capi
