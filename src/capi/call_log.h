// SPDX-License-Identifier: Apache-2.0
// What a first stage tells of a call: at OPSCV_LOG=info the call in one line, at debug also the
// chain of steps that a device would run for it, and what each costs here.
#ifndef OPSCV_CAPI_CALL_LOG_H_
#define OPSCV_CAPI_CALL_LOG_H_

#include "capi/planned_call.h"

namespace opscv::capi {

// Nothing unless such lines are wanted.
void LogCall(const PlannedCall& call);

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_CALL_LOG_H_
