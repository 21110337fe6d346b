// SPDX-License-Identifier: Apache-2.0
// Declares the function of every operator folder that gives its OpPair.
#ifndef OPSCV_OPS_PAIRS_H_
#define OPSCV_OPS_PAIRS_H_

#include "ops/op_info.h"

namespace opscv::ops {

#define OPSCV_OPERATOR_PAIR(name) [[nodiscard]] const OpPair& name##Pair();
#include "ops/operators.inc"
#undef OPSCV_OPERATOR_PAIR

}  // namespace opscv::ops

#endif  // OPSCV_OPS_PAIRS_H_
