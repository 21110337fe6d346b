// SPDX-License-Identifier: Apache-2.0
// What stands behind the handles of tensors, arrays and contexts. Plain values, immutable once
// made.
#ifndef OPSCV_CAPI_META_H_
#define OPSCV_CAPI_META_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "aclnn/acl_meta.h"
#include "opscv/view.h"

namespace opscv::capi {

struct Tensor {
  int dtype = ACL_DT_UNDEFINED;       // an aclDataType, or whatever the program passed
  int format = ACL_FORMAT_UNDEFINED;  // likewise an aclFormat
  Dims shape;
  Dims strides;  // in elements
  int64_t offset = 0;
  Dims storage;          // dims of the memory that the view lies in
  void* data = nullptr;  // device address of the storage's first element
};

using IntArray = std::vector<int64_t>;
using FloatArray = std::vector<float>;

struct Context {
  static constexpr int64_t kUnset = -1;
  std::atomic<int64_t> deterministic = kUnset;
};

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_META_H_
