// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "kernels/run_sum/run_sum.h"

namespace opscv::kernels {

namespace {

// The half that begins at row `begin`; rows without members get its start as their first.
WindowTable::Half Measure(size_t begin, WindowTable& table) {
  int32_t low = std::numeric_limits<int32_t>::max();
  int32_t high = std::numeric_limits<int32_t>::min();
  const size_t end = begin + kWindowBlock / 2;
  for (size_t row = begin; row < end; ++row) {
    if (table.count[row] == 0) continue;
    low = std::min(low, table.first[row]);
    high = std::max(high, table.first[row]);
  }
  if (low > high) low = high = 0;
  for (size_t row = begin; row < end; ++row) {
    if (table.count[row] == 0) table.first[row] = low;
  }
  return {.start = low, .span = high - low};
}

// The number of members that all windows have, up to four; else 0.
int64_t UniformCount(const std::vector<int64_t>& bounds) {
  constexpr int64_t kMost = 4;
  const int64_t count = bounds[1] - bounds[0];
  if (count == 0 || count > kMost) return 0;
  for (size_t i = 1; i + 1 < bounds.size(); ++i) {
    if (bounds[i + 1] - bounds[i] != count) return 0;
  }
  return count;
}

}  // namespace

WindowTable BuildWindowTable(const std::vector<int64_t>& bounds, int64_t channels) {
  WindowTable table;
  table.rows = (static_cast<int64_t>(bounds.size()) - 1) * channels;
  table.channels = channels;
  if (channels == 1) table.uniform = UniformCount(bounds);
  const int64_t blocks = (table.rows + kWindowBlock - 1) / kWindowBlock;
  table.first.assign(static_cast<size_t>(blocks * kWindowBlock), 0);
  table.count.assign(static_cast<size_t>(blocks * kWindowBlock), 0);
  for (int64_t begin = 0; begin < table.rows; begin += kWindowBlock) {
    const int64_t end = std::min(begin + kWindowBlock, table.rows);
    WindowTable::Block block;
    block.base = bounds[static_cast<size_t>(begin / channels)] * channels;
    block.end = bounds[static_cast<size_t>((end - 1) / channels + 1)] * channels;
    for (int64_t row = begin; row < end; ++row) {
      const auto r = static_cast<size_t>(row);
      const auto pixel = static_cast<size_t>(row / channels);
      table.first[r] = static_cast<int32_t>(bounds[pixel] * channels + row % channels - block.base);
      table.count[r] = static_cast<int32_t>(bounds[pixel + 1] - bounds[pixel]);
      block.max_count = std::max(block.max_count, table.count[r]);
    }
    table.blocks.push_back(block);
    table.halves.push_back(Measure(static_cast<size_t>(begin), table));
    table.halves.push_back(Measure(static_cast<size_t>(begin + kWindowBlock / 2), table));
  }
  return table;
}

}  // namespace opscv::kernels
