// SPDX-License-Identifier: Apache-2.0
// opscv targets: the SIMD targets of this machine, and what is used.
#include "opscv/targets.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"

namespace opscv::cli {
namespace {

Exit ShowTargets(const CommonOptions& options) {
  const Result<std::string> current = CurrentTarget();
  if (!current) throw UsageFailure("{}", current.error().message());
  const std::vector<std::string> targets = SupportedTargets();
  std::string text;
  for (const std::string& target : targets) {
    text += fmt::format("{} {}\n", target == *current ? '*' : ' ', target);
  }
  text += fmt::format("threads: {}\n", DefaultThreadCount());
  Print(options,
        {{"targets", targets}, {"current", *current}, {"default_threads", DefaultThreadCount()}},
        text);
  return Exit::kOk;
}

}  // namespace

void AddTargets(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand(
      "targets", "list the SIMD targets of this machine, best first, the one in use marked");
  auto options = std::make_shared<CommonOptions>();
  AddReportOptions(*sub, *options);
  sub->callback([options, &action] { action = [options] { return ShowTargets(*options); }; });
}

}  // namespace opscv::cli
