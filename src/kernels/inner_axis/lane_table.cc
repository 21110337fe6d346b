// SPDX-License-Identifier: Apache-2.0
#include "kernels/inner_axis/lane_table.h"

#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>

namespace opscv::kernels {
namespace {

// Blocks with longer rows stay row by row: they are few (the axis has shrunk that much), and padding
// 16 lanes to the longest row could cost many times the taps themselves.
constexpr int32_t kMaxInterleavedTaps = 64;

template <typename Real>
std::span<const Real> WeightsOf(const taps::TapTable& table, int64_t row) {
  if constexpr (std::is_same_v<Real, float>) {
    return table.weight_float(row);
  } else {
    return table.weight(row);
  }
}

LaneBlock Measure(const taps::TapTable& table, int64_t begin, int64_t end) {
  LaneBlock block;
  block.base = std::numeric_limits<int64_t>::max();
  block.min_taps = std::numeric_limits<int32_t>::max();
  for (int64_t row = begin; row < end; ++row) {
    const auto taps = static_cast<int32_t>(table.delta(row).size());
    block.min_taps = std::min(block.min_taps, taps);
    block.max_taps = std::max(block.max_taps, taps);
    if (taps == 0) continue;
    block.base = std::min(block.base, table.base(row));
    block.end = std::max(block.end, table.end(row));
  }
  if (block.max_taps == 0) block.base = 0;
  block.interleaved = block.max_taps <= kMaxInterleavedTaps;
  return block;
}

}  // namespace

template <typename Real>
LaneTable<Real> BuildLaneTable(const taps::TapTable& table) {
  LaneTable<Real> lanes;
  lanes.rows = table.rows();
  const int64_t blocks = (table.rows() + kLaneBlock - 1) / kLaneBlock;
  lanes.count.assign(static_cast<size_t>(blocks * kLaneBlock), 0);
  lanes.place.assign(static_cast<size_t>(blocks * kLaneBlock), 0);
  for (int64_t begin = 0; begin < table.rows(); begin += kLaneBlock) {
    const int64_t end = std::min(begin + kLaneBlock, table.rows());
    LaneBlock block = Measure(table, begin, end);
    block.first = static_cast<int64_t>(lanes.index.size());
    const int64_t stride = block.interleaved ? kLaneBlock : 1;
    int64_t next = block.first;
    if (block.interleaved) {
      const auto size = static_cast<size_t>(block.first + block.max_taps * kLaneBlock);
      lanes.index.resize(size, 0);
      lanes.weight.resize(size, Real{0});
    }
    for (int64_t row = begin; row < end; ++row) {
      const std::span<const int32_t> delta = table.delta(row);
      const std::span<const Real> weight = WeightsOf<Real>(table, row);
      const int64_t place = block.interleaved ? block.first + row - begin : next;
      lanes.count[static_cast<size_t>(row)] = static_cast<int32_t>(delta.size());
      lanes.place[static_cast<size_t>(row)] = place;
      if (!block.interleaved) {
        next += static_cast<int64_t>(delta.size());
        lanes.index.resize(static_cast<size_t>(next));
        lanes.weight.resize(static_cast<size_t>(next));
      }
      for (size_t k = 0; k < delta.size(); ++k) {
        const auto at = static_cast<size_t>(place + static_cast<int64_t>(k) * stride);
        lanes.index[at] = static_cast<int32_t>(table.base(row) + delta[k] - block.base);
        lanes.weight[at] = weight[k];
      }
    }
    lanes.blocks.push_back(block);
  }
  return lanes;
}

template LaneTable<float> BuildLaneTable<float>(const taps::TapTable&);
template LaneTable<double> BuildLaneTable<double>(const taps::TapTable&);

}  // namespace opscv::kernels
