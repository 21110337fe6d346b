// SPDX-License-Identifier: Apache-2.0
// A planned call with its addresses: what stage one leaves and stage two queues.
#ifndef OPSCV_CAPI_EXECUTOR_H_
#define OPSCV_CAPI_EXECUTOR_H_

#include <cstdint>
#include <memory>
#include <mutex>

#include "aclnn/aclnn_base.h"
#include "base/status.h"
#include "capi/planned_call.h"
#include "ops/op_info.h"

namespace opscv::capi {

struct Executor {
  std::shared_ptr<const PlannedCall> call;

  std::mutex mutex;       // guards what follows
  void* input = nullptr;  // device addresses of the tensors; may still be null
  void* output = nullptr;
  bool disjoint = false;  // the two were found to share no memory
  bool repeatable = false;
};

// Stage two of the operator: checks, ends a handle that is not repeatable, queues the work. Nothing
// is queued on refusal.
[[nodiscard]] Status Launch(const ops::OpInfo& info, void* workspace, uint64_t workspace_size,
                            aclOpExecutor* executor, aclrtStream stream);

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_EXECUTOR_H_
