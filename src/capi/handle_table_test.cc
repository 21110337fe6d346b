// SPDX-License-Identifier: Apache-2.0
#include "capi/handle_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace opscv::capi {
namespace {

using ::testing::HasSubstr;
using IntTable = HandleTable<int>;

TEST(HandleTable, FindsWhatWasInserted) {
  IntTable table(HandleKind::kTensor);
  void* one = table.Insert(std::make_shared<int>(1));
  void* two = table.Insert(std::make_shared<int>(2));
  ASSERT_NE(one, nullptr);
  ASSERT_NE(one, two);
  EXPECT_EQ(*table.Find(one), 1);
  EXPECT_EQ(*table.Find(two), 2);
}

TEST(HandleTable, RefusesStaleAndForeignHandles) {
  IntTable tensors(HandleKind::kTensor);
  IntTable streams(HandleKind::kStream);
  void* handle = tensors.Insert(std::make_shared<int>(1));
  int object = 0;
  EXPECT_EQ(streams.Find(handle), nullptr);
  EXPECT_EQ(tensors.Find(&object), nullptr);
  EXPECT_EQ(tensors.Find(nullptr), nullptr);
  EXPECT_NE(tensors.Take(handle), nullptr);
  EXPECT_EQ(tensors.Take(handle), nullptr);
  EXPECT_EQ(tensors.Find(handle), nullptr);
}

TEST(HandleTable, NeverIssuesAHandleTwice) {
  IntTable table(HandleKind::kEvent);
  std::set<void*> seen;
  for (int i = 0; i < 1000; ++i) {
    void* handle = table.Insert(std::make_shared<int>(i));
    EXPECT_TRUE(seen.insert(handle).second);
    if (i % 3 != 0) table.Take(handle);
  }
  EXPECT_EQ(table.TakeAll().size(), 334u);
  EXPECT_TRUE(seen.insert(table.Insert(std::make_shared<int>(0))).second);
}

TEST(HandleTable, HandlesAreNoUserAddresses) {
  for (uint8_t kind = 1; kind <= 7; ++kind) {
    const HandleWord word{kind, 0xFFFFFFFFu, kMaxSlots - 1};
    const auto bits = reinterpret_cast<uint64_t>(EncodeHandle(word));
    EXPECT_NE(bits >> 60, 0u);
    EXPECT_LT(bits >> 60, 8u);
    const HandleWord back = DecodeHandle(EncodeHandle(word));
    EXPECT_EQ(back.kind, word.kind);
    EXPECT_EQ(back.generation, word.generation);
    EXPECT_EQ(back.slot, word.slot);
  }
}

TEST(HandleTable, AnObjectInUseOutlivesItsHandle) {
  IntTable table(HandleKind::kTensor);
  void* handle = table.Insert(std::make_shared<int>(7));
  const std::shared_ptr<int> used = table.Find(handle);
  table.Take(handle);
  EXPECT_EQ(*used, 7);
}

TEST(HandleTable, SaysWhyNot) {
  IntTable streams(HandleKind::kStream);
  void* stream = streams.Insert(std::make_shared<int>(0));
  int object = 0;
  EXPECT_EQ(WhyNot(HandleKind::kTensor, stream), "must be a tensor, got a stream");
  EXPECT_THAT(WhyNot(HandleKind::kStream, stream), HasSubstr("destroyed or never created"));
  EXPECT_THAT(WhyNot(HandleKind::kTensor, &object), HasSubstr("which is no handle"));
  EXPECT_EQ(WhyNot(HandleKind::kExecutor, nullptr), "must be an executor, got null");
}

TEST(HandleTable, ThreadsShareIt) {
  IntTable table(HandleKind::kTensor);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        void* handle = table.Insert(std::make_shared<int>(t * 1000 + i));
        const std::shared_ptr<int> found = table.Find(handle);
        if (found == nullptr || *found != t * 1000 + i) ++wrong;
        if (table.Take(handle) == nullptr) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(table.All().empty());
}

}  // namespace
}  // namespace opscv::capi
