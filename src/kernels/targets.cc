// SPDX-License-Identifier: Apache-2.0
#include "kernels/targets.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/targets.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which wants to come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace opscv::kernels::HWY_NAMESPACE {

int64_t TargetBit() { return HWY_TARGET; }

}  // namespace opscv::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opscv::kernels {

HWY_EXPORT(TargetBit);

namespace {

std::vector<Target> DetectTargets() {
  std::vector<Target> targets;
  for (int64_t bits = HWY_TARGETS & (hwy::SupportedTargets() | HWY_STATIC_TARGET); bits != 0;
       bits &= bits - 1) {
    const int64_t bit = bits & -bits;
    targets.push_back({bit, hwy::TargetName(bit)});
  }
  return targets;
}

}  // namespace

std::vector<Target> SupportedTargets() {
  // Asked once, before anything is pinned: every call of Highway's function undoes a pin.
  static const std::vector<Target> targets = DetectTargets();
  return targets;
}

Status PinTarget(std::string_view name) {
  if (name.empty()) {
    hwy::GetChosenTarget().DeInit();
    return {};
  }
  const std::vector<Target> known = SupportedTargets();
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const Target& target) { return target.name == name; });
  if (found == known.end()) {
    std::vector<std::string> names;
    for (const Target& target : known) names.push_back(target.name);
    return InvalidArgument("OPSCV_TARGET must be one of {} on this machine, got '{}'",
                           fmt::join(names, ", "), name);
  }
  hwy::GetChosenTarget().Update(found->bit);
  return {};
}

const Status& ApplyTargetPin() {
  static const Status status = [] {
    const char* name = std::getenv("OPSCV_TARGET");
    return name == nullptr || *name == '\0' ? Status() : PinTarget(name);
  }();
  return status;
}

std::string CurrentTarget() { return hwy::TargetName(HWY_DYNAMIC_DISPATCH(TargetBit)()); }

}  // namespace opscv::kernels
#endif  // HWY_ONCE
