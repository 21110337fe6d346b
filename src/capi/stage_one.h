// SPDX-License-Identifier: Apache-2.0
// The steps that every first stage takes. What an operator is comes from its OpInfo; what the
// device asks for beyond that is in limits.h.
#ifndef OPSCV_CAPI_STAGE_ONE_H_
#define OPSCV_CAPI_STAGE_ONE_H_

#include <array>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <variant>

#include "aclnn/aclnn_base.h"
#include "base/status.h"
#include "capi/meta.h"
#include "capi/planned_call.h"
#include "capi/product.h"
#include "ops/op_info.h"

namespace opscv::capi {

struct NamedHandle {
  std::string_view name;
  const void* handle;
};

// A value of the C function for an attribute of the prototype; scales stand for a list of floats.
using Scales = std::array<double, 3>;
using AttrArg = std::variant<const aclIntArray*, bool, double, Scales>;

// A call as the program made it, read from the handles: from here on they are not needed.
struct Arguments {
  using Attr = std::variant<std::monostate, std::shared_ptr<const IntArray>, bool, double, Scales>;
  static constexpr size_t kMostAttrs = 6;

  explicit Arguments(const ops::OpInfo& op) : info(&op) {}

  const ops::OpInfo* info;
  const ProductProfile* profile = nullptr;
  IndexRule rule = IndexRule::kAscend;
  std::shared_ptr<const Tensor> input;
  std::shared_ptr<const Tensor> output;
  std::array<Attr, kMostAttrs> attrs;  // in the prototype's order, as many as it has
};

// The same call in the words of the operator's checks.
struct Call {
  const Arguments& args;
  ops::OpCall op;
  Operand input;
  Operand output;
};

// kNullPointer for the first that is null, workspaceSize and executor before all others.
[[nodiscard]] Status CheckPointers(const uint64_t* workspace_size, aclOpExecutor* const* executor,
                                   std::initializer_list<NamedHandle> handles);

// Whether the product of OPSCV_SOC has the operator, and the other variables are what they can be;
// `args` gets product and rule.
[[nodiscard]] Status CheckProduct(Arguments& args);

// Reads the handles, none null; attributes in the prototype's order.
[[nodiscard]] Status ReadArguments(const aclTensor* input, const aclTensor* output,
                                   std::initializer_list<AttrArg> attrs, Arguments& args);

// Every check of the call's values, in the interface's order, and its plan: found where a call of
// the same values was planned before.
[[nodiscard]] Status PlanCall(const Arguments& args, std::shared_ptr<const PlannedCall>& call);

// Hands the call over to a new executor and tells the program.
[[nodiscard]] Status Publish(std::shared_ptr<const PlannedCall> call, const Arguments& args,
                             uint64_t* workspace_size, aclOpExecutor** executor);

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_STAGE_ONE_H_
