// SPDX-License-Identifier: Apache-2.0
// Combines along the innermost axis: dst[o] = sum over k of weight(o)[k] * row[base(o) +
// delta(o)[k]], for the outputs o in [begin, end) of each of a few rows.
#ifndef OPSCV_KERNELS_INNER_AXIS_INNER_AXIS_H_
#define OPSCV_KERNELS_INNER_AXIS_INNER_AXIS_H_

#include "kernels/inner_axis/bands.h"
#include "kernels/kernel.h"
#include "taps/tap_table.h"

namespace opscv::kernels {

// Samples and outputs are pixels of `channels` elements each, that are neighbours; every channel is
// combined by itself.
struct InnerAxisArgs {
  const void* row;     // pixel row_origin of the first row; pixels up to row_end - 1 hold what the
  int64_t row_origin;  // outputs' taps reach
  int64_t row_end;
  int64_t src_step_bytes;  // from an element to the next; read when not one element
  const taps::TapTable* table;
  int64_t begin;
  int64_t end;
  void* dst;               // the place of output `begin`
  int64_t dst_step_bytes;  // read when not one element
  int64_t channels = 1;
  int64_t rows = 1;       // that many rows, each `row_bytes` after the one before, give rows of
  int64_t row_bytes = 0;  // outputs `dst_row_bytes` apart
  int64_t dst_row_bytes = 0;
  // The bands of a table of at most kSumBlock taps a row, for `channels` and InnerAxisLanes; null:
  // none.
  const BandTable* bands = nullptr;
};

// Sums as an OuterAxisKernel does.
using InnerAxisKernel = void (*)(const InnerAxisArgs&) noexcept;

[[nodiscard]] InnerAxisKernel SelectInnerAxis(const ElementKey& key);

// The elements that a kernel selected now takes as one vector, when it computes in that type; 0
// where it uses no bands.
[[nodiscard]] int64_t InnerAxisLanes(DType real);

// The same in plain loops: what the kernels are tested against, and the kernel of the scalar
// target.
[[nodiscard]] InnerAxisKernel SelectInnerAxisReference(const ElementKey& key);

}  // namespace opscv::kernels

#endif  // OPSCV_KERNELS_INNER_AXIS_INNER_AXIS_H_
