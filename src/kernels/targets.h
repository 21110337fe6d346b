// SPDX-License-Identifier: Apache-2.0
// Which SIMD targets were compiled and which one is in use. The only place that may pin one.
#ifndef OPSCV_KERNELS_TARGETS_H_
#define OPSCV_KERNELS_TARGETS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace opscv::kernels {

struct Target {
  int64_t bit;       // Highway's number of it
  std::string name;  // Highway's name of it: "AVX3", "AVX2", "SSE4", "SSSE3", "NEON", "SCALAR", ...
};

// The targets that are compiled in and that this machine runs, best first.
[[nodiscard]] std::vector<Target> SupportedTargets();

// Uses the named target from now on, in the whole process; "" lets the machine decide again.
// kInvalidArgument, naming the known ones, for any other name. Plans made earlier keep theirs.
// For tests; users pin with the environment variable OPSCV_TARGET.
[[nodiscard]] Status PinTarget(std::string_view name);

// Obeys OPSCV_TARGET once per process and answers what came of it. Called before the first
// selector.
[[nodiscard]] const Status& ApplyTargetPin();

// The name of the target that selectors choose now.
[[nodiscard]] std::string CurrentTarget();

}  // namespace opscv::kernels

#endif  // OPSCV_KERNELS_TARGETS_H_
