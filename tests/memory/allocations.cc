// SPDX-License-Identifier: Apache-2.0
#include "tests/memory/allocations.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {

std::atomic<int64_t> g_in_use = 0;
std::atomic<int64_t> g_peak = 0;

void Add(int64_t bytes) {
  const int64_t now = g_in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t peak = g_peak.load(std::memory_order_relaxed);
  while (now > peak && !g_peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

}  // namespace

namespace opscv::testing {

namespace {
int64_t g_at_start = 0;
}  // namespace

void StartPeak() {
  g_at_start = g_in_use.load();
  g_peak.store(g_at_start);
}

int64_t PeakBytes() { return g_peak.load() - g_at_start; }

}  // namespace opscv::testing

// glibc's own functions under the names that it keeps for programs which replace malloc.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* memory);
}

namespace {

void* Counted(void* memory) {
  if (memory != nullptr) Add(static_cast<int64_t>(malloc_usable_size(memory)));
  return memory;
}

void Forget(void* memory) {
  g_in_use.fetch_sub(static_cast<int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
}

}  // namespace

#define OPSCV_REPLACES_LIBC extern "C" __attribute__((visibility("default")))

OPSCV_REPLACES_LIBC void* malloc(size_t bytes) { return Counted(__libc_malloc(bytes)); }

OPSCV_REPLACES_LIBC void* calloc(size_t count, size_t bytes) {
  return Counted(__libc_calloc(count, bytes));
}

OPSCV_REPLACES_LIBC void* realloc(void* memory, size_t bytes) {
  const auto before = static_cast<int64_t>(malloc_usable_size(memory));
  void* const moved = __libc_realloc(memory, bytes);
  if (moved != nullptr || bytes == 0) g_in_use.fetch_sub(before, std::memory_order_relaxed);
  return Counted(moved);
}

OPSCV_REPLACES_LIBC void* memalign(size_t alignment, size_t bytes) {
  return Counted(__libc_memalign(alignment, bytes));
}

OPSCV_REPLACES_LIBC void* aligned_alloc(size_t alignment, size_t bytes) {
  return Counted(__libc_memalign(alignment, bytes));
}

OPSCV_REPLACES_LIBC int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  void* const found = Counted(__libc_memalign(alignment, bytes));
  if (found == nullptr) return ENOMEM;
  *memory = found;
  return 0;
}

OPSCV_REPLACES_LIBC void free(void* memory) {
  if (memory != nullptr) Forget(memory);
  __libc_free(memory);
}
