// SPDX-License-Identifier: Apache-2.0
#include "kernels/nearest_copy/nearest_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/test_kernels.h"

namespace opscv::kernels {
namespace {

using testing::Flush;
using testing::GuardedArena;
using testing::kBothFlush;
using testing::Reach;
using testing::TracedRandom;

struct Case {
  int64_t element_bytes;
  int64_t group;
  int64_t groups_in;
  int64_t src_step_bytes;
  int64_t dst_step_bytes;
  int64_t n;
  bool mapped;
  int64_t source_origin;
  std::vector<int64_t> source;

  [[nodiscard]] int64_t group_bytes() const { return group * element_bytes; }
  [[nodiscard]] int64_t SourceOf(int64_t o) const {
    return mapped ? source[static_cast<size_t>(o)] - source_origin : o;
  }
};

Case RandomCase(TracedRandom& random, int64_t element_bytes) {
  Case c{};
  c.element_bytes = element_bytes;
  c.group = random.OneIn(2) ? 1 : random.Int(2, 20);
  c.groups_in = random.Int(1, 40);
  c.mapped = random.OneIn(2);
  c.source_origin = random.Int(0, 1000);
  c.n = c.mapped ? random.Int(0, 100) : c.groups_in;
  for (int64_t o = 0; c.mapped && o < c.n; ++o) {
    c.source.push_back(c.source_origin + random.Int(0, c.groups_in - 1));
  }
  if (random.OneIn(2)) std::sort(c.source.begin(), c.source.end());
  const int64_t apart = c.group_bytes() + (random.OneIn(3) ? 0 : random.Int(0, 5) * element_bytes);
  c.dst_step_bytes = random.OneIn(4) ? -apart : apart;
  c.src_step_bytes = random.OneIn(2) ? c.group_bytes() : random.Int(-30, 30) * element_bytes;
  return c;
}

void Check(const Case& c, TracedRandom& random, Flush flush) {
  static GuardedArena sources(1 << 20);
  static GuardedArena targets(1 << 20);
  SCOPED_TRACE("elements of " + std::to_string(c.element_bytes) + " bytes, " + std::to_string(c.n) +
               " groups of " + std::to_string(c.group) + (c.mapped ? " by a map" : " in order") +
               ", steps " + std::to_string(c.src_step_bytes) + " and " +
               std::to_string(c.dst_step_bytes));
  const Reach in = Reach(c.group_bytes()).Along(c.groups_in, c.src_step_bytes);
  const std::span<char> src = sources.Take(in.bytes(), flush);
  for (char& byte : src) byte = static_cast<char>(random.Bits());
  const Reach out = Reach(c.group_bytes()).Along(c.n, c.dst_step_bytes);
  const std::span<char> dst = targets.Take(out.bytes(), flush);
  std::fill(dst.begin(), dst.end(), '\x5A');
  std::vector<char> expected(dst.begin(), dst.end());
  for (int64_t o = 0; o < c.n; ++o) {
    std::memcpy(expected.data() + out.below() + o * c.dst_step_bytes,
                src.data() + in.below() + c.SourceOf(o) * c.src_step_bytes,
                static_cast<size_t>(c.group_bytes()));
  }
  SelectNearestCopy(c.element_bytes)({.src = src.data() + in.below(),
                                      .src_step_bytes = c.src_step_bytes,
                                      .source = c.mapped ? c.source.data() : nullptr,
                                      .source_origin = c.source_origin,
                                      .dst = dst.data() + out.below(),
                                      .dst_step_bytes = c.dst_step_bytes,
                                      .n = c.n,
                                      .group = c.group});
  ASSERT_TRUE(std::equal(dst.begin(), dst.end(), expected.begin()));
}

TEST(NearestCopy, CopiesBytesAndTouchesNoOthers) {
  TracedRandom random;
  for (int i = 0; i < 2000; ++i) {
    for (const int64_t element_bytes : {1, 2, 4, 8}) {
      const Case c = RandomCase(random, element_bytes);
      for (const Flush flush : kBothFlush) Check(c, random, flush);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace opscv::kernels
