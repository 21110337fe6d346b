// SPDX-License-Identifier: Apache-2.0
// The steps that every first stage takes. What an operator is comes from its OpInfo; what the
// device asks for beyond that is in limits.h.
#ifndef OPSCV_CAPI_STAGE_ONE_H_
#define OPSCV_CAPI_STAGE_ONE_H_

#include <initializer_list>
#include <memory>
#include <string_view>
#include <variant>

#include "aclnn/aclnn_base.h"
#include "base/status.h"
#include "capi/executor.h"
#include "capi/meta.h"
#include "capi/product.h"
#include "ops/op_info.h"
#include "plan/plan.h"

namespace opscv::capi {

struct NamedHandle {
  std::string_view name;
  const void* handle;
};

// A value of the C function for an attribute of the prototype.
using AttrArg = std::variant<const aclIntArray*, bool, double, FloatList>;

// A call as the program made it, read from the handles: from here on they are not needed.
struct Call {
  ops::OpCall op;
  Operand input;
  Operand output;
  std::shared_ptr<const Tensor> input_tensor;
  std::shared_ptr<const Tensor> output_tensor;
  const ProductProfile* profile = nullptr;

  // N or C is 0, which only operators that take it let pass.
  [[nodiscard]] bool Empty() const;
};

// kNullPointer for the first that is null, workspaceSize and executor before all others.
[[nodiscard]] Status CheckPointers(const uint64_t* workspace_size, aclOpExecutor* const* executor,
                                   std::initializer_list<NamedHandle> handles);

// Whether the product of OPSCV_SOC has the operator, and the other variables are what they can be.
[[nodiscard]] Status CheckProduct(const ops::OpInfo& info);

// Reads the handles, none null; attributes in the prototype's order.
[[nodiscard]] Status ReadCall(const ops::OpInfo& info, const aclTensor* input,
                              const aclTensor* output, std::initializer_list<AttrArg> attrs,
                              Call& call);

// Every check of the call's values, in the interface's order.
[[nodiscard]] Status Validate(const Call& call);

// The plan of a valid call; null when there is nothing to run.
[[nodiscard]] Result<std::shared_ptr<const plan::Plan>> MakeCallPlan(const Call& call);

// Hands the call over to a new executor and tells the program.
[[nodiscard]] Status Publish(std::shared_ptr<const plan::Plan> plan, const Call& call,
                             uint64_t* workspace_size, aclOpExecutor** executor);

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_STAGE_ONE_H_
