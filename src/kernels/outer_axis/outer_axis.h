// SPDX-License-Identifier: Apache-2.0
// Combines whole rows: output row o holds, for x in [0, n), the sum over k of weight * row(base[o]
// + delta)[x], where delta and weight are those from place[o] + k on. Serves every axis but the
// innermost, and the innermost one where several channels lie side by side.
#ifndef OPSCV_KERNELS_OUTER_AXIS_OUTER_AXIS_H_
#define OPSCV_KERNELS_OUTER_AXIS_OUTER_AXIS_H_

#include "kernels/kernel.h"

namespace opscv::kernels {

struct OuterAxisArgs {
  const void* src;         // element 0 of row `origin`
  int64_t src_row_bytes;   // from a row to the next, any sign
  int64_t src_step_bytes;  // from an element to the next, any sign; read when not one element
  int64_t origin;
  // Where not 0, rows lie in a ring: the row `ring_rows` after row `origin` is in its place, and so
  // on; no row further than 2 * ring_rows is read.
  int64_t ring_rows = 0;
  // The first output's; a table's arrays.
  const int64_t* base;
  const int64_t* place;  // one more than there are outputs
  const int32_t* delta;  // row numbers from `base` on in the order of summation
  const void* weight;    // in the type of computation
  int64_t rows = 1;      // outputs, each dst_row_bytes after the one before
  void* dst;             // shares no byte with the rows
  int64_t dst_row_bytes = 0;
  int64_t dst_step_bytes;
  size_t n;
  // Stores go past the caches where the elements of dst touch and whole vectors of them are
  // aligned; FinishStores (kernels/past_caches) makes them visible to other threads.
  bool stream = false;
};

// Of tap k, counted over all outputs, of output o.
[[nodiscard]] inline const void* RowOf(const OuterAxisArgs& args, int64_t o, int64_t k) {
  const int64_t row = args.base[o] + args.delta[k] - args.origin;
  const int64_t turned = args.ring_rows != 0 && row >= args.ring_rows ? row - args.ring_rows : row;
  return static_cast<const char*>(args.src) + turned * args.src_row_bytes;
}

// Sums by fused multiply-add from +0, in blocks of kSumBlock taps, block totals in double; +0 is
// added before the store. Without taps the result is +0.
using OuterAxisKernel = void (*)(const OuterAxisArgs&) noexcept;

[[nodiscard]] OuterAxisKernel SelectOuterAxis(const ElementKey& key);

// The same in plain loops: what the kernels are tested against, and the kernel of the scalar
// target.
[[nodiscard]] OuterAxisKernel SelectOuterAxisReference(const ElementKey& key);

}  // namespace opscv::kernels

#endif  // OPSCV_KERNELS_OUTER_AXIS_OUTER_AXIS_H_
