// SPDX-License-Identifier: Apache-2.0
// How the command ends when something is wrong: an exit status and one line for stderr.
#ifndef OPSCV_CLI_FAILURE_H_
#define OPSCV_CLI_FAILURE_H_

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace opscv::cli {

// Exit statuses; the man page lists them.
enum class Exit : int {
  kOk = 0,
  kFailedCheck = 1,    // a bound or a tolerance is broken
  kUsage = 2,          // the command line cannot be read, or no format has the output's name
  kBadInput = 3,       // a file, or values of attributes that the operator refuses for it
  kCannotWrite = 4,    // an output cannot be written, or memory is short
  kInterrupted = 130,  // stopped by SIGINT, SIGTERM or SIGHUP
};

// Ends the command; caught in main alone.
class Failure : public std::runtime_error {
 public:
  Failure(Exit exit, const std::string& line) : std::runtime_error(line), exit_(exit) {}
  [[nodiscard]] Exit exit() const { return exit_; }

 private:
  Exit exit_;
};

template <typename... Args>
[[nodiscard]] Failure UsageFailure(fmt::format_string<Args...> format, Args&&... args) {
  return {Exit::kUsage, fmt::format(format, std::forward<Args>(args)...)};
}
template <typename... Args>
[[nodiscard]] Failure InputFailure(fmt::format_string<Args...> format, Args&&... args) {
  return {Exit::kBadInput, fmt::format(format, std::forward<Args>(args)...)};
}
template <typename... Args>
[[nodiscard]] Failure WriteFailure(fmt::format_string<Args...> format, Args&&... args) {
  return {Exit::kCannotWrite, fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace opscv::cli

#endif  // OPSCV_CLI_FAILURE_H_
