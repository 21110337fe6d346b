// SPDX-License-Identifier: Apache-2.0
// Size arithmetic that says when it overflows.
#ifndef OPSCV_BASE_CHECKED_MATH_H_
#define OPSCV_BASE_CHECKED_MATH_H_

#include <cstdint>
#include <optional>
#include <span>

namespace opscv {

// a * b, or nothing when it does not fit.
[[nodiscard]] inline std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// a + b, or nothing when it does not fit.
[[nodiscard]] inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

// The product of all values (none negative), or nothing when it does not fit. A zero anywhere makes
// it 0, whatever the others are.
[[nodiscard]] inline std::optional<int64_t> CheckedProduct(std::span<const int64_t> values) {
  for (const int64_t value : values) {
    if (value == 0) return 0;
  }
  std::optional<int64_t> product = 1;
  for (const int64_t value : values) {
    product = CheckedMul(*product, value);
    if (!product) return std::nullopt;
  }
  return product;
}

[[nodiscard]] constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
[[nodiscard]] constexpr int64_t RoundUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

}  // namespace opscv

#endif  // OPSCV_BASE_CHECKED_MATH_H_
