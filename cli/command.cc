// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

namespace opscv::cli {

void AddReportOptions(CLI::App& app, CommonOptions& options) {
  app.add_flag("--json", options.json, "print the report as JSON");
  app.add_flag("--quiet", options.quiet, "print nothing on success");
}

void AddThreads(CLI::App& app, CommonOptions& options) {
  constexpr int kMostThreads = 1024;
  app.add_option("--threads", options.threads,
                 "threads that compute (default: OPSCV_THREADS, else the processors at hand)")
      ->check(CLI::Range(1, kMostThreads))
      ->type_name("N");
}

void AddCommonOptions(CLI::App& app, CommonOptions& options) {
  AddThreads(app, options);
  app.add_option("--memory", options.memory,
                 "memory for data in flight, such as 512M; larger files pass through in parts "
                 "(default: 256M, less where a limit is set on memory)")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->check(CLI::Range(int64_t{1}, std::numeric_limits<int64_t>::max() / 4))
      ->type_name("SIZE");
  AddReportOptions(app, options);
}

void Print(const CommonOptions& options, const Json& json, const std::string& text) {
  if (options.quiet) return;
  std::string out = options.json ? json.dump(2) : text;
  if (out.empty() || out.back() != '\n') out += '\n';
  WriteOut(out);
}

void WriteOut(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (std::fflush(stdout) != 0 || !written) throw WriteFailure("stdout: cannot be written");
}

}  // namespace opscv::cli
