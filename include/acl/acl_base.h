/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and types shared by the runtime and the operator interface. Valid C99 and C++11. */
#ifndef OPSCV_ACL_ACL_BASE_H_
#define OPSCV_ACL_ACL_BASE_H_

/* NOLINTBEGIN(modernize-use-using,modernize-deprecated-headers): C programs read this too */

#include <stddef.h>
#include <stdint.h>

#define OPSCV_ACL_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef int aclError;

#define ACL_SUCCESS 0
#define ACL_ERROR_INVALID_PARAM 100000
#define ACL_ERROR_UNINITIALIZE 100001
#define ACL_ERROR_REPEAT_INITIALIZE 100002
#define ACL_ERROR_RT_CONTEXT_NULL 107002
#define ACL_ERROR_RT_STREAM_CONTEXT 107003
#define ACL_ERROR_BAD_ALLOC 200000
#define ACL_ERROR_RT_MEMORY_ALLOCATION 207001
#define ACL_ERROR_INTERNAL_ERROR 500000

typedef enum aclDataType {
  ACL_DT_UNDEFINED = -1,
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_UINT16 = 7,
  ACL_UINT32 = 8,
  ACL_INT64 = 9,
  ACL_UINT64 = 10,
  ACL_DOUBLE = 11,
  ACL_BOOL = 12,
  ACL_STRING = 13,
  ACL_COMPLEX64 = 16,
  ACL_COMPLEX128 = 17,
  ACL_BF16 = 27
} aclDataType;

typedef enum aclFormat {
  ACL_FORMAT_UNDEFINED = -1,
  ACL_FORMAT_NCHW = 0,
  ACL_FORMAT_NHWC = 1,
  ACL_FORMAT_ND = 2,
  ACL_FORMAT_NDHWC = 27,
  ACL_FORMAT_NCDHW = 30,
  ACL_FORMAT_NCL = 47
} aclFormat;

/* Bytes of one element; 0 for types without a fixed size and for unknown values. */
OPSCV_ACL_API size_t aclDataTypeSize(aclDataType dataType);

/* The message of this thread's last failure, such as
 *   EZ1001: aclrtMalloc: size must be > 0, got 0.
 * EZ1001 is a refused argument, EZ9999 anything else. NULL when nothing has failed on this thread.
 * The text is valid until this thread's next call. */
OPSCV_ACL_API const char* aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using,modernize-deprecated-headers) */

#endif /* OPSCV_ACL_ACL_BASE_H_ */
