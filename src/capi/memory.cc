// SPDX-License-Identifier: Apache-2.0
#include "capi/memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <utility>

namespace opscv::capi {
namespace {

constexpr size_t kAlign = 64;
constexpr size_t kHugePage = size_t{2} << 20;  // x86-64 and, with 4 KiB pages, 64-bit Arm

// Exactly `size` bytes, so that tools which watch the heap see the true end. The kernel may decline
// huge pages; small ones serve as well.
void* AlignedBlock(size_t size, bool huge) {
  const bool whole_pages = huge && size >= kHugePage;
  void* block = nullptr;
  if (posix_memalign(&block, whole_pages ? kHugePage : kAlign, size) != 0) return nullptr;
  if (whole_pages) madvise(block, size & ~(kHugePage - 1), MADV_HUGEPAGE);
  return block;
}

}  // namespace

void* BlockList::Allocate(size_t size, bool huge) {
  void* block = AlignedBlock(size, huge);
  if (block == nullptr) return nullptr;
  try {
    const std::lock_guard lock(mutex_);
    blocks_.insert(block);
  } catch (...) {
    std::free(block);
    throw;
  }
  return block;
}

bool BlockList::Free(void* address) {
  {
    const std::lock_guard lock(mutex_);
    if (blocks_.erase(address) == 0) return false;
  }
  std::free(address);
  return true;
}

std::unordered_set<void*> BlockList::TakeAll() {
  const std::lock_guard lock(mutex_);
  return std::exchange(blocks_, {});
}

void FreeBlocks(const std::unordered_set<void*>& blocks) {
  for (void* block : blocks) std::free(block);
}

}  // namespace opscv::capi
