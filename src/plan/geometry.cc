// SPDX-License-Identifier: Apache-2.0
#include "plan/geometry.h"

#include <algorithm>

#include "base/checked_math.h"

namespace opscv::plan {

bool HasChannelGroups(const ResampleSpec& spec) {
  const int64_t element = SizeOf(spec.dtype);
  const auto channels_touch = [&](const Tensor5& tensor) {
    const bool pixels_touch = tensor.shape[kW] > 1 && tensor.stride_bytes[kW] == element;
    return tensor.stride_bytes[kC] == element && !pixels_touch;
  };
  return spec.input.shape[kC] > 1 && channels_touch(spec.input) && channels_touch(spec.output);
}

bool HasDenseRows(const ResampleSpec& spec) {
  const auto dense = [&](const Tensor5& tensor) {
    const int64_t pixel_bytes = tensor.shape[kC] * SizeOf(spec.dtype);
    return tensor.shape[kW] == 1 || tensor.stride_bytes[kW] == pixel_bytes;
  };
  return dense(spec.input) && dense(spec.output);
}

double ElementCount(const Coords& shape) {
  double count = 1.0;
  for (const int64_t extent : shape) count *= static_cast<double>(extent);
  return count;
}

BlockGrid::BlockGrid(const Box5& box, const BlockShape& shape, bool groups)
    : box_(box),
      shape_(shape),
      group_(groups ? shape.channels : 1),
      channels_(CeilDiv(box.end[kC] - box.begin[kC], group_)),
      heights_(box.end[kH] - box.begin[kH]),
      planes_((box.end[kN] - box.begin[kN]) * channels_),
      rows_((box.end[kD] - box.begin[kD]) * heights_),
      first_pixel_block_(box.begin[kW] / shape.pixels),
      plane_blocks_(CeilDiv(planes_, shape.planes)),
      row_blocks_(CeilDiv(rows_, shape.rows)),
      pixel_blocks_(CeilDiv(box.end[kW], shape.pixels) - first_pixel_block_) {
  if (box.Empty()) plane_blocks_ = 0;
}

Block BlockGrid::operator[](int64_t index) const {
  const int64_t pixel = first_pixel_block_ + index % pixel_blocks_;
  const int64_t row = index / pixel_blocks_ % row_blocks_;
  const int64_t plane = index / pixel_blocks_ / row_blocks_;
  return {.plane_begin = plane * shape_.planes,
          .plane_end = std::min((plane + 1) * shape_.planes, planes_),
          .row_begin = row * shape_.rows,
          .row_end = std::min((row + 1) * shape_.rows, rows_),
          .pixel_begin = std::max(pixel * shape_.pixels, box_.begin[kW]),
          .pixel_end = std::min((pixel + 1) * shape_.pixels, box_.end[kW])};
}

Coords BlockGrid::At(int64_t plane, int64_t row) const {
  return {box_.begin[kN] + plane / channels_, box_.begin[kC] + plane % channels_ * group_,
          box_.begin[kD] + row / heights_, box_.begin[kH] + row % heights_, box_.begin[kW]};
}

int64_t BlockGrid::RowsOfSlice(int64_t row, int64_t end) const {
  return std::min(end - row, heights_ - row % heights_);
}

int64_t BlockGrid::Channels(int64_t plane) const {
  return std::min(group_, box_.end[kC] - At(plane, 0)[kC]);
}

}  // namespace opscv::plan
