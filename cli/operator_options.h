// SPDX-License-Identifier: Apache-2.0
// The options of a subcommand that takes an operator, made from the operator's prototype: nothing
// here knows an operator or an attribute by name.
#ifndef OPSCV_CLI_OPERATOR_OPTIONS_H_
#define OPSCV_CLI_OPERATOR_OPTIONS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/registry.h"
#include "opscv/spec.h"
#include "opscv/view.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace opscv::cli {

// What the command line said about an operator; text until it is read.
struct OperatorOptions {
  const ops::OpInfo* info = nullptr;
  struct Attr {
    const ops::AttrInfo* info;
    CLI::Option* option;
    std::vector<std::string> words;
  };
  std::vector<std::unique_ptr<Attr>> attrs;
  std::string rule;
  std::string layout;
  std::string dtype;
  std::vector<std::string> spacing;

  // The call as a Spec: every attribute that was given. UsageFailure where a word is no value of
  // the attribute's type, or where a required attribute is missing, `derived` excepted.
  [[nodiscard]] Spec ToSpec(std::string_view derived = "") const;
  [[nodiscard]] Layout ToLayout() const;
  // The spacing asked for with --spacing, along x, y and, for volumes, z; empty without it.
  [[nodiscard]] std::vector<double> ToSpacing() const;
  // The type asked for with --dtype.
  [[nodiscard]] std::optional<DType> ToDType() const;
};

// The operator's attributes, --rule where it takes one, --layout and --dtype.
void AddOperatorOptions(CLI::App& app, const ops::OpInfo& info, OperatorOptions& options);

// Layout names of an operator of that rank: channels first, channels last.
struct LayoutNames {
  std::string_view first;
  std::string_view last;
};
[[nodiscard]] LayoutNames LayoutNamesOf(int rank);

// The names of the index rules, and the one that the word of --rule means.
[[nodiscard]] std::string RuleNames();
[[nodiscard]] IndexRule ReadRule(const std::string& word);

// Every operator of the registry.
[[nodiscard]] std::vector<const ops::OpInfo*> AllOperators();

}  // namespace opscv::cli

#endif  // OPSCV_CLI_OPERATOR_OPTIONS_H_
