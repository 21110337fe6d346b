// SPDX-License-Identifier: Apache-2.0
// A tap table laid out for vectors that run along the axis: rows in blocks of kLaneBlock, and in a
// block first every row's first tap, then every row's second tap, and so on.
#ifndef OPSCV_KERNELS_INNER_AXIS_LANE_TABLE_H_
#define OPSCV_KERNELS_INNER_AXIS_LANE_TABLE_H_

#include <cstdint>
#include <vector>

#include "taps/tap_table.h"

namespace opscv::kernels {

// The most lanes a vector of floats has on any target; fixed, so that a table serves all of them.
inline constexpr int64_t kLaneBlock = 16;

struct LaneBlock {
  int64_t base = 0;      // input sample that indices count from
  int64_t end = 0;       // one past the last input sample that the block reads
  int64_t first = 0;     // place of the first row's first tap in the arrays
  int32_t min_taps = 0;  // no row of the block has fewer
  int32_t max_taps = 0;  // no row of the block has more
  // Tap k of row r stands at first + k*kLaneBlock + r. Not so for blocks whose padding would be
  // large: there each row's taps follow each other, from place(r) on.
  bool interleaved = true;
  // All rows are whole and have as many taps, and each tap of a row lies two samples after the same
  // tap of the row before: the axis halves here.
  bool halves = false;
};

// A half of a block: kLaneBlock / 2 lanes. Starts are kept by halves, so that vectors of 8 and of
// 16 lanes find theirs.
inline constexpr int64_t kLaneHalf = kLaneBlock / 2;

template <typename Real>
struct LaneTable {
  int64_t rows = 0;
  std::vector<LaneBlock> blocks;
  std::vector<int32_t> count;  // taps of each row, padded with zeros to whole blocks
  std::vector<int64_t> place;  // of each row's first tap in the arrays; as long as count
  std::vector<int32_t> index;  // input sample less the block's base; where a row has no such tap,
                               // the start of its half
  std::vector<Real> weight;
  // The lowest index among the k-th taps of each half of an interleaved block, at place / kLaneHalf
  // of the half's first lane.
  std::vector<int32_t> start;
  // How far above their start indices reach at most, plus one, over vectors of kLaneHalf and of
  // kLaneBlock lanes: a vector's samples fit in a window of that many.
  int32_t half_window = 0;
  int32_t block_window = 0;
};

// Lays `table` out; Real is float or double.
template <typename Real>
[[nodiscard]] LaneTable<Real> BuildLaneTable(const taps::TapTable& table);

}  // namespace opscv::kernels

#endif  // OPSCV_KERNELS_INNER_AXIS_LANE_TABLE_H_
