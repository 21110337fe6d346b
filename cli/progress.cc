// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace opscv::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{500};
constexpr std::chrono::milliseconds kEvery{100};
constexpr int kCells = 30;

}  // namespace

ProgressBar::ProgressBar(std::string title, bool quiet)
    : title_(std::move(title)),
      enabled_(!quiet && isatty(STDERR_FILENO) != 0),
      next_(Clock::now() + kPatience) {}

ProgressBar::~ProgressBar() {
  if (visible_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::Show(double share) {
  if (!enabled_ || Clock::now() < next_) return;
  next_ = Clock::now() + kEvery;
  visible_ = true;
  const double part = std::clamp(share, 0.0, 1.0);
  const auto full = static_cast<size_t>(part * kCells);
  const std::string line =
      fmt::format("\r{} [{}{}] {:3.0f} %\033[K", title_, std::string(full, '#'),
                  std::string(kCells - full, '.'), part * 100.0);
  // Unlike fmt::print, no failure where the terminal is gone.
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace opscv::cli
