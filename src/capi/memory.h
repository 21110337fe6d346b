// SPDX-License-Identifier: Apache-2.0
// Memory that programs ask for, and the one way from a device address to memory.
#ifndef OPSCV_CAPI_MEMORY_H_
#define OPSCV_CAPI_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace opscv::capi {

// Where the engine finds what a program knows by a device address. Every device address that the
// interface takes goes through here, and none is dereferenced elsewhere.
[[nodiscard]] inline void* EnginePointer(void* device_address) { return device_address; }
[[nodiscard]] inline const void* EnginePointer(const void* device_address) {
  return device_address;
}

// Blocks that a program holds, each aligned to 64 bytes. Thread-safe.
class BlockList {
 public:
  // At least 1 byte. Null when there is no memory. `huge` asks the kernel for huge pages.
  [[nodiscard]] void* Allocate(size_t size, bool huge);
  // False when the address is not the begin of a block that is held.
  bool Free(void* address);
  // All blocks that are held, for the caller to give to FreeBlocks.
  [[nodiscard]] std::unordered_set<void*> TakeAll();

  void LockForFork() { mutex_.lock(); }
  void UnlockAfterFork() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::unordered_set<void*> blocks_;
};

void FreeBlocks(const std::unordered_set<void*>& blocks);

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_MEMORY_H_
