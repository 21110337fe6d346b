// SPDX-License-Identifier: Apache-2.0
// Tensors' descriptions as keys: equal ones can be told, and hashed, without allocating.
#ifndef OPSCV_BASE_VIEW_KEY_H_
#define OPSCV_BASE_VIEW_KEY_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "opscv/view.h"

namespace opscv {

// `hash` with one more value in it; the order of values counts.
[[nodiscard]] constexpr uint64_t HashWith(uint64_t hash, uint64_t value) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15u;  // 2^64 over the golden ratio
  const uint64_t mixed = (std::rotl(hash, 5) ^ value) * kOdd;
  return mixed ^ (mixed >> 32);
}

[[nodiscard]] constexpr uint64_t HashOf(const Dims& dims) {
  auto hash = static_cast<uint64_t>(dims.rank());
  for (const int64_t value : dims.values()) hash = HashWith(hash, static_cast<uint64_t>(value));
  return hash;
}

[[nodiscard]] constexpr uint64_t HashOf(const TensorDesc& tensor) {
  const auto kind = static_cast<uint64_t>(tensor.dtype) << 8 | static_cast<uint64_t>(tensor.layout);
  return HashWith(HashWith(kind, HashOf(tensor.shape)), HashOf(tensor.strides));
}

[[nodiscard]] constexpr bool SameDims(const Dims& a, const Dims& b) {
  return a.rank() == b.rank() && std::ranges::equal(a.values(), b.values());
}

// Whether the two describe the same type, shape, strides and order of dimensions.
[[nodiscard]] constexpr bool SameView(const TensorDesc& a, const TensorDesc& b) {
  return a.dtype == b.dtype && a.layout == b.layout && SameDims(a.shape, b.shape) &&
         SameDims(a.strides, b.strides);
}

}  // namespace opscv

#endif  // OPSCV_BASE_VIEW_KEY_H_
