// SPDX-License-Identifier: Apache-2.0
// What the files of this library share: how its C functions are exported and how they report.
// Element types and layouts cross the border as the numbers below.
#ifndef OPSCV_BENCH_C_DOOR_H_
#define OPSCV_BENCH_C_DOOR_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>

#define OPSCV_BENCH_API extern "C" __attribute__((visibility("default")))

namespace opscv::bench {

enum : int { kFloat32 = 0, kFloat16 = 1, kBFloat16 = 2 };

inline constexpr int kErrorBytes = 256;

// Copies the message, cut to kErrorBytes, to where the caller reads it.
inline void Tell(char* error, const std::string& message) {
  const size_t length = std::min<size_t>(message.size(), kErrorBytes - 1);
  std::memcpy(error, message.data(), length);
  error[length] = '\0';
}

// Seconds that `repeat` calls of `call` take, divided by their number; -1 when one answers false.
template <typename Call>
double SecondsPerCall(int64_t repeat, const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < repeat; ++i) {
    if (!call()) return -1.0;
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / static_cast<double>(repeat);
}

}  // namespace opscv::bench

#endif  // OPSCV_BENCH_C_DOOR_H_
