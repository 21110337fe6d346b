// SPDX-License-Identifier: Apache-2.0
// Calls that were planned before, by everything that a first stage looks at but addresses. Knows
// nothing of what makes a call valid: what is kept has passed the checks.
#ifndef OPSCV_CAPI_CALL_CACHE_H_
#define OPSCV_CAPI_CALL_CACHE_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/lru_cache.h"
#include "capi/planned_call.h"

namespace opscv::capi {

// A call as a row of words, made without allocating. Lists bring their length, so that no two calls
// give the same row.
class CallKey {
 public:
  CallKey() = default;
  CallKey(const CallKey&) = delete;
  CallKey& operator=(const CallKey&) = delete;

  void Add(uint64_t word) {
    if (size_ < kMost) words_[size_] = word;
    ++size_;
  }
  void Add(int64_t value) { Add(static_cast<uint64_t>(value)); }
  void Add(double value) { Add(std::bit_cast<uint64_t>(value)); }
  void Add(const void* identity) { Add(reinterpret_cast<uint64_t>(identity)); }
  void Add(std::span<const int64_t> list) {
    Add(list.size());
    for (const int64_t value : list) Add(value);
  }

  // Whether the row holds all that was added; otherwise it is the key of nothing.
  [[nodiscard]] bool complete() const { return size_ <= kMost; }
  [[nodiscard]] std::span<const uint64_t> words() const {
    return {words_.data(), std::min(size_, kMost)};
  }
  [[nodiscard]] uint64_t Hash() const {
    const auto bytes = std::as_bytes(words());
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

 private:
  static constexpr size_t kMost = 96;  // two tensors of 8 dimensions, and attributes

  std::array<uint64_t, kMost> words_;
  size_t size_ = 0;
};

class CallCache {
 public:
  using Call = std::shared_ptr<const PlannedCall>;
  // A program meets as many shapes as its model has layers, some hundred at most.
  static constexpr size_t kMostCalls = 256;
  // Of tables: all shapes of images up to some thousand pixels, or one of 2^20 samples an axis.
  static constexpr uint64_t kMostBytes = uint64_t{32} << 20;

  // Null where no such call is kept.
  [[nodiscard]] Call Find(const CallKey& key, uint64_t hash) {
    return calls_
        .Find(hash, [&](const Words& words) { return std::ranges::equal(words, key.words()); })
        .value_or(nullptr);
  }
  // What is kept from now on.
  Call Insert(const CallKey& key, uint64_t hash, Call call) {
    if (!key.complete()) return call;
    const uint64_t bytes = call->plan == nullptr ? 0 : TableBytes(*call->plan);
    return calls_.Insert(hash, Words(key.words().begin(), key.words().end()), std::move(call),
                         bytes);
  }
  void Clear() { calls_.Clear(); }

  [[nodiscard]] size_t size() const { return calls_.size(); }
  [[nodiscard]] uint64_t bytes() const { return calls_.cost(); }

  void LockForFork() { calls_.LockForFork(); }
  void UnlockAfterFork() { calls_.UnlockAfterFork(); }

 private:
  using Words = std::vector<uint64_t>;

  LruCache<Words, Call> calls_{kMostCalls, kMostBytes};
};

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_CALL_CACHE_H_
