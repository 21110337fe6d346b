// SPDX-License-Identifier: Apache-2.0
// Random numbers for tests. Every test takes its seed from here and prints it when it fails;
// OPSCV_TEST_SEED=<number> repeats that run.
#ifndef OPSCV_TESTS_SUPPORT_RANDOM_H_
#define OPSCV_TESTS_SUPPORT_RANDOM_H_

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <random>
#include <string>

namespace opscv::testing {

inline uint64_t TestSeed() {
  static const uint64_t seed = [] {
    const char* text = std::getenv("OPSCV_TEST_SEED");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device()();
  }();
  return seed;
}

// For SCOPED_TRACE: how to repeat this.
inline std::string SeedTrace() { return "OPSCV_TEST_SEED=" + std::to_string(TestSeed()); }

class Random {
 public:
  // `stream` keeps the draws of different tests apart.
  explicit Random(uint64_t stream) : engine_(TestSeed() * 1000003 + stream) {}

  // Uniform in [low, high].
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  double Real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  double Normal() { return std::normal_distribution<double>()(engine_); }
  bool Chance(double probability) { return Real(0.0, 1.0) < probability; }
  template <typename T>
  T Of(std::initializer_list<T> values) {
    return values.begin()[Int(0, static_cast<int64_t>(values.size()) - 1)];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace opscv::testing

#endif  // OPSCV_TESTS_SUPPORT_RANDOM_H_
