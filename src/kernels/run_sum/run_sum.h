// SPDX-License-Identifier: Apache-2.0
// Sums runs of neighbours, each with weight one: the gradient of nearest resampling. Rows sums
// whole rows over a window of two outer axes; Lanes sums windows along the innermost axis.
#ifndef OPSCV_KERNELS_RUN_SUM_RUN_SUM_H_
#define OPSCV_KERNELS_RUN_SUM_RUN_SUM_H_

#include <vector>

#include "kernels/kernel.h"

namespace opscv::kernels {

// dst[x] = sum over a in [0, outer), b in [0, inner), in that order, of src(a, b)[x], x in [0, n).
// With one member it widens, narrows and gathers a row: it is the copy between types and steps.
struct RunRowsArgs {
  const void* src;  // element 0 of member (0, 0)
  int64_t outer;
  int64_t outer_bytes;  // from a to a + 1
  int64_t inner;
  int64_t inner_bytes;     // from b to b + 1
  int64_t src_step_bytes;  // read when not one element
  void* dst;               // shares no byte with the members
  int64_t dst_step_bytes;
  size_t n;
  // Where bounds is given, there are so many outputs, dst_row_bytes apart: b of output o runs from
  // bounds[o] - bounds[0] up to bounds[o + 1] - bounds[0], and `inner` is not read.
  const int64_t* bounds = nullptr;
  int64_t rows = 1;
  int64_t dst_row_bytes = 0;
};

// Output o of those that `bounds` gives, as the only one.
[[nodiscard]] inline RunRowsArgs OutputOf(const RunRowsArgs& args, int64_t o) {
  RunRowsArgs one = args;
  one.bounds = nullptr;
  one.src =
      static_cast<const char*>(args.src) + (args.bounds[o] - args.bounds[0]) * args.inner_bytes;
  one.inner = args.bounds[o + 1] - args.bounds[o];
  one.dst = static_cast<char*>(args.dst) + o * args.dst_row_bytes;
  return one;
}

// Sums by addition from -0, which leaves -0 and everything else as it is, in blocks of kSumBlock
// members, block totals in double. Without members the result is +0.
using RunRowsKernel = void (*)(const RunRowsArgs&) noexcept;

// The windows of an axis for vectors along it, of rows whose pixels have some channels side by
// side: output element o sums count(o) elements from first(o) on, `channels` apart.
struct WindowTable {
  struct Block {
    int64_t base = 0;  // input element that `first` counts from
    int64_t end = 0;   // one past the last input element of the block's windows
    int32_t max_count = 0;
  };
  // Half a block: where its windows begin, those without members apart.
  struct Half {
    int32_t start = 0;  // the lowest first
    int32_t span = 0;   // the highest first, less the lowest
  };
  int64_t rows = 0;  // output elements
  int64_t channels = 1;
  // Where not 0, every window has so many members, and a pixel has one channel.
  int64_t uniform = 0;
  std::vector<Block> blocks;   // of kWindowBlock rows
  std::vector<Half> halves;    // two a block
  std::vector<int32_t> first;  // padded to whole blocks; windows without members begin at the start
  std::vector<int32_t> count;  // of their half
};
inline constexpr int64_t kWindowBlock = 16;

// From the ascending bounds of taps::NearestBounds, one more than there are output pixels.
[[nodiscard]] WindowTable BuildWindowTable(const std::vector<int64_t>& bounds,
                                           int64_t channels = 1);

// Elements are counted over the channels of all pixels of a row.
struct RunLanesArgs {
  const void* row;     // contiguous, in the type of computation: input elements row_origin ..
  int64_t row_origin;  // row_end - 1, which hold what the windows reach
  int64_t row_end;
  const WindowTable* table;
  int64_t begin;  // output elements [begin, end) of the row
  int64_t end;
  void* dst;               // the place of output `begin`
  int64_t dst_step_bytes;  // read when not one element
  int64_t rows = 1;        // that many rows, each `row_bytes` after the one before, give rows of
  int64_t row_bytes = 0;   // outputs `dst_row_bytes` apart
  int64_t dst_row_bytes = 0;
};

// Sums as a RunRowsKernel does. The source type of the key is the type of computation.
using RunLanesKernel = void (*)(const RunLanesArgs&) noexcept;

[[nodiscard]] RunRowsKernel SelectRunRows(const ElementKey& key);
[[nodiscard]] RunLanesKernel SelectRunLanes(const ElementKey& key);

// The same in plain loops: what the kernels are tested against, and the kernels of the scalar
// target.
[[nodiscard]] RunRowsKernel SelectRunRowsReference(const ElementKey& key);
[[nodiscard]] RunLanesKernel SelectRunLanesReference(const ElementKey& key);

}  // namespace opscv::kernels

#endif  // OPSCV_KERNELS_RUN_SUM_RUN_SUM_H_
