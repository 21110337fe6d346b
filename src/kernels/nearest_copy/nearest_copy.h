// SPDX-License-Identifier: Apache-2.0
// Copies elements of 1, 2, 4 or 8 bytes without looking at them: nearest forward, and the identity.
#ifndef OPSCV_KERNELS_NEAREST_COPY_NEAREST_COPY_H_
#define OPSCV_KERNELS_NEAREST_COPY_NEAREST_COPY_H_

#include <cstddef>
#include <cstdint>

namespace opscv::kernels {

// dst group o = input group source[o], o in [0, n); a group is `group` neighbouring elements.
struct NearestCopyArgs {
  const void* src;         // group source_origin of the input row
  int64_t src_step_bytes;  // from a group to the next, any sign
  const int64_t* source;   // null: output o copies the o-th group from `src` on
  int64_t source_origin;
  void* dst;  // shares no byte with the input row
  int64_t dst_step_bytes;
  int64_t n;
  int64_t group;
};

using NearestCopyKernel = void (*)(const NearestCopyArgs&) noexcept;

// `element_bytes` is 1, 2, 4 or 8.
[[nodiscard]] NearestCopyKernel SelectNearestCopy(int64_t element_bytes);

}  // namespace opscv::kernels

#endif  // OPSCV_KERNELS_NEAREST_COPY_NEAREST_COPY_H_
