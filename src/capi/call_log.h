// SPDX-License-Identifier: Apache-2.0
// At OPSCV_LOG=debug: the chain of steps that a device would run for a call, and what each costs
// here.
#ifndef OPSCV_CAPI_CHAIN_LOG_H_
#define OPSCV_CAPI_CHAIN_LOG_H_

#include "capi/stage_one.h"

namespace opscv::capi {

// Logs one line a step; nothing unless debug lines are wanted. `plan` is null for an empty call.
void LogChain(const Call& call, const plan::Plan* plan);

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_CHAIN_LOG_H_
