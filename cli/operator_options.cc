// SPDX-License-Identifier: Apache-2.0
#include "cli/operator_options.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "cli/elements.h"
#include "cli/words.h"

namespace opscv::cli {
namespace {

constexpr std::array kRules = {IndexRule::kAscend, IndexRule::kTorchCpu, IndexRule::kExact};

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// A flag without a word means true.
bool ReadBool(const OperatorOptions::Attr& attr) {
  const std::string word = attr.words.empty() ? "true" : Lower(attr.words.front());
  for (const std::string_view yes : {"", "true", "1", "yes", "on"}) {
    if (word == yes) return true;
  }
  for (const std::string_view no : {"false", "0", "no", "off"}) {
    if (word == no) return false;
  }
  throw UsageFailure("--{} must be true or false, got '{}'", attr.info->name, word);
}

void SetAttr(const OperatorOptions::Attr& attr, Spec& spec) {
  const std::string_view name = attr.info->name;
  switch (attr.info->type) {
    case ops::AttrType::kBool:
      spec.Set(name, ReadBool(attr));
      return;
    case ops::AttrType::kFloat:
      spec.Set(name, ReadNumber<double>(name, "a number", attr.words.front()));
      return;
    case ops::AttrType::kIntList:
      spec.Set(name,
               ReadNumbers<int64_t>(name, "a list of whole numbers such as 224,224", attr.words));
      return;
    case ops::AttrType::kFloatList:
      spec.Set(name, ReadNumbers<double>(name, "a list of numbers such as 2,2,2", attr.words));
      return;
  }
}

void AddAttr(CLI::App& app, OperatorOptions::Attr& attr) {
  std::string doc(attr.info->doc);
  if (attr.info->required) doc += " (required)";
  if (!attr.info->required && !attr.info->default_text.empty()) {
    doc += fmt::format(" (default: {})", attr.info->default_text);
  }
  attr.option = app.add_option(fmt::format("--{}", attr.info->name), attr.words, doc);
  attr.option->type_name(std::string(NameOf(attr.info->type)));
  switch (attr.info->type) {
    case ops::AttrType::kBool:
      attr.option->expected(0, 1);
      break;
    case ops::AttrType::kFloat:
      attr.option->expected(1);
      break;
    case ops::AttrType::kIntList:
    case ops::AttrType::kFloatList:
      attr.option->expected(1, kMaxRank);
      break;
  }
}

template <typename T, size_t n>
std::string NamesOf(const std::array<T, n>& values) {
  std::vector<std::string_view> names;
  for (const T value : values) names.push_back(NameOf(value));
  return fmt::format("{}", fmt::join(names, ", "));
}

constexpr std::array kFloatTypes = {DType::kFloat64, DType::kFloat32, DType::kFloat16,
                                    DType::kBFloat16};

}  // namespace

std::string RuleNames() { return NamesOf(kRules); }

IndexRule ReadRule(const std::string& word) {
  for (const IndexRule known : kRules) {
    if (NameOf(known) == Lower(word)) return known;
  }
  throw UsageFailure("--rule must be one of {}, got '{}'", RuleNames(), word);
}

Spec OperatorOptions::ToSpec(std::string_view derived) const {
  Spec spec(info->name);
  for (const auto& attr : attrs) {
    if (attr->option->count() > 0) {
      if (attr->info->name == derived) {
        throw UsageFailure("--{} and --spacing say the same thing; give one of them", derived);
      }
      SetAttr(*attr, spec);
    } else if (attr->info->required && attr->info->name != derived) {
      throw UsageFailure("--{} is required: {}", attr->info->name, attr->info->doc);
    }
  }
  if (!rule.empty()) spec.SetRule(ReadRule(rule));
  return spec;
}

Layout OperatorOptions::ToLayout() const {
  const auto [first, last] = LayoutNamesOf(info->rank);
  const std::string name = Lower(layout);
  if (name.empty() || name == Lower(first)) return Layout::kChannelsFirst;
  if (name == Lower(last)) return Layout::kChannelsLast;
  throw UsageFailure("--layout must be {} or {}, got '{}'", first, last, layout);
}

std::vector<double> OperatorOptions::ToSpacing() const {
  if (spacing.empty()) return {};
  std::vector<double> values =
      ReadNumbers<double>("spacing", "a list of numbers such as 1,1,1", spacing);
  for (const double value : values) {
    if (!std::isfinite(value) || value <= 0.0) {
      throw UsageFailure("--spacing must be above 0, got {}", value);
    }
  }
  const auto axes = static_cast<size_t>(info->rank - 2);
  if (values.size() != axes) {
    throw UsageFailure("--spacing must have {} numbers, got {}", axes, values.size());
  }
  return values;
}

std::optional<DType> OperatorOptions::ToDType() const {
  if (dtype.empty()) return std::nullopt;
  const std::optional<DType> known = DTypeOfName(Lower(dtype));
  if (known && IsFloating(*known)) return known;
  throw UsageFailure("--dtype must be one of {}, got '{}'", NamesOf(kFloatTypes), dtype);
}

LayoutNames LayoutNamesOf(int rank) {
  return rank == 4 ? LayoutNames{"NCHW", "NHWC"} : LayoutNames{"NCDHW", "NDHWC"};
}

void AddOperatorOptions(CLI::App& app, const ops::OpInfo& info, OperatorOptions& options) {
  options.info = &info;
  for (const ops::AttrInfo& attr : info.attrs) {
    options.attrs.push_back(std::make_unique<OperatorOptions::Attr>(
        OperatorOptions::Attr{.info = &attr, .option = nullptr, .words = {}}));
    AddAttr(app, *options.attrs.back());
  }
  if (info.takes_rule) {
    app.add_option(
           "--rule", options.rule,
           fmt::format("index rule: {} (default: {})", RuleNames(), NameOf(IndexRule::kAscend)))
        ->type_name("RULE");
  }
  const auto [first, last] = LayoutNamesOf(info.rank);
  app.add_option("--layout", options.layout,
                 fmt::format("order of the dimensions: {} or {} (default: {})", first, last, first))
      ->type_name("LAYOUT");
  if (info.direction == plan::Direction::kForward) {
    app.add_option(
           "--spacing", options.spacing,
           fmt::format("in place of output_size, for a NIfTI input: the spacing to come to, "
                       "along {}",
                       info.rank == 4 ? "x,y" : "x,y,z"))
        ->expected(1, kMaxRank)
        ->type_name("LISTFLOAT");
  }
  app.add_option("--dtype", options.dtype,
                 fmt::format("type to compute in: {}; data of another type are converted, and V2 "
                             "data of a .npy are taken for bfloat16 (default: the file's)",
                             NamesOf(kFloatTypes)))
      ->type_name("TYPE");
}

std::vector<const ops::OpInfo*> AllOperators() {
  std::vector<const ops::OpInfo*> operators;
  for (const ops::OpPair* pair : ops::AllPairs()) {
    operators.push_back(&pair->forward);
    operators.push_back(&pair->backward);
  }
  return operators;
}

}  // namespace opscv::cli
