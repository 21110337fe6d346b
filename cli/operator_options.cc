// SPDX-License-Identifier: Apache-2.0
#include "cli/operator_options.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "cli/elements.h"
#include "cli/failure.h"

namespace opscv::cli {
namespace {

constexpr std::array kRules = {IndexRule::kAscend, IndexRule::kTorchCpu, IndexRule::kExact};

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// One number, or a failure that names the option.
template <typename T>
T ReadNumber(std::string_view option, std::string_view kind, const std::string& word) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) {
    throw UsageFailure("--{} must be {}, got '{}'", option, kind, word);
  }
  return value;
}

template <typename T>
std::vector<T> ReadList(const OperatorOptions::Attr& attr, std::string_view kind) {
  std::vector<T> values;
  for (const std::string& word : attr.words) {
    values.push_back(ReadNumber<T>(attr.info->name, kind, word));
  }
  return values;
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
      spec.Set(name, ReadList<int64_t>(attr, "a list of whole numbers such as 224,224"));
      return;
    case ops::AttrType::kFloatList:
      spec.Set(name, ReadList<double>(attr, "a list of numbers such as 2,2,2"));
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
      attr.option->expected(1, kMaxRank)->delimiter(',');
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
  if (rule.empty()) return spec;
  for (const IndexRule known : kRules) {
    if (NameOf(known) == Lower(rule)) return spec.SetRule(known);
  }
  throw UsageFailure("--rule must be one of {}, got '{}'", NamesOf(kRules), rule);
}

Layout OperatorOptions::ToLayout() const {
  const auto [first, last] = LayoutNamesOf(info->rank);
  const std::string name = Lower(layout);
  if (name.empty() || name == Lower(first)) return Layout::kChannelsFirst;
  if (name == Lower(last)) return Layout::kChannelsLast;
  throw UsageFailure("--layout must be {} or {}, got '{}'", first, last, layout);
}

std::vector<double> OperatorOptions::ToSpacing() const {
  std::vector<double> values;
  for (const std::string& word : spacing) {
    values.push_back(ReadNumber<double>("spacing", "a list of numbers such as 1,1,1", word));
    if (!std::isfinite(values.back()) || values.back() <= 0.0) {
      throw UsageFailure("--spacing must be above 0, got '{}'", word);
    }
  }
  const auto axes = static_cast<size_t>(info->rank - 2);
  if (!values.empty() && values.size() != axes) {
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
           fmt::format("index rule: {} (default: {})", NamesOf(kRules), NameOf(IndexRule::kAscend)))
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
        ->delimiter(',')
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
