// SPDX-License-Identifier: Apache-2.0
#include "capi/product.h"

#include <array>
#include <string>
#include <string_view>

namespace opscv::capi {
namespace {

constexpr ProductProfile ProfileOf(ops::Product product, bool deterministic) {
  const ops::ProductName& name = ops::kProductNames[static_cast<size_t>(product)];
  return {name.soc, product, name.title, deterministic};
}

constexpr std::array<ProductProfile, ops::kProducts> kProfiles = {
    ProfileOf(ops::Product::kAscend950, false),  ProfileOf(ops::Product::kAscend910_93, true),
    ProfileOf(ops::Product::kAscend910B, true),  ProfileOf(ops::Product::kAscend310B, false),
    ProfileOf(ops::Product::kAscend310P, false), ProfileOf(ops::Product::kAscend910, false),
};

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
