// SPDX-License-Identifier: Apache-2.0
// acl_meta.h: tensors and arrays.
#include <algorithm>
#include <string_view>

#include "aclnn/acl_meta.h"
#include "capi/error.h"
#include "capi/runtime.h"

namespace opscv::capi {
namespace {

// `name` is that of the pointer, `count_name` that of the length.
Status CheckDims(const int64_t* values, uint64_t count, std::string_view name,
                 std::string_view count_name) {
  if (count > kMaxRank) {
    return InvalidArgument("{} must be <= {}, got {}.", count_name, kMaxRank, count);
  }
  if (values == nullptr && count > 0) {
    return {StatusCode::kNullPointer,
            fmt::format("{} must not be null where {} is {}.", name, count_name, count)};
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (values[i] < 0) return InvalidArgument("{}[{}] must be >= 0, got {}.", name, i, values[i]);
  }
  return {};
}

Dims AsDims(const int64_t* values, uint64_t count) {
  return Dims(std::span<const int64_t>(values, static_cast<size_t>(count)));
}

Status GiveCopy(const Dims& dims, int64_t** values, uint64_t* count) {
  const std::span<const int64_t> held = dims.values();
  *values = new int64_t[held.size()];  // the caller's, who frees it with delete[]
  std::copy(held.begin(), held.end(), *values);
  *count = held.size();
  return {};
}

Status CheckOutput(const void* pointer, std::string_view name) {
  if (pointer != nullptr) return {};
  return {StatusCode::kNullPointer, fmt::format("{} must not be null.", name)};
}

Result<std::shared_ptr<const Tensor>> FindGiven(const aclTensor* tensor) {
  if (Status status = CheckOutput(tensor, "tensor"); !status.ok()) {
    return Unexpected(std::move(status));
  }
  return FindTensor(tensor, "tensor");
}

template <typename Table, typename Handle>
Status Destroy(Table& table, HandleKind kind, const Handle* handle, std::string_view name) {
  OPSCV_RETURN_IF_ERROR(CheckOutput(handle, name));
  if (table.Take(handle) != nullptr) return {};
  return InvalidArgument("{} {}.", name, WhyNot(kind, handle));
}

template <typename Handle, typename T>
Handle* CreateArray(HandleTable<const std::vector<T>> Runtime::*table, const T* value,
                    uint64_t size, const char* function) {
  return GuardPointer(
      [&]() -> Result<Handle*> {
        if (value == nullptr && size > 0) {
          return Unexpected({StatusCode::kNullPointer,
                             fmt::format("value must not be null where size is {}.", size)});
        }
        void* handle = nullptr;
        const AclStatus status =
            Issue(Runtime::Get().*table,
                  std::make_shared<const std::vector<T>>(value, value + size), &handle);
        if (!status.ok()) return Unexpected({StatusCode::kOutOfMemory, status.message()});
        return static_cast<Handle*>(handle);
      },
      function);
}

}  // namespace
}  // namespace opscv::capi

using namespace opscv::capi;  // NOLINT(google-build-using-namespace): C functions have no namespace
using opscv::Result;
using opscv::Status;

size_t aclDataTypeSize(aclDataType dataType) {
  switch (static_cast<int>(dataType)) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
      return 4;
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64:
      return 8;
    case ACL_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
  return GuardPointer([&]() -> Result<aclTensor*> {
    if (storageDims == nullptr) storageDimsNum = 0;
    for (Status status :
         {CheckDims(viewDims, viewDimsNum, "viewDims", "viewDimsNum"),
          CheckDims(storageDims, storageDimsNum, "storageDims", "storageDimsNum")}) {
      if (!status.ok()) return opscv::Unexpected(std::move(status));
    }
    auto tensor = std::make_shared<Tensor>();
    tensor->dtype = dataType;
    tensor->format = format;
    tensor->shape = AsDims(viewDims, viewDimsNum);
    tensor->strides =
        stride == nullptr ? ContiguousStrides(tensor->shape) : AsDims(stride, viewDimsNum);
    tensor->offset = offset;
    tensor->storage = storageDimsNum == 0 ? tensor->shape : AsDims(storageDims, storageDimsNum);
    tensor->data = tensorData;
    void* handle = nullptr;
    const AclStatus status =
        Issue(Runtime::Get().tensors, std::shared_ptr<const Tensor>(std::move(tensor)), &handle);
    if (!status.ok()) {
      return opscv::Unexpected({opscv::StatusCode::kOutOfMemory, status.message()});
    }
    return static_cast<aclTensor*>(handle);
  });
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  return Guard(
      [&] { return Destroy(Runtime::Get().tensors, HandleKind::kTensor, tensor, "tensor"); });
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  return Guard([&]() -> Status {
    OPSCV_ASSIGN_OR_RETURN(const std::shared_ptr<const Tensor> found, FindGiven(tensor));
    OPSCV_RETURN_IF_ERROR(CheckOutput(viewDims, "viewDims"));
    OPSCV_RETURN_IF_ERROR(CheckOutput(viewDimsNum, "viewDimsNum"));
    return GiveCopy(found->shape, viewDims, viewDimsNum);
  });
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** strides, uint64_t* stridesNum) {
  return Guard([&]() -> Status {
    OPSCV_ASSIGN_OR_RETURN(const std::shared_ptr<const Tensor> found, FindGiven(tensor));
    OPSCV_RETURN_IF_ERROR(CheckOutput(strides, "strides"));
    OPSCV_RETURN_IF_ERROR(CheckOutput(stridesNum, "stridesNum"));
    return GiveCopy(found->strides, strides, stridesNum);
  });
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  return Guard([&]() -> Status {
    OPSCV_ASSIGN_OR_RETURN(const std::shared_ptr<const Tensor> found, FindGiven(tensor));
    OPSCV_RETURN_IF_ERROR(CheckOutput(dataType, "dataType"));
    *dataType = static_cast<aclDataType>(found->dtype);
    return {};
  });
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  return Guard([&]() -> Status {
    OPSCV_ASSIGN_OR_RETURN(const std::shared_ptr<const Tensor> found, FindGiven(tensor));
    OPSCV_RETURN_IF_ERROR(CheckOutput(format, "format"));
    *format = static_cast<aclFormat>(found->format);
    return {};
  });
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return CreateArray<aclIntArray>(&Runtime::int_arrays, value, size, __func__);
}

aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
  return Guard(
      [&] { return Destroy(Runtime::Get().int_arrays, HandleKind::kIntArray, array, "array"); });
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return CreateArray<aclFloatArray>(&Runtime::float_arrays, value, size, __func__);
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
  return Guard([&] {
    return Destroy(Runtime::Get().float_arrays, HandleKind::kFloatArray, array, "array");
  });
}
