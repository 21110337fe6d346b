// SPDX-License-Identifier: Apache-2.0
// Combines along the innermost axis: dst[o] = sum over k of weight(o)[k] * row[index(o)[k]], for the
// outputs o in [begin, end) of one row.
#ifndef OPSCV_KERNELS_INNER_AXIS_INNER_AXIS_H_
#define OPSCV_KERNELS_INNER_AXIS_INNER_AXIS_H_

#include "kernels/inner_axis/lane_table.h"
#include "kernels/kernel.h"

namespace opscv::kernels {

struct InnerAxisArgs {
  const void* row;         // contiguous, in the type of computation; its first element is input
  int64_t row_origin;      // sample row_origin, and it holds what the outputs' taps reach
  const void* table;       // LaneTable of the type of computation
  int64_t begin;
  int64_t end;
  void* dst;               // the place of output `begin`
  int64_t dst_step_bytes;  // read when not one element
};

// Sums as an OuterAxisKernel does. The source type of the key is the type of computation.
using InnerAxisKernel = void (*)(const InnerAxisArgs&) noexcept;

[[nodiscard]] InnerAxisKernel SelectInnerAxis(const ElementKey& key);

// The same in plain loops: what the kernels are tested against, and the kernel of the scalar target.
[[nodiscard]] InnerAxisKernel SelectInnerAxisReference(const ElementKey& key);

}  // namespace opscv::kernels

#endif  // OPSCV_KERNELS_INNER_AXIS_INNER_AXIS_H_
