// SPDX-License-Identifier: Apache-2.0
#include "python/interrupt.h"

#include <Python.h>
#include <csignal>

namespace opscv::python {
namespace {

// One set for the process: only the main thread watches, and it runs one plan at a time.
unsigned long main_thread = 0;
std::atomic<bool> interrupted{false};
struct sigaction before;

void Handle(int signal, siginfo_t* info, void* context) {
  interrupted.store(true);
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else {
    before.sa_handler(signal);
  }
}

bool IsHandled(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

}  // namespace

void RememberMainThread() {
  PyObject* threading = PyImport_ImportModule("threading");
  PyObject* thread = threading ? PyObject_CallMethod(threading, "main_thread", nullptr) : nullptr;
  PyObject* ident = thread ? PyObject_GetAttrString(thread, "ident") : nullptr;
  if (ident != nullptr) main_thread = PyLong_AsUnsignedLong(ident);
  PyErr_Clear();
  Py_XDECREF(ident);
  Py_XDECREF(thread);
  Py_XDECREF(threading);
}

InterruptWatch::InterruptWatch(bool is_wanted) {
  if (!is_wanted || PyThread_get_thread_ident() != main_thread) return;
  if (sigaction(SIGINT, nullptr, &before) != 0 || !IsHandled(before)) return;
  interrupted.store(false);
  struct sigaction action = before;
  action.sa_flags |= SA_SIGINFO;
  action.sa_sigaction = &Handle;
  is_watching_ = sigaction(SIGINT, &action, nullptr) == 0;
}

InterruptWatch::~InterruptWatch() {
  if (is_watching_) sigaction(SIGINT, &before, nullptr);
}

const std::atomic<bool>* InterruptWatch::flag() const {
  return is_watching_ ? &interrupted : nullptr;
}

}  // namespace opscv::python
