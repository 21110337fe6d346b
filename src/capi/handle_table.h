// SPDX-License-Identifier: Apache-2.0
// Handles that C programs hold: a kind, a slot and the slot's generation in one word, looked up
// before use. A word is never issued twice, and none of them is an address that memory can have, so
// that a program which dereferences one faults at once. Knows nothing of what the objects are.
#ifndef OPSCV_CAPI_HANDLE_TABLE_H_
#define OPSCV_CAPI_HANDLE_TABLE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace opscv::capi {

enum class HandleKind : uint8_t {
  kTensor = 1,
  kIntArray,
  kFloatArray,
  kExecutor,
  kStream,
  kEvent,
  kContext,
};

// Kind in bits 60-63 (1 to 7, which no user address has), generation in 28-59, slot in 0-27.
struct HandleWord {
  uint8_t kind;
  uint32_t generation;
  uint32_t slot;
};
inline constexpr uint32_t kMaxSlots = 1u << 28;

[[nodiscard]] void* EncodeHandle(const HandleWord& word);
[[nodiscard]] HandleWord DecodeHandle(const void* handle);

// Why a handle that a table did not know is none of its own, to follow "gradOutput ": "is a stream,
// not a tensor", "was destroyed", ...
[[nodiscard]] std::string WhyNot(HandleKind expected, const void* handle);

// Thread-safe. Objects are given out as shared pointers, so that one which is destroyed while
// another thread uses it lives on until that use ends.
template <typename T>
class HandleTable {
 public:
  explicit HandleTable(HandleKind kind) : kind_(kind) {}

  // The object's new handle; null when every slot is taken.
  [[nodiscard]] void* Insert(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      if (slots_.size() >= kMaxSlots) return nullptr;
      slots_.emplace_back();
      free_.reserve(slots_.capacity());  // so that freeing a slot cannot throw
      free_.push_back(static_cast<uint32_t>(slots_.size() - 1));
    }
    const uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].object = std::move(object);
    return EncodeHandle({static_cast<uint8_t>(kind_), slots_[slot].generation, slot});
  }

  // The object, or null for a handle that is not live in this table.
  [[nodiscard]] std::shared_ptr<T> Find(const void* handle) const {
    const std::lock_guard lock(mutex_);
    const std::optional<uint32_t> slot = Locate(handle);
    return slot ? slots_[*slot].object : nullptr;
  }

  // As Find, and ends the handle.
  std::shared_ptr<T> Take(const void* handle) {
    const std::lock_guard lock(mutex_);
    const std::optional<uint32_t> slot = Locate(handle);
    return slot ? Release(*slot) : nullptr;
  }

  [[nodiscard]] std::vector<std::shared_ptr<T>> All() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> objects;
    for (const Slot& slot : slots_) {
      if (slot.object != nullptr) objects.push_back(slot.object);
    }
    return objects;
  }

  // Ends all handles.
  std::vector<std::shared_ptr<T>> TakeAll() {
    const std::lock_guard lock(mutex_);
    return ReleaseAll();
  }

  // Around fork: no other thread is inside the table while the process is copied.
  void LockForFork() { mutex_.lock(); }
  void UnlockAfterFork() { mutex_.unlock(); }
  // As TakeAll, for the one thread of the child, which holds the lock.
  std::vector<std::shared_ptr<T>> TakeAllLocked() { return ReleaseAll(); }

 private:
  struct Slot {
    uint32_t generation = 0;
    std::shared_ptr<T> object;
  };

  [[nodiscard]] std::optional<uint32_t> Locate(const void* handle) const {
    const HandleWord word = DecodeHandle(handle);
    if (word.kind != static_cast<uint8_t>(kind_) || word.slot >= slots_.size()) return std::nullopt;
    const Slot& slot = slots_[word.slot];
    if (slot.generation != word.generation || slot.object == nullptr) return std::nullopt;
    return word.slot;
  }

  // A slot whose generations are used up is not used again.
  std::shared_ptr<T> Release(uint32_t index) {
    Slot& slot = slots_[index];
    if (++slot.generation != 0) free_.push_back(index);
    return std::exchange(slot.object, nullptr);
  }

  std::vector<std::shared_ptr<T>> ReleaseAll() {
    std::vector<std::shared_ptr<T>> objects;
    for (uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].object != nullptr) objects.push_back(Release(i));
    }
    return objects;
  }

  const HandleKind kind_;
  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_HANDLE_TABLE_H_
