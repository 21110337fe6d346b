// SPDX-License-Identifier: Apache-2.0
// The tests' random numbers for tests that lie in a room: their failures print the seed by
// themselves.
#ifndef OPSCV_BASE_TEST_RANDOM_H_
#define OPSCV_BASE_TEST_RANDOM_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <span>

#include "tests/support/random.h"

namespace opscv::testing {

// A local of a test: while it lives, failures say how to repeat its numbers.
class TracedRandom : public Random {
 public:
  TracedRandom() : Random(0), trace_(__FILE__, __LINE__, SeedTrace()) {}

  bool OneIn(int64_t n) { return Int(1, n) == 1; }
  // 64 random bits.
  uint64_t Bits() {
    using Limits = std::numeric_limits<int64_t>;
    return static_cast<uint64_t>(Int(Limits::min(), Limits::max()));
  }
  using Random::Of;
  template <typename Values>
  const auto& Of(const Values& values) {
    const std::span span(values);
    return span[static_cast<size_t>(Int(0, static_cast<int64_t>(span.size()) - 1))];
  }

 private:
  ::testing::ScopedTrace trace_;
};

}  // namespace opscv::testing

#endif  // OPSCV_BASE_TEST_RANDOM_H_
