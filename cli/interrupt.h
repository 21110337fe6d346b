// SPDX-License-Identifier: Apache-2.0
// How signals that end the program end it: at once, whatever it is at, and without leaving files
// that are not complete. Knows nothing of what the files hold.
#ifndef OPSCV_CLI_INTERRUPT_H_
#define OPSCV_CLI_INTERRUPT_H_

#include <string>

namespace opscv::cli {

// From now on SIGINT, SIGTERM and SIGHUP remove the files named below, say so on stderr and end the
// program with kInterrupted; where that has to wait, a second one ends it as it is. A full
// file-size limit becomes an error of write().
void WatchSignals();

// While one lives a signal waits for its end: what is done to files meanwhile is done as a whole.
// They may be nested. For the main thread alone.
class Uninterrupted {
 public:
  Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
  ~Uninterrupted();
};

// A file that a signal removes, until it is kept. Both are for the life of an Uninterrupted.
void RemoveOnSignal(const std::string& path);
void KeepOnSignal(const std::string& path);
// From now on a signal does not say that no output was written.
void NoteOutputWritten();

}  // namespace opscv::cli

#endif  // OPSCV_CLI_INTERRUPT_H_
