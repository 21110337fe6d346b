// SPDX-License-Identifier: Apache-2.0
// What the subcommands share: options that all of them have, and how one is made.
#ifndef OPSCV_CLI_COMMAND_H_
#define OPSCV_CLI_COMMAND_H_

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/failure.h"

namespace opscv::cli {

// Keys in the order in which they are set.
using Json = nlohmann::ordered_json;

// How help names the files that are read and written.
inline constexpr std::string_view kFormats = ".npy, .nii, .nii.gz, .png or .jpg";

struct CommonOptions {
  int threads = 0;
  int64_t memory = 0;  // 0: DefaultMemory()
  bool json = false;
  bool quiet = false;
};

void AddCommonOptions(CLI::App& app, CommonOptions& options);

// Set by the subcommand that the command line names; main runs it.
using Action = std::function<Exit()>;

// Prints a report: as JSON with --json, as `text` otherwise, nothing with --quiet.
void Print(const CommonOptions& options, const Json& json, const std::string& text);

// Each adds one subcommand.
void AddRun(CLI::App& app, Action& action);
void AddCheck(CLI::App& app, Action& action);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_COMMAND_H_
