// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>
#include <vector>

#include "cli/failure.h"

namespace opscv::cli {
namespace {

enum class State : int {
  kFree,   // a signal may end the program
  kHeld,   // by an Uninterrupted
  kDying,  // a handler is at it
};

std::atomic<State> state{State::kFree};
std::atomic<bool> pending{false};  // a signal came
std::atomic<bool> output_written{false};
std::atomic<bool> on_terminal{false};
static_assert(std::atomic<State>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler uses them");
int depth = 0;                              // of Uninterrupted; the main thread's
constinit std::vector<std::string> doomed;  // changes only while the state is kHeld

bool Move(State from, State to) { return state.compare_exchange_strong(from, to); }

void Say(std::string_view text) {
  // Nothing can be done about a stderr that takes no text.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

// Calls only what a signal handler may call.
[[noreturn]] void Die() {
  for (const std::string& path : doomed) unlink(path.c_str());
  if (on_terminal.load()) Say("\r\033[K");  // over the progress bar
  Say(output_written.load() ? "opscv: interrupted\n"
                            : "opscv: interrupted; no output was written\n");
  _exit(static_cast<int>(Exit::kInterrupted));
}

void OnSignal(int /*signal*/) {
  // In this order, so that either this or the end of the Uninterrupted sees the other.
  pending.store(true);
  if (Move(State::kFree, State::kDying)) Die();
}

}  // namespace

void WatchSignals() {
  on_terminal.store(isatty(STDERR_FILENO) != 0);
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

Uninterrupted::Uninterrupted() {
  if (depth++ > 0) return;
  while (!Move(State::kFree, State::kHeld)) pause();  // until another thread's handler has ended it
}

Uninterrupted::~Uninterrupted() {
  if (--depth > 0) return;
  state.store(State::kFree);
  if (pending.load() && Move(State::kFree, State::kDying)) Die();
}

void RemoveOnSignal(const std::string& path) { doomed.push_back(path); }

void KeepOnSignal(const std::string& path) { std::erase(doomed, path); }

void NoteOutputWritten() { output_written.store(true); }

}  // namespace opscv::cli
