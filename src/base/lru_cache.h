// SPDX-License-Identifier: Apache-2.0
// A bounded map that forgets what was used least recently; any number of threads may use it at
// once. Finds by a hash and a comparison that the caller brings, so that no key need be made to
// look for one. Knows nothing of what it keeps.
#ifndef OPSCV_BASE_LRU_CACHE_H_
#define OPSCV_BASE_LRU_CACHE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace opscv {

// Copies of a Value should be cheap: a handle, a shared pointer.
template <typename Key, typename Value>
class LruCache {
 public:
  // Keeps at least one entry.
  explicit LruCache(size_t capacity) : capacity_(std::max<size_t>(capacity, 1)) {
    index_.reserve(capacity_);
  }

  // The value inserted under that hash with a key that `equal` accepts; it becomes the one used
  // last. Allocates nothing.
  template <typename Equal>
  [[nodiscard]] std::optional<Value> Find(uint64_t hash, const Equal& equal) {
    const std::lock_guard lock(mutex_);
    const auto found = Search(hash, equal);
    if (found == entries_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, found);
    return found->value;
  }

  // Keeps the value, and forgets the one used least recently where there are too many. Where the
  // key is there already its value stays. Returns what is kept under the key.
  Value Insert(uint64_t hash, Key key, Value value) {
    std::list<Entry> forgotten;  // destroyed after the lock is free
    const std::lock_guard lock(mutex_);
    if (const auto found = Search(hash, [&](const Key& other) { return other == key; });
        found != entries_.end()) {
      return found->value;
    }
    entries_.push_front({hash, std::move(key), std::move(value)});
    index_.emplace(hash, entries_.begin());
    if (entries_.size() > capacity_) Forget(std::prev(entries_.end()), forgotten);
    return entries_.front().value;
  }

  void Clear() {
    std::list<Entry> forgotten;
    const std::lock_guard lock(mutex_);
    index_.clear();
    forgotten.swap(entries_);
  }

  [[nodiscard]] size_t capacity() const { return capacity_; }
  [[nodiscard]] size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    uint64_t hash;
    Key key;
    Value value;
  };
  using Place = typename std::list<Entry>::iterator;

  template <typename Equal>
  Place Search(uint64_t hash, const Equal& equal) {
    const auto [begin, end] = index_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      if (equal(std::as_const(it->second->key))) return it->second;
    }
    return entries_.end();
  }

  void Forget(Place place, std::list<Entry>& forgotten) {
    const auto [begin, end] = index_.equal_range(place->hash);
    for (auto it = begin; it != end; ++it) {
      if (it->second != place) continue;
      index_.erase(it);
      break;
    }
    forgotten.splice(forgotten.begin(), entries_, place);
  }

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // the one used last in front
  std::unordered_multimap<uint64_t, Place> index_;
};

}  // namespace opscv

#endif  // OPSCV_BASE_LRU_CACHE_H_
