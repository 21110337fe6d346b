// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <cstdio>

namespace opscv::cli {

void AddCommonOptions(CLI::App& app, CommonOptions& options) {
  constexpr int kMostThreads = 1024;
  app.add_option("--threads", options.threads,
                 "threads that compute (default: OPSCV_THREADS, else the processors at hand)")
      ->check(CLI::Range(1, kMostThreads))
      ->type_name("N");
  app.add_flag("--json", options.json, "print the report as JSON");
  app.add_flag("--quiet", options.quiet, "print nothing on success");
}

void Print(const CommonOptions& options, const Json& json, const std::string& text) {
  if (options.quiet) return;
  const std::string out = options.json ? json.dump(2) : text;
  std::fwrite(out.data(), 1, out.size(), stdout);
  if (out.empty() || out.back() != '\n') std::fputc('\n', stdout);
  if (std::fflush(stdout) != 0) throw WriteFailure("stdout: cannot be written");
}

}  // namespace opscv::cli
