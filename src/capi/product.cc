// SPDX-License-Identifier: Apache-2.0
#include "capi/product.h"

#include <array>
#include <string>
#include <string_view>

namespace opscv::capi {
namespace {

constexpr std::array<ProductProfile, ops::kProducts> kProfiles = {{
    {"Ascend950", ops::Product::kAscend950, "Ascend 950PR / 950DT", false},
    {"Ascend910_93", ops::Product::kAscend910_93, "Atlas A3 training / inference", true},
    {"Ascend910B", ops::Product::kAscend910B, "Atlas A2 training / inference", true},
    {"Ascend310B", ops::Product::kAscend310B, "Atlas 200I/500 A2 inference", false},
    {"Ascend310P", ops::Product::kAscend310P, "Atlas inference series", false},
    {"Ascend910", ops::Product::kAscend910, "Atlas training series", false},
}};

}  // namespace

std::span<const ProductProfile> AllProfiles() { return kProfiles; }

Result<const ProductProfile*> FindProfile(const char* soc) {
  const std::string_view name = soc == nullptr || *soc == '\0' ? kProfiles[0].soc : soc;
  std::string known;
  for (const ProductProfile& profile : kProfiles) {
    if (name == profile.soc) return &profile;
    known += known.empty() ? "" : ", ";
    known += profile.soc;
  }
  return Unexpected(InvalidArgument("OPSCV_SOC must be one of {}, got '{}'.", known, name));
}

}  // namespace opscv::capi
