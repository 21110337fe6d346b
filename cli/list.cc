// SPDX-License-Identifier: Apache-2.0
// opscv list: the operators, as their prototypes declare them.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/operator_options.h"

namespace opscv::cli {
namespace {

struct ListOptions {
  CommonOptions common;
  bool is_long = false;
};

using Rows = std::vector<std::vector<std::string>>;

size_t WidthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;  // not a further byte of a character
  }));
}

// Rows as columns of equal width; the last column is left as it is.
std::string Table(const Rows& rows, std::string_view indent) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    text += indent;
    for (size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text += std::string(widths[i] - WidthOf(row[i]) + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

std::vector<std::string_view> TypeNames(const ops::OpInfo& info) {
  std::vector<std::string_view> names;
  for (const auto* list : {&info.dtypes, &info.cpu_dtypes}) {
    for (const DType dtype : *list) names.push_back(NameOf(dtype));
  }
  return names;
}

std::vector<std::string_view> Layouts(const ops::OpInfo& info) {
  const auto [first, last] = LayoutNamesOf(info.rank);
  return {first, last};
}

std::string DefaultOf(const ops::AttrInfo& attr) {
  if (attr.required) return "required";
  return attr.default_text.empty() ? "optional" : std::string(attr.default_text);
}

std::string ShortText() {
  Rows rows = {{"operator", "rank", "types", "layouts", "what it does"}};
  for (const ops::OpInfo* info : AllOperators()) {
    rows.push_back({std::string(info->name), std::to_string(info->rank),
                    fmt::format("{}", fmt::join(TypeNames(*info), ",")),
                    fmt::format("{}", fmt::join(Layouts(*info), ",")), std::string(info->doc)});
  }
  return Table(rows, "");
}

std::string Prototype(const ops::OpInfo& info) {
  Rows rows = {{"name", "kind", "type", "default", "C parameter", "meaning"}};
  const auto tensor = [&](const ops::TensorInfo& value, const char* kind) {
    rows.push_back({std::string(value.name), kind, "TENSOR", "required",
                    std::string(value.aclnn_name), std::string(value.doc)});
  };
  tensor(info.input, "input");
  for (const ops::AttrInfo& attr : info.attrs) {
    rows.push_back({std::string(attr.name), "attribute", std::string(NameOf(attr.type)),
                    DefaultOf(attr), fmt::format("{}", fmt::join(attr.aclnn_names, ", ")),
                    std::string(attr.doc)});
  }
  tensor(info.output, "output");
  return Table(rows, "  ");
}

std::string LongText() {
  std::string text;
  for (const ops::OpInfo* info : AllOperators()) {
    text += fmt::format("{} ({}): {}\n  {} dimensions, {}; {}\n{}\n", info->name, info->aclnn_name,
                        info->doc, info->rank, fmt::join(Layouts(*info), " or "),
                        fmt::join(TypeNames(*info), ", "), Prototype(*info));
  }
  Rows rows = {{"OPSCV_SOC", "product"}};
  for (const ops::OpInfo* info : AllOperators()) rows[0].emplace_back(info->name);
  for (size_t product = 0; product < ops::kProductNames.size(); ++product) {
    auto& row = rows.emplace_back();
    row = {std::string(ops::kProductNames[product].soc),
           std::string(ops::kProductNames[product].title)};
    for (const ops::OpInfo* info : AllOperators()) {
      row.emplace_back(info->products.supported[product] ? "yes" : "no");
    }
  }
  return text + "Products whose limits the C interface keeps:\n" + Table(rows, "  ");
}

Json TensorJson(const ops::TensorInfo& tensor) {
  return {{"name", tensor.name}, {"c_name", tensor.aclnn_name}, {"doc", tensor.doc}};
}

Json OperatorJson(const ops::OpInfo& info) {
  Json json = {{"name", info.name},
               {"c_name", info.aclnn_name},
               {"doc", info.doc},
               {"rank", info.rank},
               {"dtypes", TypeNames(info)},
               {"layouts", Layouts(info)},
               {"takes_rule", info.takes_rule},
               {"input", TensorJson(info.input)},
               {"output", TensorJson(info.output)}};
  json["attributes"] = Json::array();
  for (const ops::AttrInfo& attr : info.attrs) {
    json["attributes"].push_back({{"name", attr.name},
                                  {"type", NameOf(attr.type)},
                                  {"required", attr.required},
                                  {"default", attr.default_text},
                                  {"c_names", attr.aclnn_names},
                                  {"doc", attr.doc}});
  }
  for (size_t product = 0; product < ops::kProductNames.size(); ++product) {
    json["products"][std::string(ops::kProductNames[product].soc)] =
        info.products.supported[product];
  }
  return json;
}

Exit List(const ListOptions& options) {
  Json json = Json::array();
  for (const ops::OpInfo* info : AllOperators()) json.push_back(OperatorJson(*info));
  Print(options.common, json, options.is_long ? LongText() : ShortText());
  return Exit::kOk;
}

}  // namespace

void AddList(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("list", "list the operators");
  auto options = std::make_shared<ListOptions>();
  sub->add_flag("--long", options->is_long, "with their attributes, and the table of products")
      ->disable_flag_override();
  AddReportOptions(*sub, options->common);
  sub->callback([options, &action] { action = [options] { return List(*options); }; });
}

}  // namespace opscv::cli
