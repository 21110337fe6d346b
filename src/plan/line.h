// SPDX-License-Identifier: Apache-2.0
// Rows of pixels as programs hand them to kernels, and the kernels applied to whole rows.
#ifndef OPSCV_PLAN_LINE_H_
#define OPSCV_PLAN_LINE_H_

#include <cstdint>

#include "kernels/kernel.h"
#include "kernels/outer_axis/outer_axis.h"
#include "kernels/run_sum/run_sum.h"
#include "plan/resample_spec.h"

namespace opscv::plan {

// Pixels `step_bytes` apart from `data` on; the channels of a pixel touch.
struct SourceLine {
  const char* data;
  int64_t step_bytes;
};
struct TargetLine {
  char* data;
  int64_t step_bytes;
};

// Rows of them, `row_bytes` apart.
struct TargetRows {
  TargetLine line;
  int64_t row_bytes;
  bool stream = false;  // stores go past the caches where they can
  [[nodiscard]] TargetRows From(int64_t row) const {
    return {{line.data + row * row_bytes, line.step_bytes}, row_bytes, stream};
  }
};

// How many pixels, each of how many channels. Kernels for grouped lines take neighbouring channels;
// a group may have one channel only, where a box cuts the others off.
struct LineSize {
  int64_t pixels;
  int64_t channels;
  bool grouped;
};

// Whether neighbouring elements of the tensor's rows touch.
[[nodiscard]] inline bool HasUnitStep(const Tensor5& tensor, int64_t element_bytes) {
  return tensor.shape[kW] <= 1 || tensor.stride_bytes[kW] == element_bytes;
}

// Runs a row kernel over a line: in one call where its pixels touch in both places or are not
// grouped, else pixel by pixel. `args` comes with everything but src, dst, steps and n.
template <typename Kernel, typename Args>
void RunOnLine(Kernel kernel, Args args, int64_t src_element_bytes, int64_t dst_element_bytes,
               const SourceLine& src, const TargetLine& dst, const LineSize& size) noexcept {
  const bool dense = src.step_bytes == size.channels * src_element_bytes &&
                     dst.step_bytes == size.channels * dst_element_bytes;
  args.src = src.data;
  args.dst = dst.data;
  if (!size.grouped || dense) {
    args.src_step_bytes = size.grouped ? src_element_bytes : src.step_bytes;
    args.dst_step_bytes = size.grouped ? dst_element_bytes : dst.step_bytes;
    args.n = static_cast<size_t>(size.pixels * size.channels);
    kernel(args);
    return;
  }
  args.src_step_bytes = src_element_bytes;
  args.dst_step_bytes = dst_element_bytes;
  args.n = static_cast<size_t>(size.channels);
  for (int64_t x = 0; x < size.pixels; ++x) {
    args.src = src.data + x * src.step_bytes;
    args.dst = dst.data + x * dst.step_bytes;
    kernel(args);
  }
}

}  // namespace opscv::plan

#endif  // OPSCV_PLAN_LINE_H_
