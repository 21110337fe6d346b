// SPDX-License-Identifier: Apache-2.0
// Turns a square of lanes in registers. Compiled once per CPU target.

// Per-target include guard, as Highway wants it: toggled, not defined once.
#if defined(OPSCV_KERNELS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSCV_KERNELS_TRANSPOSE_INL_H_
#undef OPSCV_KERNELS_TRANSPOSE_INL_H_
#else
#define OPSCV_KERNELS_TRANSPOSE_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace opscv::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// Every 16 bytes hold a square of lanes of their own: turns each of them, in kLanes / (lanes in 16
// bytes) groups of vectors.
template <class D, size_t kLanes>
HWY_INLINE void TransposeInBlocks(D d, hn::Vec<D> (&v)[kLanes]) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    for (size_t i = 0; i < kLanes; i += 2) {
      const hn::Vec<D> low = hn::InterleaveLower(d, v[i], v[i + 1]);
      v[i + 1] = hn::InterleaveUpper(d, v[i], v[i + 1]);
      v[i] = low;
    }
  } else {
    const hn::RepartitionToWide<hn::RebindToUnsigned<D>> dw;
    for (size_t i = 0; i < kLanes; i += 4) {
      const auto low01 = hn::BitCast(dw, hn::InterleaveLower(d, v[i], v[i + 1]));
      const auto low23 = hn::BitCast(dw, hn::InterleaveLower(d, v[i + 2], v[i + 3]));
      const auto high01 = hn::BitCast(dw, hn::InterleaveUpper(d, v[i], v[i + 1]));
      const auto high23 = hn::BitCast(dw, hn::InterleaveUpper(d, v[i + 2], v[i + 3]));
      v[i] = hn::BitCast(d, hn::InterleaveLower(dw, low01, low23));
      v[i + 1] = hn::BitCast(d, hn::InterleaveUpper(dw, low01, low23));
      v[i + 2] = hn::BitCast(d, hn::InterleaveLower(dw, high01, high23));
      v[i + 3] = hn::BitCast(d, hn::InterleaveUpper(dw, high01, high23));
    }
  }
}

// Lane j of v[i] becomes lane i of v[j]; kLanes is the number of lanes.
template <class D, size_t kLanes>
HWY_INLINE void Transpose(D d, hn::Vec<D> (&v)[kLanes]) {
  static_assert(kLanes == hn::MaxLanes(D()));
  [[maybe_unused]] constexpr size_t kInBlock = 16 / sizeof(hn::TFromD<D>);
  TransposeInBlocks(d, v);
#if HWY_MAX_BYTES >= 32
  if constexpr (kLanes == 4 * kInBlock) {
    // Vectors one block apart swap blocks within pairs of blocks.
    for (size_t pair = 0; pair < kLanes; pair += 2 * kInBlock) {
      for (size_t i = pair; i < pair + kInBlock; ++i) {
        const hn::Vec<D> even = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v[i + kInBlock]), v[i]);
        v[i + kInBlock] = hn::OddEvenBlocks(v[i + kInBlock], hn::SwapAdjacentBlocks(v[i]));
        v[i] = even;
      }
    }
  }
  if constexpr (kLanes >= 2 * kInBlock) {
    for (size_t i = 0; i < kLanes / 2; ++i) {
      const hn::Vec<D> low = hn::ConcatLowerLower(d, v[i + kLanes / 2], v[i]);
      v[i + kLanes / 2] = hn::ConcatUpperUpper(d, v[i + kLanes / 2], v[i]);
      v[i] = low;
    }
  }
#endif
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace opscv::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
