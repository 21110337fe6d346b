// SPDX-License-Identifier: Apache-2.0
// The C interface's numbers for element types and formats, their names, and ours for them.
#ifndef OPSCV_CAPI_DTYPES_H_
#define OPSCV_CAPI_DTYPES_H_

#include <optional>
#include <string>

#include "opscv/view.h"

namespace opscv::capi {

// "ACL_FLOAT16", "ACL_FORMAT_NDHWC"; a number that is none of the enumeration reads "aclDataType
// 99" or "aclFormat 99".
[[nodiscard]] std::string DataTypeText(int acl_data_type);
[[nodiscard]] std::string FormatText(int acl_format);

// Nothing for strings, complex and undefined types.
[[nodiscard]] std::optional<DType> ToDType(int acl_data_type);

// The aclDataType of a type.
[[nodiscard]] int ToAclDataType(DType dtype);

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_DTYPES_H_
