// SPDX-License-Identifier: Apache-2.0
// The product that the host stands in for, chosen by OPSCV_SOC.
#ifndef OPSCV_CAPI_PRODUCT_H_
#define OPSCV_CAPI_PRODUCT_H_

#include <span>

#include "base/status.h"
#include "ops/op_info.h"

namespace opscv::capi {

struct ProductProfile {
  const char* soc;  // what OPSCV_SOC says and aclrtGetSocName answers
  ops::Product product;
  const char* title;  // the product's full name
  // What ACL_OPT_DETERMINISTIC reads where a program has set nothing.
  bool deterministic;
};

[[nodiscard]] std::span<const ProductProfile> AllProfiles();

[[nodiscard]] inline bool Supports(const ops::OpInfo& info, const ProductProfile& profile) {
  return info.products.supported[static_cast<size_t>(profile.product)];
}

// The profile of that name, kAscend950's for null or ""; kInvalidArgument, listing the known names,
// for any other.
[[nodiscard]] Result<const ProductProfile*> FindProfile(const char* soc);

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_PRODUCT_H_
