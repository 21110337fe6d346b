// SPDX-License-Identifier: Apache-2.0
// Large outputs are stored past the caches: rows are collected in a corner of the scratch and then
// copied, whole cache lines at a time.
#ifndef OPSCV_PLAN_ROW_STAGE_H_
#define OPSCV_PLAN_ROW_STAGE_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernels/past_caches/past_caches.h"
#include "plan/geometry.h"
#include "plan/line.h"

namespace opscv::plan {

class RowStage {
 public:
  // Stores as usual.
  RowStage() = default;
  // For the blocks of an output of elements of so many bytes. Outputs that stay in the caches, or
  // whose pixels lie apart, are stored as usual.
  RowStage(const Tensor5& output, const BlockShape& blocks, int64_t element_bytes);

  // Whether the output is to be stored past the caches. Where its rows are too long to be collected
  // Emit does not do so, but Clear and the kernels may.
  [[nodiscard]] bool past_caches() const { return clear_ != nullptr; }
  // Memory that Emit needs, aligned to a cache line. Depends on the blocks alone, so that the
  // scratch of a plan does not depend on how many planes and channels there are.
  [[nodiscard]] int64_t bytes() const { return bytes_; }

  // Has make(first, count, dst) called for `rows` rows, at most `most` at a time, and sees to it
  // that what it leaves at dst, rows of `size`, arrives at `out`.
  template <typename Make>
  void Emit(char* memory, const TargetRows& out, const LineSize& size, int64_t rows, int64_t most,
            Make make) const;

  // Whether Clear can set such rows to +0.
  [[nodiscard]] bool Clears(const TargetRows& out, const LineSize& size) const {
    return past_caches() && IsDense(out, size);
  }
  void Clear(const TargetRows& out, const LineSize& size, int64_t rows) const noexcept;

  // For people.
  [[nodiscard]] std::string Describe() const;

  // To be called by the thread that called Emit or Clear, at last.
  void Finish() const noexcept {
    if (past_caches()) kernels::FinishStores();
  }

 private:
  static constexpr int64_t kLine = 64;

  [[nodiscard]] int64_t WidthOf(const LineSize& size) const {
    return size.pixels * size.channels * element_bytes_;
  }
  // Pixels of boxes may lie apart that have fewer channels than the tensor.
  [[nodiscard]] bool IsDense(const TargetRows& out, const LineSize& size) const {
    return size.pixels == 1 || out.line.step_bytes == size.channels * element_bytes_;
  }

  int64_t element_bytes_ = 0;
  int64_t rows_ = 0;  // that have room, where rows touch
  int64_t bytes_ = 0;
  kernels::CopyPastCachesKernel copy_ = nullptr;  // null where no rows are collected
  kernels::ClearPastCachesKernel clear_ = nullptr;
};

template <typename Make>
void RowStage::Emit(char* memory, const TargetRows& out, const LineSize& size, int64_t rows,
                    int64_t most, Make make) const {
  const int64_t width = WidthOf(size);
  const bool collects = copy_ != nullptr && IsDense(out, size);
  if (collects) most = out.row_bytes == width ? std::min(most, rows_) : 1;
  for (int64_t first = 0; first < rows; first += most) {
    const int64_t count = std::min(most, rows - first);
    const TargetRows to = out.From(first);
    if (!collects) {
      make(first, count, to);
      continue;
    }
    // Lies in its cache line as the output does, so that whole lines of both are copied.
    char* stage = memory + reinterpret_cast<uintptr_t>(to.line.data) % kLine;
    make(first, count, TargetRows{{stage, to.line.step_bytes}, to.row_bytes});
    copy_(to.line.data, stage, static_cast<size_t>((count - 1) * to.row_bytes + width));
  }
}

}  // namespace opscv::plan

#endif  // OPSCV_PLAN_ROW_STAGE_H_
