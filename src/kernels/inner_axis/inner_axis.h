// SPDX-License-Identifier: Apache-2.0
// Combines along the innermost axis: dst[o] = sum over k of weight(o)[k] * row[index(o)[k]], for
// the outputs o in [begin, end) of each of a few rows.
#ifndef OPSCV_KERNELS_INNER_AXIS_INNER_AXIS_H_
#define OPSCV_KERNELS_INNER_AXIS_INNER_AXIS_H_

#include "kernels/inner_axis/lane_table.h"
#include "kernels/kernel.h"

namespace opscv::kernels {

struct InnerAxisArgs {
  const void* row;     // contiguous, in the type of computation: input samples row_origin ..
  int64_t row_origin;  // row_end - 1, which hold what the outputs' taps reach
  int64_t row_end;
  const void* table;  // LaneTable of the type of computation
  int64_t begin;
  int64_t end;
  void* dst;               // the place of output `begin`
  int64_t dst_step_bytes;  // read when not one element
  int64_t rows = 1;        // that many rows, each `row_bytes` after the one before, give rows of
  int64_t row_bytes = 0;   // outputs `dst_row_bytes` apart
  int64_t dst_row_bytes = 0;
};

// Sums as an OuterAxisKernel does. The source type of the key is the type of computation.
using InnerAxisKernel = void (*)(const InnerAxisArgs&) noexcept;

[[nodiscard]] InnerAxisKernel SelectInnerAxis(const ElementKey& key);

// The same in plain loops: what the kernels are tested against, and the kernel of the scalar
// target.
[[nodiscard]] InnerAxisKernel SelectInnerAxisReference(const ElementKey& key);

}  // namespace opscv::kernels

#endif  // OPSCV_KERNELS_INNER_AXIS_INNER_AXIS_H_
