// SPDX-License-Identifier: Apache-2.0
// A bar on stderr for long work, only where somebody can see it: on a terminal.
#ifndef OPSCV_CLI_PROGRESS_H_
#define OPSCV_CLI_PROGRESS_H_

#include <chrono>
#include <string>

namespace opscv::cli {

// Shows itself once the work has taken half a second; wiped away when it ends.
class ProgressBar {
 public:
  ProgressBar(std::string title, bool quiet);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  // `share` of the work is done, from 0 to 1.
  void Show(double share);

 private:
  using Clock = std::chrono::steady_clock;
  std::string title_;
  bool enabled_;
  bool visible_ = false;
  Clock::time_point next_;
};

}  // namespace opscv::cli

#endif  // OPSCV_CLI_PROGRESS_H_
