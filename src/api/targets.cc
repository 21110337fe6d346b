// SPDX-License-Identifier: Apache-2.0
#include "opscv/targets.h"

#include "base/parallel.h"
#include "base/status.h"
#include "plan/plan.h"

namespace opscv {

std::vector<std::string> SupportedTargets() { return plan::SupportedTargets(); }

Result<std::string> CurrentTarget() { return plan::CurrentTarget(); }

int DefaultThreadCount() { return DefaultThreads(); }

}  // namespace opscv
