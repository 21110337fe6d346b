// SPDX-License-Identifier: Apache-2.0
// A planned call with its addresses: what stage one leaves and stage two queues.
#ifndef OPSCV_CAPI_EXECUTOR_H_
#define OPSCV_CAPI_EXECUTOR_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "aclnn/aclnn_base.h"
#include "base/status.h"
#include "ops/op_info.h"
#include "opscv/view.h"
#include "plan/plan.h"

namespace opscv::capi {

// A tensor of a call.
struct Operand {
  std::string_view name;  // of the C function's parameter
  TensorDesc desc;
  int64_t offset = 0;    // elements from the address to the element with coordinates 0
  void* data = nullptr;  // device address; may still be null in stage one

  // The device address of the element with coordinates 0.
  [[nodiscard]] void* FirstElement() const;
};

struct Executor {
  const ops::OpInfo* info = nullptr;
  std::shared_ptr<const plan::Plan> plan;  // null: the call has nothing to run
  int threads = 1;
  uint64_t workspace_bytes = 0;

  std::mutex mutex;  // guards what follows
  Operand input;
  Operand output;
  bool repeatable = false;
};

// kInvalidArgument where the tensors share memory; both have addresses.
[[nodiscard]] Status CheckDisjoint(const Operand& input, const Operand& output);

// Stage two of the operator: checks, ends a handle that is not repeatable, queues the work. Nothing
// is queued on refusal.
[[nodiscard]] Status Launch(const ops::OpInfo& info, void* workspace, uint64_t workspace_size,
                            aclOpExecutor* executor, aclrtStream stream);

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_EXECUTOR_H_
