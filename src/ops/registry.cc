// SPDX-License-Identifier: Apache-2.0
#include "ops/registry.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <variant>
#include <vector>

#include "ops/pairs.h"

namespace opscv::ops {
namespace {

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

std::vector<std::string_view> AllNames() {
  std::vector<std::string_view> names;
  for (const OpPair* pair : AllPairs()) {
    names.push_back(pair->forward.name);
    names.push_back(pair->backward.name);
  }
  return names;
}

std::string_view KindOf(const AttrValue& value) {
  static constexpr std::array<std::string_view, std::variant_size_v<AttrValue>> kKinds = {
      "a bool", "an integer", "a float", "a list of integers", "a list of floats"};
  return kKinds[value.index()];
}

// Sets `to` to the value as the prototype's type, where that loses nothing.
Status Convert(const AttrInfo& attr, const AttrValue& value, AttrValue& to) {
  const auto* integer = std::get_if<int64_t>(&value);
  const auto* integers = std::get_if<IntList>(&value);
  if (attr.type == AttrType::kFloat && integer != nullptr) {
    to = static_cast<double>(*integer);
  } else if (attr.type == AttrType::kFloatList && integers != nullptr) {
    to = FloatList(integers->begin(), integers->end());
  } else if (value.index() == attr.default_value.index()) {
    to = value;
  } else {
    return InvalidArgument("{} must be {}, got {}.", attr.name, NameOf(attr.type), KindOf(value));
  }
  return {};
}

Status SetAttr(const OpInfo& info, std::string_view name, const AttrValue& value,
               std::vector<AttrValue>& attrs, std::vector<bool>& given) {
  for (size_t i = 0; i < info.attrs.size(); ++i) {
    if (info.attrs[i].name != name) continue;
    OPSCV_RETURN_IF_ERROR(Convert(info.attrs[i], value, attrs[i]));
    given[i] = true;
    return {};
  }
  std::vector<std::string_view> names;
  for (const AttrInfo& attr : info.attrs) names.push_back(attr.name);
  return {StatusCode::kNotFound, fmt::format("{} has no attribute '{}'; it has {}.", info.name,
                                             name, fmt::join(names, ", "))};
}

Status SetAttrs(const OpInfo& info, const Spec& spec, std::vector<AttrValue>& attrs) {
  std::vector<bool> given(info.attrs.size(), false);
  for (const AttrInfo& attr : info.attrs) attrs.push_back(attr.default_value);
  for (const auto& [name, value] : spec.attrs()) {
    OPSCV_RETURN_IF_ERROR(SetAttr(info, name, value, attrs, given));
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (info.attrs[i].required && !given[i]) {
      return InvalidArgument("{} must be given: {} requires it.", info.attrs[i].name, info.name);
    }
  }
  if (spec.rule() > IndexRule::kExact) {
    return InvalidArgument("rule must be ascend, torch_cpu or exact, got number {}.",
                           static_cast<int>(spec.rule()));
  }
  if (!info.takes_rule && spec.rule() != IndexRule::kAscend) {
    return InvalidArgument("rule must not be given for {}, which has no index rule, got {}.",
                           info.name, NameOf(spec.rule()));
  }
  return {};
}

}  // namespace

std::string_view NameOf(AttrType type) {
  switch (type) {
    case AttrType::kBool:
      return "BOOL";
    case AttrType::kFloat:
      return "FLOAT";
    case AttrType::kIntList:
      return "LISTINT";
    case AttrType::kFloatList:
      return "LISTFLOAT";
  }
  return "";
}

std::span<const OpPair* const> AllPairs() {
#define OPSCV_OPERATOR_PAIR(name) &name##Pair(),
  static const std::array kPairs = {
#include "ops/operators.inc"
  };
#undef OPSCV_OPERATOR_PAIR
  return kPairs;
}

Result<const OpInfo*> FindOperator(std::string_view name) {
  for (const OpPair* pair : AllPairs()) {
    for (const OpInfo* info : {&pair->forward, &pair->backward}) {
      if (SameIgnoringCase(info->name, name)) return info;
    }
  }
  return Unexpected({StatusCode::kNotFound, fmt::format("operator must be one of {}, got '{}'.",
                                                        fmt::join(AllNames(), ", "), name)});
}

Result<OpCall> BindCall(const Spec& spec, const TensorDesc& input, const TensorDesc& output) {
  const Result<const OpInfo*> info = FindOperator(spec.op());
  if (!info) return Unexpected(info.error());
  OpCall call{.info = *info, .input = input, .output = output, .attrs = {}, .rule = spec.rule()};
  if (Status status = SetAttrs(**info, spec, call.attrs); !status.ok()) {
    return Unexpected(std::move(status));
  }
  return call;
}

}  // namespace opscv::ops
