/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of the operator interface: tensors, arrays, executors. Valid C++11. */
#ifndef OPSCV_ACLNN_ACL_META_H_
#define OPSCV_ACLNN_ACL_META_H_

/* NOLINTBEGIN(modernize-use-using,modernize-deprecated-headers): C programs read this too */

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

typedef int aclnnStatus;

#define ACLNN_SUCCESS 0
#define ACLNN_ERR_PARAM_NULLPTR 161001
#define ACLNN_ERR_PARAM_INVALID 161002
#define ACLNN_ERR_RUNTIME_ERROR 361001
#define ACLNN_ERR_INNER 561000
#define ACLNN_ERR_INNER_INFERSHAPE_ERROR 561001
#define ACLNN_ERR_INNER_TILING_ERROR 561002
#define ACLNN_ERR_INNER_CREATE_EXECUTOR 561101
#define ACLNN_ERR_INNER_NULLPTR 561103

/* Handles are opaque values, never addresses: one that was destroyed, or that this process did not
 * create, is refused. */
typedef struct aclTensor aclTensor;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclOpExecutor aclOpExecutor;

#ifdef __cplusplus
extern "C" {
#endif

/* A view of device memory. Strides and offset count elements; dims and strides are copied. NULL
 * stride: contiguous. NULL storageDims or storageDimsNum 0: the view's own dims. storageDims may be
 * one flat length. tensorData may be NULL until the second stage. Returns NULL, with a message, for
 * more than 8 dims, negative dims, or NULL viewDims with viewDimsNum > 0. */
OPSCV_ACL_API aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum,
                                         aclDataType dataType, const int64_t* stride,
                                         int64_t offset, aclFormat format,
                                         const int64_t* storageDims, uint64_t storageDimsNum,
                                         void* tensorData);
OPSCV_ACL_API aclnnStatus aclDestroyTensor(const aclTensor* tensor);
/* The caller frees *viewDims and *strides with delete[]. */
OPSCV_ACL_API aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims,
                                          uint64_t* viewDimsNum);
OPSCV_ACL_API aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** strides,
                                            uint64_t* stridesNum);
OPSCV_ACL_API aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType);
OPSCV_ACL_API aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format);

/* The values are copied. NULL, with a message, for NULL value with size > 0. */
OPSCV_ACL_API aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size);
OPSCV_ACL_API aclnnStatus aclDestroyIntArray(const aclIntArray* array);
OPSCV_ACL_API aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size);
OPSCV_ACL_API aclnnStatus aclDestroyFloatArray(const aclFloatArray* array);

/* An executor serves one second-stage call, after which its handle ends. A repeatable one serves
 * any number, until aclDestroyAclOpExecutor. */
OPSCV_ACL_API aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor);
OPSCV_ACL_API aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor);

/* Gives the executor's input or output number `index` (tensors only, counted from 0) another
 * address. `tensor` has the shape, strides and types that the first stage saw. */
OPSCV_ACL_API aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, size_t index,
                                                aclTensor* tensor, void* addr);
OPSCV_ACL_API aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, size_t index,
                                                 aclTensor* tensor, void* addr);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using,modernize-deprecated-headers) */

#endif /* OPSCV_ACLNN_ACL_META_H_ */
