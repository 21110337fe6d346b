// SPDX-License-Identifier: Apache-2.0
// Which SIMD targets promise the same bits.
#ifndef OPSCV_TESTS_SUPPORT_TARGETS_H_
#define OPSCV_TESTS_SUPPORT_TARGETS_H_

#include <vector>

#include "kernels/targets.h"
#include "ops/registry.h"

namespace opscv::testing {

// The targets of this machine whose results of the operator have the defined bits: those with fused
// multiply-add, the scalar one's plain loops among them, and for an operator that only adds or
// copies all of them.
inline std::vector<kernels::Target> TargetsOfDefinedBits(const ops::OpInfo& info) {
  const bool multiplies = info.rank == 4;
  std::vector<kernels::Target> targets;
  for (const kernels::Target& target : kernels::SupportedTargets()) {
    const bool fuses =
        target.name.starts_with("AVX") || target.name == "NEON" || target.name == "SCALAR";
    if (fuses || !multiplies) targets.push_back(target);
  }
  return targets;
}

}  // namespace opscv::testing

#endif  // OPSCV_TESTS_SUPPORT_TARGETS_H_
