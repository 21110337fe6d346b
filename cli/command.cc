// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/words.h"

namespace opscv::cli {
namespace {

// Smaller boxes take longer to begin than to compute.
constexpr int64_t kLeastMemory = 4096;

}  // namespace

void AddReportOptions(CLI::App& app, CommonOptions& options) {
  app.add_flag("--json", options.json, "print the report as JSON")->disable_flag_override();
  app.add_flag("--quiet", options.quiet, "print nothing on success")->disable_flag_override();
}

void AddThreads(CLI::App& app, CommonOptions& options) {
  AddWord(app, "--threads", "N",
          "threads that compute (default: OPSCV_THREADS, else the processors at hand)",
          [&options](const std::string& word) {
            constexpr int kMost = 1024;
            options.threads = ReadNumberWithin<int>(
                "threads", fmt::format("a whole number from 1 to {}", kMost), word, 1, kMost);
          });
}

void AddMemory(CLI::App& app, CommonOptions& options) {
  AddWord(app, "--memory", "SIZE",
          "memory for data in flight, such as 512M, at least 4K; larger files pass through in "
          "parts (default: 256M, less where a limit is set on memory)",
          [&options](const std::string& word) {
            options.memory = ReadBytes("memory", word);
            if (options.memory < kLeastMemory) {
              throw UsageFailure("--memory must be {} or more, got '{}'", BytesText(kLeastMemory),
                                 word);
            }
          });
}

CLI::Option* AddWord(CLI::App& app, const std::string& name, const std::string& type,
                     const std::string& doc, const std::function<void(const std::string&)>& read) {
  return app.add_option_function<std::string>(name, read, doc)->type_name(type);
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
