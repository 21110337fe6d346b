// SPDX-License-Identifier: Apache-2.0
#include "kernels/inner_axis/lane_table.h"

#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>

namespace opscv::kernels {
namespace {

// Blocks with longer rows stay row by row: they are few (the axis has shrunk that much), and
// padding 16 lanes to the longest row could cost many times the taps themselves.
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

// Sets the taps of one row, `stride` apart from `place` on.
template <typename Real>
void SetRow(const taps::TapTable& table, int64_t row, int64_t base, int64_t place, int64_t stride,
            LaneTable<Real>& lanes) {
  const std::span<const int32_t> delta = table.delta(row);
  const std::span<const Real> weight = WeightsOf<Real>(table, row);
  lanes.count[static_cast<size_t>(row)] = static_cast<int32_t>(delta.size());
  lanes.place[static_cast<size_t>(row)] = place;
  for (size_t k = 0; k < delta.size(); ++k) {
    const auto at = static_cast<size_t>(place + static_cast<int64_t>(k) * stride);
    lanes.index[at] = static_cast<int32_t>(table.base(row) + delta[k] - base);
    lanes.weight[at] = weight[k];
  }
}

// Appends a block whose rows follow each other.
template <typename Real>
void AppendRows(const taps::TapTable& table, int64_t begin, int64_t end, int64_t base,
                LaneTable<Real>& lanes) {
  for (int64_t row = begin; row < end; ++row) {
    const auto place = static_cast<int64_t>(lanes.index.size());
    const size_t size = lanes.index.size() + table.delta(row).size();
    lanes.index.resize(size);
    lanes.weight.resize(size);
    SetRow(table, row, base, place, 1, lanes);
  }
  // Interleaved blocks begin at whole multiples of a block, as their starts do.
  const size_t whole = (lanes.index.size() + kLaneBlock - 1) / kLaneBlock * kLaneBlock;
  lanes.index.resize(whole, 0);
  lanes.weight.resize(whole, Real{0});
  lanes.start.resize(whole / kLaneHalf, 0);
}

// The starts of the taps at `at` (one tap of every row of a block), and how far indices reach from
// them; lanes without such a tap get the start as their index. Marked lanes hold -1.
template <typename Real>
void FindStarts(size_t at, LaneTable<Real>& lanes) {
  int32_t block_low = std::numeric_limits<int32_t>::max();
  int32_t block_high = 0;
  for (int64_t half = 0; half < kLaneBlock; half += kLaneHalf) {
    const auto first = lanes.index.begin() + static_cast<std::ptrdiff_t>(at) + half;
    int32_t low = std::numeric_limits<int32_t>::max();
    int32_t high = 0;
    for (auto index = first; index != first + kLaneHalf; ++index) {
      if (*index >= 0) low = std::min(low, *index);
      high = std::max(high, *index);
    }
    if (low > high) low = high = 0;  // no lane of this half has the tap
    std::replace(first, first + kLaneHalf, -1, low);
    lanes.start[(at + static_cast<size_t>(half)) / kLaneHalf] = low;
    lanes.half_window = std::max(lanes.half_window, high - low + 1);
    block_low = std::min(block_low, low);
    block_high = std::max(block_high, high);
  }
  lanes.block_window = std::max(lanes.block_window, block_high - block_low + 1);
}

template <typename Real>
bool Halves(const LaneBlock& block, const LaneTable<Real>& lanes) {
  for (int64_t at = block.first; at < block.first + block.max_taps * kLaneBlock; ++at) {
    const int64_t lane = at % kLaneBlock;
    const int32_t first = lanes.index[static_cast<size_t>(at - lane)];
    if (lanes.index[static_cast<size_t>(at)] != first + 2 * static_cast<int32_t>(lane))
      return false;
  }
  return block.min_taps == block.max_taps;
}

template <typename Real>
void AppendInterleaved(const taps::TapTable& table, int64_t begin, int64_t end, LaneBlock& block,
                       LaneTable<Real>& lanes) {
  const auto size = static_cast<size_t>(block.first + block.max_taps * kLaneBlock);
  lanes.index.resize(size, -1);
  lanes.weight.resize(size, Real{0});
  lanes.start.resize(size / kLaneHalf);
  for (int64_t row = begin; row < end; ++row) {
    SetRow(table, row, block.base, block.first + row - begin, kLaneBlock, lanes);
  }
  for (auto at = static_cast<size_t>(block.first); at < size; at += kLaneBlock) {
    FindStarts(at, lanes);
  }
  block.halves = end - begin == kLaneBlock && Halves(block, lanes);
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
    if (block.interleaved) {
      AppendInterleaved(table, begin, end, block, lanes);
    } else {
      AppendRows(table, begin, end, block.base, lanes);
    }
    lanes.blocks.push_back(block);
  }
  return lanes;
}

template LaneTable<float> BuildLaneTable<float>(const taps::TapTable&);
template LaneTable<double> BuildLaneTable<double>(const taps::TapTable&);

}  // namespace opscv::kernels
