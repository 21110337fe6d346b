/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime: device, contexts, streams, events and memory. The host is the one device, number 0.
 * Valid C99 and C++11. Every function may be called from any thread; each returns ACL_SUCCESS or a
 * code whose reason aclGetRecentErrMsg tells. */
#ifndef OPSCV_ACL_ACL_RT_H_
#define OPSCV_ACL_ACL_RT_H_

/* NOLINTBEGIN(modernize-use-using,modernize-deprecated-headers): C programs read this too */

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Handles are opaque values, never addresses: one that was destroyed, or that this process did not
 * create, is refused. */
typedef void* aclrtStream;
typedef void* aclrtContext;
typedef void* aclrtEvent;

/* Runs in a stream's order. A C++ exception that leaves it makes the stream's next synchronisation
 * return 500000. */
typedef void (*aclrtHostFunc)(void* userData);

typedef enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST = 0,
  ACL_MEM_MALLOC_HUGE_ONLY = 1,
  ACL_MEM_MALLOC_NORMAL_ONLY = 2
} aclrtMemMallocPolicy;

typedef enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST = 0,
  ACL_MEMCPY_HOST_TO_DEVICE = 1,
  ACL_MEMCPY_DEVICE_TO_HOST = 2,
  ACL_MEMCPY_DEVICE_TO_DEVICE = 3
} aclrtMemcpyKind;

/* ACL_OPT_DETERMINISTIC: 0 or 1. Both compute the same bits here; see the manual. */
typedef enum aclSysParamOpt { ACL_OPT_DETERMINISTIC = 0 } aclSysParamOpt;

/* ---- device ---- */

/* aclrtSetDevice and aclrtResetDevice are counted: the reset that answers the first set finishes
 * all queued work and frees the streams, events and device memory that are left. */
OPSCV_ACL_API aclError aclrtSetDevice(int32_t deviceId);
OPSCV_ACL_API aclError aclrtResetDevice(int32_t deviceId);
OPSCV_ACL_API aclError aclrtGetDevice(int32_t* deviceId);
OPSCV_ACL_API aclError aclrtGetDeviceCount(uint32_t* count);
/* Waits for all work that was queued on any stream before the call. */
OPSCV_ACL_API aclError aclrtSynchronizeDevice(void);
/* The product that OPSCV_SOC chooses, "Ascend950" when it is unset. NULL when OPSCV_SOC names no
 * known product. The text stays valid. */
OPSCV_ACL_API const char* aclrtGetSocName(void);
OPSCV_ACL_API aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion,
                                       int32_t* patchVersion);

/* ---- contexts and options ---- */

/* The new context becomes the calling thread's current one. A thread that never chose a context
 * has the device's own. */
OPSCV_ACL_API aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId);
OPSCV_ACL_API aclError aclrtDestroyContext(aclrtContext context);
OPSCV_ACL_API aclError aclrtSetCurrentContext(aclrtContext context);
OPSCV_ACL_API aclError aclrtGetCurrentContext(aclrtContext* context);
/* Options of the current context; where it has none set, those of the process; where that has none
 * set, the product's default. */
OPSCV_ACL_API aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);
OPSCV_ACL_API aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value);
OPSCV_ACL_API aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);
OPSCV_ACL_API aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value);

/* ---- streams and events; a NULL stream is the device's default stream ---- */

OPSCV_ACL_API aclError aclrtCreateStream(aclrtStream* stream);
/* Finishes what the stream holds first. */
OPSCV_ACL_API aclError aclrtDestroyStream(aclrtStream stream);
OPSCV_ACL_API aclError aclrtSynchronizeStream(aclrtStream stream);
OPSCV_ACL_API aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* userData);
OPSCV_ACL_API aclError aclrtCreateEvent(aclrtEvent* event);
OPSCV_ACL_API aclError aclrtDestroyEvent(aclrtEvent event);
OPSCV_ACL_API aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
/* Work queued later on the stream begins after the event's latest record at the time of the call;
 * an event without a record holds nothing up. */
OPSCV_ACL_API aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
OPSCV_ACL_API aclError aclrtSynchronizeEvent(aclrtEvent event);
/* Milliseconds between the latest records of two events, both of which must have been reached. */
OPSCV_ACL_API aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent);

/* ---- memory ---- */

/* Aligned to 64 bytes. A size of 0 is refused. */
OPSCV_ACL_API aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy);
OPSCV_ACL_API aclError aclrtFree(void* devPtr);
OPSCV_ACL_API aclError aclrtMallocHost(void** hostPtr, size_t size);
OPSCV_ACL_API aclError aclrtFreeHost(void* hostPtr);
/* These two take effect at once and order with no stream. */
OPSCV_ACL_API aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                                   aclrtMemcpyKind kind);
OPSCV_ACL_API aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count);
OPSCV_ACL_API aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                                        aclrtMemcpyKind kind, aclrtStream stream);
OPSCV_ACL_API aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using,modernize-deprecated-headers) */

#endif /* OPSCV_ACL_ACL_RT_H_ */
