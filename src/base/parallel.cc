// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "base/fp_env.h"

#ifdef OPSCV_PARALLEL_TBB
#include <pthread.h>

#include <mutex>
#include <new>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#else
#include <vector>
#endif

namespace opscv {
namespace {

constexpr int kMaxThreads = 1024;

int AffinityThreads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::clamp(CPU_COUNT(&set), 1, kMaxThreads);
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxThreads);
}

// The value of OPSCV_THREADS; nothing where it is not set or is not a number of threads.
std::optional<int> ThreadsVariable() {
  const char* text = std::getenv("OPSCV_THREADS");
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, value);
  const bool valid = error == std::errc() && stopped == end && value >= 1 && value <= kMaxThreads;
  return valid ? std::optional(value) : std::nullopt;
}

bool Stopped(const std::atomic<bool>* stop) {
  return stop != nullptr && stop->load(std::memory_order_relaxed);
}

bool RunInOrder(int64_t blocks, const std::atomic<bool>* stop,
                FunctionRef<void(int64_t, int)> run) {
  const ScopedDefaultFpEnv fp_env;
  for (int64_t block = 0; block < blocks; ++block) {
    if (Stopped(stop)) return false;
    run(block, 0);
  }
  return true;
}

#ifdef OPSCV_PARALLEL_TBB

// A child has a copy of the scheduler's memory but none of its threads, and would wait for them.
bool g_ended_before_fork = false;
std::atomic<bool> g_one_thread = false;
std::atomic<bool> g_used_threads = false;

// Refused while other threads use the scheduler, or when called from inside a block.
void EndThreadsBeforeFork() {
  g_ended_before_fork = !g_used_threads;
  if (g_ended_before_fork) return;
  oneapi::tbb::task_scheduler_handle handle{oneapi::tbb::attach{}};
  g_ended_before_fork = oneapi::tbb::finalize(handle, std::nothrow);
}

void ContinueInChild() {
  if (!g_ended_before_fork) g_one_thread = true;
}

bool RunOnThreads(int64_t blocks, int threads, const std::atomic<bool>* stop,
                  FunctionRef<void(int64_t, int)> run) {
  using oneapi::tbb::global_control;
  g_used_threads = true;
  // Threads that oneTBB would not give are not asked for: it complains about that on stderr.
  const size_t available = global_control::active_value(global_control::max_allowed_parallelism);
  std::atomic<bool> complete = true;
  oneapi::tbb::task_arena arena(
      static_cast<int>(std::min(static_cast<size_t>(threads), available)));
  arena.execute([&] {
    oneapi::tbb::parallel_for(
        oneapi::tbb::blocked_range<int64_t>(0, blocks),
        [&](const oneapi::tbb::blocked_range<int64_t>& range) {
          const ScopedDefaultFpEnv fp_env;
          const int slot = oneapi::tbb::this_task_arena::current_thread_index();
          for (int64_t block = range.begin(); block != range.end(); ++block) {
            if (Stopped(stop)) {
              complete.store(false, std::memory_order_relaxed);
              return;
            }
            run(block, slot);
          }
        },
        oneapi::tbb::simple_partitioner());
  });
  return complete.load(std::memory_order_relaxed);
}

#else

// Threads are made for each call: a child has none to miss.
constexpr bool g_one_thread = false;

bool RunOnThreads(int64_t blocks, int threads, const std::atomic<bool>* stop,
                  FunctionRef<void(int64_t, int)> run) {
  std::atomic<int64_t> next = 0;
  std::atomic<bool> complete = true;
  const auto work = [&](int slot) {
    const ScopedDefaultFpEnv fp_env;
    for (int64_t block = next.fetch_add(1); block < blocks; block = next.fetch_add(1)) {
      if (Stopped(stop)) {
        complete.store(false, std::memory_order_relaxed);
        return;
      }
      run(block, slot);
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(static_cast<size_t>(threads) - 1);
  for (int slot = 1; slot < threads; ++slot) helpers.emplace_back(work, slot);
  work(0);
  for (std::thread& helper : helpers) helper.join();
  return complete.load(std::memory_order_relaxed);
}

#endif

}  // namespace

int DefaultThreads() {
  static const int threads = ThreadsVariable().value_or(AffinityThreads());
  return threads;
}

const Status& CheckThreadsVariable() {
  static const Status status = [] {
    const char* text = std::getenv("OPSCV_THREADS");
    if (text == nullptr || *text == '\0' || ThreadsVariable()) return Status();
    return InvalidArgument("OPSCV_THREADS must be a number from 1 to {}, got '{}'.", kMaxThreads,
                           text);
  }();
  return status;
}

void InstallForkHandlers() {
#ifdef OPSCV_PARALLEL_TBB
  static std::once_flag installed;
  std::call_once(installed, [] { pthread_atfork(EndThreadsBeforeFork, nullptr, ContinueInChild); });
#endif
}

bool ParallelFor(int64_t blocks, int threads, const std::atomic<bool>* stop,
                 FunctionRef<void(int64_t, int)> run) {
  const int useful = static_cast<int>(std::min<int64_t>(threads, blocks));
  if (useful <= 1 || g_one_thread) return RunInOrder(blocks, stop, run);
  InstallForkHandlers();
  return RunOnThreads(blocks, useful, stop, run);
}

}  // namespace opscv
