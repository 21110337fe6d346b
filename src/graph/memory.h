// SPDX-License-Identifier: Apache-2.0
// Gives tensors that are alive at different times the same memory. Knows nothing of graphs.
#ifndef OPSCV_GRAPH_MEMORY_H_
#define OPSCV_GRAPH_MEMORY_H_

#include <cstdint>
#include <span>
#include <vector>

namespace opscv::graph {

// A piece of memory that is needed from step `first` to step `last`, both included.
struct Life {
  int64_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;     // of each piece, multiples of 64
  std::vector<int64_t> live_bytes;  // of each step: the sum of the pieces that it needs
  int64_t peak_bytes = 0;           // the largest of them
  int64_t arena_bytes = 0;          // what all pieces take together, a multiple of 64
};

// Pieces that are needed in one step never overlap. Depends on the lives alone. The sum of all
// bytes, each rounded up to 64, must be below 2^63.
[[nodiscard]] MemoryPlan PlanMemory(std::span<const Life> lives, int steps);

}  // namespace opscv::graph

#endif  // OPSCV_GRAPH_MEMORY_H_
