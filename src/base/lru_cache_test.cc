// SPDX-License-Identifier: Apache-2.0
#include "base/lru_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/view_key.h"

namespace opscv {
namespace {

using Cache = LruCache<std::string, int>;

std::optional<int> Find(Cache& cache, uint64_t hash, const std::string& key) {
  return cache.Find(hash, [&](const std::string& other) { return other == key; });
}

TEST(LruCache, FindsWhatWasInsertedUnderItsHash) {
  Cache cache(4);
  EXPECT_EQ(cache.Insert(1, "a", 10), 10);
  EXPECT_EQ(Find(cache, 1, "a"), 10);
  EXPECT_EQ(Find(cache, 2, "a"), std::nullopt);
  EXPECT_EQ(Find(cache, 1, "b"), std::nullopt);
}

TEST(LruCache, KeysOfOneHashStayApart) {
  Cache cache(4);
  cache.Insert(1, "a", 10);
  cache.Insert(1, "b", 20);
  EXPECT_EQ(Find(cache, 1, "a"), 10);
  EXPECT_EQ(Find(cache, 1, "b"), 20);
}

TEST(LruCache, TheFirstValueOfAKeyStays) {
  Cache cache(4);
  cache.Insert(1, "a", 10);
  EXPECT_EQ(cache.Insert(1, "a", 11), 10);
  EXPECT_EQ(cache.size(), 1U);
}

TEST(LruCache, ForgetsWhatWasUsedLeastRecently) {
  Cache cache(2);
  cache.Insert(7, "a", 1);  // one hash for all: the index must drop the right one
  cache.Insert(7, "b", 2);
  EXPECT_EQ(Find(cache, 7, "a"), 1);  // now b is the older
  cache.Insert(7, "c", 3);
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(Find(cache, 7, "b"), std::nullopt);
  EXPECT_EQ(Find(cache, 7, "a"), 1);
  EXPECT_EQ(Find(cache, 7, "c"), 3);
}

TEST(LruCache, HoldsOneAtLeast) {
  Cache cache(0);
  EXPECT_EQ(cache.capacity(), 1U);
  cache.Insert(1, "a", 1);
  EXPECT_EQ(Find(cache, 1, "a"), 1);
}

TEST(LruCache, ClearForgetsAll) {
  Cache cache(4);
  cache.Insert(1, "a", 1);
  cache.Clear();
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(Find(cache, 1, "a"), std::nullopt);
  EXPECT_EQ(cache.Insert(1, "a", 2), 2);
}

TEST(LruCache, KeepsNoMoreThanItsCost) {
  Cache cache(8, 10);
  cache.Insert(1, "a", 1, 4);
  cache.Insert(2, "b", 2, 4);
  cache.Insert(3, "c", 3, 2);
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_EQ(cache.cost(), 10U);
  EXPECT_EQ(Find(cache, 1, "a"), 1);  // now b is the oldest
  cache.Insert(4, "d", 4, 3);
  EXPECT_EQ(Find(cache, 2, "b"), std::nullopt);
  EXPECT_EQ(Find(cache, 1, "a"), 1);
  EXPECT_EQ(cache.cost(), 9U);
  cache.Insert(5, "e", 5, 10);  // as much as all the others may have together
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(Find(cache, 5, "e"), 5);
  EXPECT_EQ(cache.cost(), 10U);
  cache.Clear();
  EXPECT_EQ(cache.cost(), 0U);
  cache.Insert(6, "f", 6, 10);
  EXPECT_EQ(Find(cache, 6, "f"), 6);
}

TEST(LruCache, WhatCostsTooMuchIsNotKeptAndDrivesNothingOut) {
  Cache cache(8, 10);
  cache.Insert(1, "a", 1, 10);
  EXPECT_EQ(cache.Insert(2, "b", 2, 11), 2);
  EXPECT_EQ(Find(cache, 2, "b"), std::nullopt);
  EXPECT_EQ(Find(cache, 1, "a"), 1);
}

TEST(LruCache, AKeyThatIsThereCostsOnce) {
  Cache cache(8, 10);
  cache.Insert(1, "a", 1, 6);
  EXPECT_EQ(cache.Insert(1, "a", 2, 6), 1);
  EXPECT_EQ(cache.cost(), 6U);
}

TEST(LruCache, ManyThreadsUseItAtOnce) {
  LruCache<int, std::shared_ptr<const int>> cache(3);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&cache, &wrong, t] {
      for (int i = 0; i < 2000; ++i) {
        const int key = (i * (static_cast<int>(t) + 1)) % 7;
        auto value = cache.Find(static_cast<uint64_t>(key), [&](int k) { return k == key; });
        if (!value) {
          value = cache.Insert(static_cast<uint64_t>(key), key, std::make_shared<const int>(key));
        }
        if (**value != key) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
  EXPECT_LE(cache.size(), 3U);
}

TEST(ViewKey, EverythingOfADescriptionCounts) {
  const TensorDesc base = Contiguous(DType::kFloat32, {1, 2, 3, 4});
  std::vector<TensorDesc> others(5, base);
  others[0].dtype = DType::kFloat16;
  others[1].layout = Layout::kChannelsLast;
  others[2].shape[3] = 5;
  others[3].strides[0] = 25;
  others[4] = Contiguous(DType::kFloat32, {1, 2, 3});
  for (const TensorDesc& other : others) {
    EXPECT_FALSE(SameView(base, other));
    EXPECT_NE(HashOf(base), HashOf(other));
  }
  TensorDesc same = base;
  same.shape[6] = 9;  // beyond its rank
  EXPECT_TRUE(SameView(base, same));
  EXPECT_EQ(HashOf(base), HashOf(same));
}

}  // namespace
}  // namespace opscv
