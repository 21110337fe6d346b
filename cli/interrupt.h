// SPDX-License-Identifier: Apache-2.0
// Turns signals that end a program into a flag, so that files half written are cleaned up.
#ifndef OPSCV_CLI_INTERRUPT_H_
#define OPSCV_CLI_INTERRUPT_H_

#include <atomic>

namespace opscv::cli {

// From now on SIGINT, SIGTERM and SIGHUP set the flag; a second one ends the program at once. A
// full file-size limit becomes an error of write().
void WatchSignals();

// Set once a signal came; for RunOptions::stop.
[[nodiscard]] const std::atomic<bool>& StopFlag();

// Fails with kInterrupted once the flag is set.
void ThrowIfInterrupted();

}  // namespace opscv::cli

#endif  // OPSCV_CLI_INTERRUPT_H_
