// SPDX-License-Identifier: Apache-2.0
// Says which operator to run and with which attributes, by the names that its prototype declares.
// Knows no tensor and checks nothing: MakePlan does.
#ifndef OPSCV_SPEC_H_
#define OPSCV_SPEC_H_

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "opscv/export.h"

namespace opscv {

// Which samples a nearest-exact operator ties together where rounding decides
// (docs/index_rules.md).
enum class IndexRule : uint8_t {
  kAscend,    // "ascend": the device's formula in float32; the default
  kTorchCpu,  // "torch_cpu": what PyTorch's CPU forward operator reads
  kExact,     // "exact": rational arithmetic; takes no scales
};

OPSCV_API std::string_view NameOf(IndexRule rule) noexcept;

using IntList = std::vector<int64_t>;
using FloatList = std::vector<double>;
// The kinds of value an attribute can have. An integer given where a prototype says float is taken
// as float; nothing else is converted.
using AttrValue = std::variant<bool, int64_t, double, IntList, FloatList>;

// An operator's name and its attributes. A later Set of the same name replaces the earlier value.
//   Spec("UpsampleBicubic2dAAGrad").Set("output_size", {224, 224}).Set("input_size", {8, 3, 512,
//   512})
class Spec {
 public:
  // `op` is the operator's graph name; upper and lower case are the same.
  explicit Spec(std::string_view op) : op_(op) {}

  Spec& Set(std::string_view name, bool value) { return SetValue(name, AttrValue(value)); }
  template <std::integral T>
  requires(!std::same_as<T, bool>) Spec& Set(std::string_view name, T value) {
    return SetValue(name, AttrValue(static_cast<int64_t>(value)));
  }
  Spec& Set(std::string_view name, double value) { return SetValue(name, AttrValue(value)); }
  template <std::integral T>
  Spec& Set(std::string_view name, std::initializer_list<T> value) {
    return SetValue(name, AttrValue(IntList(value.begin(), value.end())));
  }
  template <std::floating_point T>
  Spec& Set(std::string_view name, std::initializer_list<T> value) {
    return SetValue(name, AttrValue(FloatList(value.begin(), value.end())));
  }
  // Lists, also written in braces of variables: {n, 3, 512, 512}. Floats in braces must all be
  // floats.
  Spec& Set(std::string_view name, IntList value) {
    return SetValue(name, AttrValue(std::move(value)));
  }
  template <typename T>
  requires(std::is_arithmetic_v<T> &&
           !std::same_as<T, bool>) Spec& Set(std::string_view name, const std::vector<T>& value) {
    using List = std::conditional_t<std::floating_point<T>, FloatList, IntList>;
    return SetValue(name, AttrValue(List(value.begin(), value.end())));
  }
  // Text is no value of an attribute; without this it would count as true.
  Spec& Set(std::string_view name, const char* text) = delete;
  Spec& SetRule(IndexRule rule) {
    rule_ = rule;
    return *this;
  }

  [[nodiscard]] const std::string& op() const { return op_; }
  [[nodiscard]] IndexRule rule() const { return rule_; }
  [[nodiscard]] const std::vector<std::pair<std::string, AttrValue>>& attrs() const {
    return attrs_;
  }

 private:
  OPSCV_API Spec& SetValue(std::string_view name, AttrValue value);

  std::string op_;
  IndexRule rule_ = IndexRule::kAscend;
  std::vector<std::pair<std::string, AttrValue>> attrs_;
};

}  // namespace opscv

#endif  // OPSCV_SPEC_H_
