// SPDX-License-Identifier: Apache-2.0
// The SIMD targets that plans choose from. Knows nothing of operators.
#ifndef OPSCV_TARGETS_H_
#define OPSCV_TARGETS_H_

#include <string>
#include <vector>

#include "opscv/export.h"
#include "opscv/status.h"

namespace opscv {

// The targets that are compiled in and that this machine runs, best first: "AVX3", "AVX2", ...
[[nodiscard]] OPSCV_API std::vector<std::string> SupportedTargets();

// The one that plans use: the best, or what the environment variable OPSCV_TARGET pins. Where that
// names none of them, kInvalidArgument with a sentence that lists them.
[[nodiscard]] OPSCV_API Result<std::string> CurrentTarget();

// The threads that a run uses when nobody says: OPSCV_THREADS, or the processors this process may
// use.
[[nodiscard]] OPSCV_API int DefaultThreadCount();

}  // namespace opscv

#endif  // OPSCV_TARGETS_H_
