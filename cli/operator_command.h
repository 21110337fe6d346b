// SPDX-License-Identifier: Apache-2.0
// A subcommand that has a subcommand for every operator. Includes CLI11: for the subcommands' own
// files only.
#ifndef OPSCV_CLI_OPERATOR_COMMAND_H_
#define OPSCV_CLI_OPERATOR_COMMAND_H_

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/operator_options.h"

namespace opscv::cli {

// `Options` holds an OperatorOptions `op` and a CommonOptions `common`; each operator has a value
// of its own. `add(sub, info, options)` adds what the subcommand has besides, `run(options)` runs
// it.
template <typename Options, typename Add, typename Run>
void AddPerOperator(CLI::App& app, const std::string& name, const std::string& doc, Action& action,
                    Add add, Run run) {
  CLI::App* parent = app.add_subcommand(name, doc);
  parent->require_subcommand(1);
  for (const ops::OpInfo* info : AllOperators()) {
    CLI::App* sub = parent->add_subcommand(std::string(info->name), std::string(info->doc));
    sub->ignore_case();
    auto options = std::make_shared<Options>();
    add(*sub, *info, *options);
    AddOperatorOptions(*sub, *info, options->op);
    AddThreads(*sub, options->common);
    AddReportOptions(*sub, options->common);
    sub->callback([options, &action, run] { action = [options, run] { return run(*options); }; });
  }
}

// --input or --output, required.
inline void AddFile(CLI::App& sub, const std::string& name, const ops::TensorInfo& tensor,
                    std::string& path) {
  sub.add_option(name, path, fmt::format("{}; {}", tensor.doc, kFormats))
      ->required()
      ->type_name("FILE");
}

}  // namespace opscv::cli

#endif  // OPSCV_CLI_OPERATOR_COMMAND_H_
