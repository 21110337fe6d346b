// SPDX-License-Identifier: Apache-2.0
// Lets Ctrl-C stop a run that holds no interpreter lock. Knows nothing of plans.
#ifndef OPSCV_PYTHON_INTERRUPT_H_
#define OPSCV_PYTHON_INTERRUPT_H_

#include <atomic>

namespace opscv::python {

// Called once, when the module is imported.
void RememberMainThread();

// While one lives, SIGINT sets flag() and then goes to the handler that was there before, which is
// Python's. Does nothing in threads other than the main one, where Python raises no
// KeyboardInterrupt either, and where the process handles SIGINT without Python. Made with the
// interpreter lock held.
class InterruptWatch {
 public:
  explicit InterruptWatch(bool is_wanted);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  // Null where nothing is watched.
  [[nodiscard]] const std::atomic<bool>* flag() const;

 private:
  bool is_watching_ = false;
};

}  // namespace opscv::python

#endif  // OPSCV_PYTHON_INTERRUPT_H_
