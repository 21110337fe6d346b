// SPDX-License-Identifier: Apache-2.0
// A planned call with its addresses, waiting for stage two.
#ifndef OPSCV_CAPI_EXECUTOR_H_
#define OPSCV_CAPI_EXECUTOR_H_

#include <memory>

#include "plan/plan.h"

namespace opscv::capi {

struct Executor {
  std::shared_ptr<const plan::Plan> plan;
};

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_EXECUTOR_H_
