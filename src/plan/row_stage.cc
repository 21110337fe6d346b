// SPDX-License-Identifier: Apache-2.0
#include "plan/row_stage.h"

#include <fmt/format.h>

#include "base/checked_math.h"
#include "plan/cost_model.h"

namespace opscv::plan {

RowStage::RowStage(const Tensor5& output, const BlockShape& blocks, int64_t element_bytes)
    : element_bytes_(element_bytes) {
  const int64_t pixel_bytes = blocks.channels * element_bytes;
  const int64_t row_bytes = blocks.pixels * pixel_bytes;
  const bool dense = output.shape[kW] == 1 || output.stride_bytes[kW] == pixel_bytes;
  const bool rows_touch = blocks.pixels == output.shape[kW] && output.stride_bytes[kH] == row_bytes;
  const int64_t fitting = StageRows(row_bytes, blocks.rows);
  if (fitting > 0) bytes_ = RoundUp(fitting * row_bytes, kLine) + kLine;
  const double bytes = ElementCount(output.shape) * static_cast<double>(element_bytes);
  if (!StoresPastCaches(bytes) || !dense) return;
  if (!StoresRunsPastCaches(rows_touch ? row_bytes * blocks.rows : row_bytes)) return;
  rows_ = rows_touch ? fitting : std::min<int64_t>(fitting, 1);
  clear_ = kernels::SelectClearPastCaches();
  if (rows_ > 0) copy_ = kernels::SelectCopyPastCaches();
}

void RowStage::Clear(const TargetRows& out, const LineSize& size, int64_t rows) const noexcept {
  const int64_t width = WidthOf(size);
  if (out.row_bytes == width) return clear_(out.line.data, static_cast<size_t>(rows * width));
  for (int64_t row = 0; row < rows; ++row) {
    clear_(out.From(row).line.data, static_cast<size_t>(width));
  }
}

std::string RowStage::Describe() const {
  if (!past_caches()) return "stores: into the caches";
  if (copy_ == nullptr) return "stores: past the caches where whole lines are at hand";
  return fmt::format("stores: past the caches, up to {} rows collected", rows_);
}

}  // namespace opscv::plan
