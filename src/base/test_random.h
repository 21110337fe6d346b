// SPDX-License-Identifier: Apache-2.0
// Random numbers for tests whose failures print the seed that repeats them. Knows nothing of what
// is tested.
#ifndef OPSCV_BASE_TEST_RANDOM_H_
#define OPSCV_BASE_TEST_RANDOM_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <string>

namespace opscv::testing {

// OPSCV_TEST_SEED where it is set, else a new number for every process.
inline uint64_t TestSeed() {
  static const uint64_t seed = [] {
    const char* text = std::getenv("OPSCV_TEST_SEED");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : uint64_t{std::random_device{}()};
  }();
  return seed;
}

// A local of a test: while it lives, failures say how to repeat its numbers. Two of them in one
// process draw the same numbers.
class Random {
 public:
  Random() : trace_(__FILE__, __LINE__, "repeat with OPSCV_TEST_SEED=" + std::to_string(TestSeed())) {}

  // Uniform in [low, high].
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  double Real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  double Normal() { return normal_(engine_); }
  bool OneIn(int64_t n) { return Int(1, n) == 1; }
  template <typename T, size_t kExtent>
  const T& Of(std::span<T, kExtent> values) {
    return values[static_cast<size_t>(Int(0, static_cast<int64_t>(values.size()) - 1))];
  }
  template <typename Values>
  const auto& Of(const Values& values) {
    return Of(std::span(values));
  }
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_{TestSeed()};
  std::normal_distribution<double> normal_;
  ::testing::ScopedTrace trace_;
};

}  // namespace opscv::testing

#endif  // OPSCV_BASE_TEST_RANDOM_H_
