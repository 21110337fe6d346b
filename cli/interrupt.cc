// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <csignal>

#include "cli/failure.h"

namespace opscv::cli {
namespace {

std::atomic<bool> stop_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void OnSignal(int /*signal*/) { stop_flag.store(true); }

}  // namespace

void WatchSignals() {
  struct sigaction action {};
  action.sa_handler = &OnSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    sigaction(signal, nullptr, &old);
    // What the parent ignores (nohup) stays ignored.
    if (old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

const std::atomic<bool>& StopFlag() { return stop_flag; }

void ThrowIfInterrupted() {
  if (stop_flag.load()) throw Failure(Exit::kInterrupted, "interrupted; no output was written");
}

}  // namespace opscv::cli
