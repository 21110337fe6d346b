// SPDX-License-Identifier: Apache-2.0
#include "opscv/spec.h"

#include <algorithm>

#include "opscv/version.h"

#define OPSCV_TEXT_INNER(x) #x
#define OPSCV_TEXT(x) OPSCV_TEXT_INNER(x)

namespace opscv {

const char* Version() noexcept {
  return OPSCV_TEXT(OPSCV_VERSION_MAJOR) "." OPSCV_TEXT(OPSCV_VERSION_MINOR) "." OPSCV_TEXT(
      OPSCV_VERSION_PATCH);
}

Spec& Spec::SetValue(std::string_view name, AttrValue value) {
  const auto found = std::find_if(attrs_.begin(), attrs_.end(),
                                  [&](const auto& attr) { return attr.first == name; });
  if (found != attrs_.end()) {
    found->second = std::move(value);
  } else {
    attrs_.emplace_back(std::string(name), std::move(value));
  }
  return *this;
}

}  // namespace opscv
