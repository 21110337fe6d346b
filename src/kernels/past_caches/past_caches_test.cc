// SPDX-License-Identifier: Apache-2.0
#include "kernels/past_caches/past_caches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/test_kernels.h"

namespace opscv::kernels {
namespace {

using testing::Flush;
using testing::GuardedArena;
using testing::kBothFlush;
using testing::TracedRandom;

OPSCV_TEST_ON_EACH_TARGET(PastCachesTest);

constexpr int64_t kLine = 64;
constexpr char kUntouched = '\x5A';

std::vector<char> RandomBytes(TracedRandom& random, int64_t count) {
  std::vector<char> bytes(static_cast<size_t>(count));
  for (char& byte : bytes) byte = static_cast<char>(random.Bits());
  return bytes;
}

// Memory at any place in its line, with a line of untouched bytes before and after.
class Target {
 public:
  explicit Target(int64_t largest) : bytes_(static_cast<size_t>(largest + 4 * kLine)) {}

  // `count` bytes, the first one `into` bytes into its line.
  char* Take(int64_t into, int64_t count) {
    const auto address = reinterpret_cast<uintptr_t>(bytes_.data());
    begin_ = static_cast<int64_t>((kLine - address % kLine) % kLine) + kLine + into;
    count_ = count;
    std::fill(bytes_.begin(), bytes_.begin() + begin_ + count + kLine, kUntouched);
    return bytes_.data() + begin_;
  }

  // Whether the bytes are those from `expected` on, and no other was touched.
  [[nodiscard]] bool Holds(const char* expected) const {
    const auto untouched = [](char byte) { return byte == kUntouched; };
    const auto begin = bytes_.begin() + begin_;
    const auto end = begin + count_;
    return std::all_of(bytes_.begin(), begin, untouched) && std::equal(begin, end, expected) &&
           std::all_of(end, end + kLine, untouched);
  }

 private:
  std::vector<char> bytes_;
  int64_t begin_ = 0;
  int64_t count_ = 0;
};

TEST_P(PastCachesTest, CopiesFromAnywhereToAnywhereAndNothingBeside) {
  TracedRandom random;
  const CopyPastCachesKernel copy = SelectCopyPastCaches();
  const std::vector<char> source = RandomBytes(random, 1000);
  Target target(300);
  for (int64_t into = 0; into < kLine; ++into) {
    for (int64_t count = 0; count <= 300; ++count) {
      // From as far into a line, from its start, and from anywhere.
      for (const int64_t from : {into, int64_t{0}, random.Int(0, kLine - 1)}) {
        copy(target.Take(into, count), &source[static_cast<size_t>(from)],
             static_cast<size_t>(count));
        FinishStores();
        ASSERT_TRUE(target.Holds(&source[static_cast<size_t>(from)]))
            << count << " bytes from " << from << " to " << into << " bytes into a line";
      }
    }
  }
}

TEST_P(PastCachesTest, ClearsAnywhereAndNothingBeside) {
  const ClearPastCachesKernel clear = SelectClearPastCaches();
  const std::vector<char> zeros(300, '\0');
  Target target(300);
  for (int64_t into = 0; into < kLine; ++into) {
    for (int64_t count = 0; count <= 300; ++count) {
      clear(target.Take(into, count), static_cast<size_t>(count));
      FinishStores();
      ASSERT_TRUE(target.Holds(zeros.data())) << count << " bytes, " << into << " into a line";
    }
  }
}

TEST_P(PastCachesTest, CopiesAndClearsLargeMemory) {
  TracedRandom random;
  for (const int64_t about : {4096, 100000, 3 << 20}) {
    const int64_t count = about + random.Int(-70, 70);
    const std::vector<char> source = RandomBytes(random, count);
    Target target(count);
    const int64_t into = random.Int(0, kLine - 1);
    SelectCopyPastCaches()(target.Take(into, count), source.data(), source.size());
    FinishStores();
    EXPECT_TRUE(target.Holds(source.data())) << count << " bytes, " << into << " into a line";
    SelectClearPastCaches()(target.Take(into, count), source.size());
    FinishStores();
    EXPECT_TRUE(target.Holds(std::vector<char>(source.size(), '\0').data()))
        << count << " bytes, " << into << " into a line";
  }
}

// Neither reads nor writes outside of what it is given.
TEST_P(PastCachesTest, StaysBetweenTheGuards) {
  TracedRandom random;
  GuardedArena sources(8192);
  GuardedArena targets(8192);
  for (size_t count = 0; count <= 300; ++count) {
    for (const Flush from : kBothFlush) {
      for (const Flush to : kBothFlush) {
        const std::span<char> source = sources.Take(count, from);
        const std::span<char> target = targets.Take(count, to);
        for (char& byte : source) byte = static_cast<char>(random.Int(-128, 127));
        SelectCopyPastCaches()(target.data(), source.data(), count);
        FinishStores();
        ASSERT_TRUE(std::equal(target.begin(), target.end(), source.begin())) << count << " bytes";
        SelectClearPastCaches()(target.data(), count);
        FinishStores();
        ASSERT_EQ(std::count(target.begin(), target.end(), '\0'), static_cast<int64_t>(count));
      }
    }
  }
}

}  // namespace
}  // namespace opscv::kernels
