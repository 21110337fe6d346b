// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "kernels/run_sum/run_sum.h"

namespace opscv::kernels {

WindowTable BuildWindowTable(const std::vector<int64_t>& bounds) {
  WindowTable table;
  table.rows = static_cast<int64_t>(bounds.size()) - 1;
  const int64_t blocks = (table.rows + kWindowBlock - 1) / kWindowBlock;
  table.first.assign(static_cast<size_t>(blocks * kWindowBlock), 0);
  table.count.assign(static_cast<size_t>(blocks * kWindowBlock), 0);
  for (int64_t begin = 0; begin < table.rows; begin += kWindowBlock) {
    const int64_t end = std::min(begin + kWindowBlock, table.rows);
    WindowTable::Block block;
    block.base = bounds[static_cast<size_t>(begin)];
    block.end = bounds[static_cast<size_t>(end)];
    block.min_count = std::numeric_limits<int32_t>::max();
    for (int64_t row = begin; row < end; ++row) {
      const auto r = static_cast<size_t>(row);
      table.first[r] = static_cast<int32_t>(bounds[r] - block.base);
      table.count[r] = static_cast<int32_t>(bounds[r + 1] - bounds[r]);
      block.min_count = std::min(block.min_count, table.count[r]);
      block.max_count = std::max(block.max_count, table.count[r]);
    }
    table.blocks.push_back(block);
  }
  return table;
}

}  // namespace opscv::kernels
