// SPDX-License-Identifier: Apache-2.0
// How tensors fall into rows, rows into pixels, and an output box into blocks. Knows nothing of
// what is computed.
#ifndef OPSCV_PLAN_GEOMETRY_H_
#define OPSCV_PLAN_GEOMETRY_H_

#include <cstdint>

#include "plan/resample_spec.h"

namespace opscv::plan {

// A row runs along W; its pixels are single elements, or, where channels lie side by side in both
// tensors, groups of channels that kernels handle as neighbours.
[[nodiscard]] bool HasChannelGroups(const ResampleSpec& spec);

// Whether pixels of all channels touch in both tensors.
[[nodiscard]] bool HasDenseRows(const ResampleSpec& spec);

// How many elements, in a type that no number of them overflows.
[[nodiscard]] double ElementCount(const Coords& shape);

// Block sizes: how many planes (n, c), rows (d, h) and pixels of an output one block covers, and
// how many channels its pixels have where they are groups. Blocks of fewer channels than there are
// cover one plane.
struct BlockShape {
  int64_t channels = 1;
  int64_t planes = 1;
  int64_t rows = 1;
  int64_t pixels = 1;
};

// One block of output: a range of planes of the box, flattened, of its rows, flattened, and pixels.
struct Block {
  int64_t plane_begin = 0;
  int64_t plane_end = 0;
  int64_t row_begin = 0;
  int64_t row_end = 0;
  int64_t pixel_begin = 0;
  int64_t pixel_end = 0;
};

// The blocks that a box of the output falls into, numbered from 0. Cuts along W fall on multiples
// of BlockShape::pixels, so that vectors along W stay whole.
class BlockGrid {
 public:
  // With `groups`, channels belong to the pixels: a plane is an n and a range of channels.
  BlockGrid(const Box5& box, const BlockShape& shape, bool groups);

  [[nodiscard]] int64_t size() const { return plane_blocks_ * row_blocks_ * pixel_blocks_; }
  [[nodiscard]] Block operator[](int64_t index) const;

  // The coordinates of a plane and row, W being the box's first; C the first of the group.
  [[nodiscard]] Coords At(int64_t plane, int64_t row) const;
  // How many rows from `row` on, none of them at or after `end`, have its coordinate along D.
  [[nodiscard]] int64_t RowsOfSlice(int64_t row, int64_t end) const;
  // The channels of a plane's pixels: 1 without groups.
  [[nodiscard]] int64_t Channels(int64_t plane) const;

 private:
  Box5 box_;
  BlockShape shape_;
  int64_t group_;     // channels of a plane's pixels, fewer in the last plane of an n
  int64_t channels_;  // planes per n
  int64_t heights_;   // rows per d
  int64_t planes_;
  int64_t rows_;
  int64_t first_pixel_block_;
  int64_t plane_blocks_;
  int64_t row_blocks_;
  int64_t pixel_blocks_;
};

}  // namespace opscv::plan

#endif  // OPSCV_PLAN_GEOMETRY_H_
