// SPDX-License-Identifier: Apache-2.0
// Finds operators by name, and reads a Spec against an operator's prototype.
#ifndef OPSCV_OPS_REGISTRY_H_
#define OPSCV_OPS_REGISTRY_H_

#include <span>
#include <string_view>

#include "ops/op_info.h"

namespace opscv::ops {

// All operator pairs, in the order of operators.inc.
[[nodiscard]] std::span<const OpPair* const> AllPairs();

// The operator of that graph name, upper and lower case being the same; kNotFound, listing all
// names, for any other.
[[nodiscard]] Result<const OpInfo*> FindOperator(std::string_view name);

// The call that a Spec and two tensors make: attributes matched by name and type, defaults filled
// in. kNotFound for a name the prototype lacks, kInvalidArgument for a wrong type, a missing
// required attribute, or an index rule where none is taken. Values are judged by OpInfo::validate.
[[nodiscard]] Result<OpCall> BindCall(const Spec& spec, const TensorDesc& input,
                                      const TensorDesc& output);

}  // namespace opscv::ops

#endif  // OPSCV_OPS_REGISTRY_H_
