// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 as their bits, converted one value at a time: exactly when widening, to
// nearest-even when narrowing. NaN stays NaN (made quiet, top payload bits kept).
#ifndef OPSCV_BASE_HALF_H_
#define OPSCV_BASE_HALF_H_

#include <bit>
#include <cstdint>

namespace opscv {

struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

[[nodiscard]] inline float ToFloat(BFloat16 x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16);
}

[[nodiscard]] inline float ToFloat(Float16 x) {
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16;
  const uint32_t magnitude = x.bits & 0x7FFFu;
  if (magnitude >= 0x7C00u) {  // infinity, or NaN made quiet
    const uint32_t quiet = magnitude > 0x7C00u ? 0x00400000u : 0u;
    return std::bit_cast<float>(sign | 0x7F800000u | quiet | ((magnitude & 0x3FFu) << 13));
  }
  // Shifting moves the exponent field into place; the product corrects its bias (15 -> 127) and
  // renormalises subnormals, exactly.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(scaled));
}

[[nodiscard]] inline BFloat16 ToBFloat16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
    return {static_cast<uint16_t>((bits >> 16) | 0x40u)};
  }
  return {static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16)};
}

[[nodiscard]] inline Float16 ToFloat16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  uint32_t half = 0;
  if (magnitude > 0x7F800000u) {
    half = 0x7E00u | ((magnitude >> 13) & 0x3FFu);
  } else if (magnitude >= 0x477FF000u) {  // 65520, half way to the first value beyond float16
    half = 0x7C00u;
  } else if (magnitude < 0x38800000u) {  // below 2^-14: subnormal, rounded by an addition at 2^-24
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000u;
  } else {
    half = (magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
  }
  return {static_cast<uint16_t>(sign | half)};
}

}  // namespace opscv

#endif  // OPSCV_BASE_HALF_H_
