// SPDX-License-Identifier: Apache-2.0
// What a first stage has decided of a call, addresses apart: the same for every call of the same
// values, so that it can be kept. Knows no handle.
#ifndef OPSCV_CAPI_PLANNED_CALL_H_
#define OPSCV_CAPI_PLANNED_CALL_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/status.h"
#include "ops/check_rules.h"
#include "ops/op_info.h"
#include "opscv/spec.h"
#include "opscv/view.h"
#include "plan/plan.h"

namespace opscv::capi {

// A tensor of a call, without its address.
struct Operand {
  std::string_view name;  // of the C function's parameter
  TensorDesc desc;
  int64_t offset = 0;  // elements from a tensor's address to the element with coordinates 0
  ops::Reach reach;    // of a view that has passed the checks

  // The device address of the element with coordinates 0, for a tensor at the device address.
  [[nodiscard]] void* FirstElement(void* data) const {
    return static_cast<char*>(data) + offset * SizeOf(desc.dtype);
  }
};

struct PlannedCall {
  const ops::OpInfo* info = nullptr;
  IndexRule rule = IndexRule::kAscend;
  Operand input;
  Operand output;
  std::shared_ptr<const plan::Plan> plan;  // null: the call has nothing to run
  int threads = 1;
  uint64_t workspace_bytes = 0;
  bool brief = false;  // waking a thread would take longer than to run it
};

// kInvalidArgument where tensors at these device addresses share memory.
[[nodiscard]] Status CheckDisjoint(const PlannedCall& call, void* input, void* output);

// About how many bytes the plan's tables take; not less than they do.
[[nodiscard]] uint64_t TableBytes(const plan::Plan& plan);

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_PLANNED_CALL_H_
