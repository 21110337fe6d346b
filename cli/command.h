// SPDX-License-Identifier: Apache-2.0
// What the subcommands share: options that all of them have, and how one is made.
#ifndef OPSCV_CLI_COMMAND_H_
#define OPSCV_CLI_COMMAND_H_

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/failure.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

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

// --json and --quiet.
void AddReportOptions(CLI::App& app, CommonOptions& options);
// --threads.
void AddThreads(CLI::App& app, CommonOptions& options);
// --memory.
void AddMemory(CLI::App& app, CommonOptions& options);
// An option of one word, which `read` takes or refuses with a Failure.
CLI::Option* AddWord(CLI::App& app, const std::string& name, const std::string& type,
                     const std::string& doc, const std::function<void(const std::string&)>& read);

// Set by the subcommand that the command line names; main runs it.
using Action = std::function<Exit()>;

// Prints a report: as JSON with --json, as `text` otherwise, nothing with --quiet.
void Print(const CommonOptions& options, const Json& json, const std::string& text);

// Writes to stdout; a WriteFailure says that it could not.
void WriteOut(std::string_view text);

// Each adds one subcommand.
void AddList(CLI::App& app, Action& action);
void AddRun(CLI::App& app, Action& action);
void AddCheck(CLI::App& app, Action& action);
void AddPlan(CLI::App& app, Action& action);
void AddBench(CLI::App& app, Action& action);
void AddTargets(CLI::App& app, Action& action);
void AddGen(CLI::App& app, Action& action);
void AddCompare(CLI::App& app, Action& action);
void AddGraph(CLI::App& app, Action& action);

// What `opscv complete -- WORD...` answers: the words that can stand in place of the last, one a
// line; none where a file is to be named.
void PrintCompletions(const CLI::App& app, const std::vector<std::string>& words);
// What `opscv man` answers: the man page as troff.
void PrintManPage(const CLI::App& app);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_COMMAND_H_
