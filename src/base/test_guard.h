// SPDX-License-Identifier: Apache-2.0
// Memory between two pages that may not be touched: reading or writing past either end crashes.
#ifndef OPSCV_BASE_TEST_GUARD_H_
#define OPSCV_BASE_TEST_GUARD_H_

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <span>

namespace opscv::testing {

// The end of the arena that a piece of memory touches; only past that end is a byte too far seen.
enum class Flush { kStart, kEnd };
inline constexpr Flush kBothFlush[] = {Flush::kStart, Flush::kEnd};

class GuardedArena {
 public:
  explicit GuardedArena(size_t capacity) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_ = (capacity + page - 1) / page * page;
    mapped_ = size_ + 2 * page;
    void* map = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) std::abort();
    map_ = static_cast<char*>(map);
    begin_ = map_ + page;
    if (size_ != 0 && mprotect(begin_, size_, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  ~GuardedArena() { munmap(map_, mapped_); }
  GuardedArena(const GuardedArena&) = delete;
  GuardedArena& operator=(const GuardedArena&) = delete;

  // `bytes` of the arena, at its start or at its end.
  [[nodiscard]] std::span<char> Take(size_t bytes, Flush flush) {
    if (bytes > size_) {
      ADD_FAILURE() << "an arena of " << size_ << " bytes cannot give " << bytes;
      std::abort();
    }
    return {flush == Flush::kStart ? begin_ : begin_ + size_ - bytes, bytes};
  }

 private:
  size_t size_;
  size_t mapped_;
  char* map_;
  char* begin_;
};

}  // namespace opscv::testing

#endif  // OPSCV_BASE_TEST_GUARD_H_
