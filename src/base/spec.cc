// SPDX-License-Identifier: Apache-2.0
#include "opscv/spec.h"

#include <algorithm>

namespace opscv {

std::string_view NameOf(IndexRule rule) noexcept {
  switch (rule) {
    case IndexRule::kAscend:
      return "ascend";
    case IndexRule::kTorchCpu:
      return "torch_cpu";
    case IndexRule::kExact:
      return "exact";
  }
  return "no rule";
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
