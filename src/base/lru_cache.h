// SPDX-License-Identifier: Apache-2.0
// A map bounded in number and in cost that forgets what was used least recently; any number of
// threads may use it at once. Finds by a hash and a comparison that the caller brings, so that no
// key need be made to look for one. Knows nothing of what it keeps.
#ifndef OPSCV_BASE_LRU_CACHE_H_
#define OPSCV_BASE_LRU_CACHE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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
  // Keeps at most `capacity` entries, one at least, and none that costs more than `most_cost`; the
  // costs of all that is kept add up to at most that too.
  explicit LruCache(size_t capacity, uint64_t most_cost = std::numeric_limits<uint64_t>::max())
      : capacity_(std::max<size_t>(capacity, 1)), most_cost_(most_cost) {
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

  // Keeps the value, and forgets those used least recently where there is too much. Where the key
  // is there already its value stays. Returns what is kept under the key, or the value where it
  // costs too much to be kept.
  Value Insert(uint64_t hash, Key key, Value value, uint64_t cost = 0) {
    if (cost > most_cost_) return value;
    std::list<Entry> fresh;
    std::list<Entry> forgotten;  // destroyed after the lock is free
    fresh.push_front({hash, cost, std::move(key), std::move(value)});
    const std::lock_guard lock(mutex_);
    if (const auto found =
            Search(hash, [&](const Key& other) { return other == fresh.front().key; });
        found != entries_.end()) {
      return found->value;
    }
    index_.emplace(hash, fresh.begin());
    entries_.splice(entries_.begin(), fresh);
    while (entries_.size() > capacity_ || cost_ > most_cost_ - cost) {
      Forget(std::prev(entries_.end()), forgotten);
    }
    cost_ += cost;
    return entries_.front().value;
  }

  void Clear() {
    std::list<Entry> forgotten;
    const std::lock_guard lock(mutex_);
    index_.clear();
    forgotten.swap(entries_);
    cost_ = 0;
  }

  // Around fork: no other thread is inside while the process is copied.
  void LockForFork() { mutex_.lock(); }
  void UnlockAfterFork() { mutex_.unlock(); }

  [[nodiscard]] size_t capacity() const { return capacity_; }
  [[nodiscard]] size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }
  // Of all that is kept.
  [[nodiscard]] uint64_t cost() const {
    const std::lock_guard lock(mutex_);
    return cost_;
  }

 private:
  struct Entry {
    uint64_t hash;
    uint64_t cost;
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
    cost_ -= place->cost;
    forgotten.splice(forgotten.begin(), entries_, place);
  }

  const size_t capacity_;
  const uint64_t most_cost_;
  mutable std::mutex mutex_;
  uint64_t cost_ = 0;
  std::list<Entry> entries_;  // the one used last in front
  std::unordered_multimap<uint64_t, Place> index_;
};

}  // namespace opscv

#endif  // OPSCV_BASE_LRU_CACHE_H_
