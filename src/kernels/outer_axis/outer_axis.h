// SPDX-License-Identifier: Apache-2.0
// Combines whole rows: dst[x] = sum over k of weight[k] * row(delta[k])[x], for x in [0, n). Serves
// every axis but the innermost, and the innermost one where several channels lie side by side.
#ifndef OPSCV_KERNELS_OUTER_AXIS_OUTER_AXIS_H_
#define OPSCV_KERNELS_OUTER_AXIS_OUTER_AXIS_H_

#include "kernels/kernel.h"

namespace opscv::kernels {

struct OuterAxisArgs {
  const void* src;         // element 0 of row 0
  int64_t src_row_bytes;   // from a row to the next, any sign
  int64_t src_step_bytes;  // from an element to the next, any sign; read when not one element
  const int32_t* delta;    // taps rows, ascending order of summation
  const void* weight;      // taps weights in the type of computation
  size_t taps;
  void* dst;  // shares no byte with the rows
  int64_t dst_step_bytes;
  size_t n;
  // Stores go past the caches where the elements of dst touch and whole vectors of them are
  // aligned; FinishStores makes them visible to other threads.
  bool stream = false;
};

// Sums by fused multiply-add from +0, in blocks of kSumBlock taps, block totals in double; +0 is
// added before the store. Without taps the result is +0.
using OuterAxisKernel = void (*)(const OuterAxisArgs&) noexcept;

[[nodiscard]] OuterAxisKernel SelectOuterAxis(const ElementKey& key);

// To be called on the thread that streamed, after the last of its kernels.
void FinishStores() noexcept;

// The same in plain loops: what the kernels are tested against, and the kernel of the scalar
// target.
[[nodiscard]] OuterAxisKernel SelectOuterAxisReference(const ElementKey& key);

}  // namespace opscv::kernels

#endif  // OPSCV_KERNELS_OUTER_AXIS_OUTER_AXIS_H_
