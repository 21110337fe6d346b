// SPDX-License-Identifier: Apache-2.0
// The few decisions that trade time for time: order of passes, block sizes, tile widths. All depend
// on sizes only. The order is part of the results' bits; the rest is not.
#ifndef OPSCV_PLAN_COST_MODEL_H_
#define OPSCV_PLAN_COST_MODEL_H_

#include <cstdint>

#include "kernels/inner_axis/bands.h"
#include "plan/geometry.h"
#include "taps/tap_table.h"

namespace opscv::plan {

// An H table with more taps than this is applied first, so that a single row of intermediate does.
inline constexpr int64_t kMaxRingTaps = 64;

// Channels that a block takes as one group, of `channels` that lie side by side, where an output
// pixel is made of at most `taps` pixels that are read again for its neighbours.
[[nodiscard]] int64_t GroupChannels(int64_t channels, int64_t taps = 1);

// Whether the pass along H comes before the one along W, where both are needed.
[[nodiscard]] bool RowsFirst(const taps::TapTable& h, const taps::TapTable& w);

// Whether the pass along W takes the table as bands of that shape (kernels/inner_axis).
[[nodiscard]] bool UsesBands(const taps::TapTable& w, const kernels::BandTable::Shape& shape,
                             int64_t real_bytes);

// Whether the pass along W takes the channels of pixels that touch as single elements of a row.
[[nodiscard]] bool WeavesChannels(int64_t channels);

// Whether an output of that many bytes is stored past the caches, and whether it pays where
// `run_bytes` of it lie together.
[[nodiscard]] bool StoresPastCaches(double output_bytes);
[[nodiscard]] bool StoresRunsPastCaches(int64_t run_bytes);

// Rows of output, out of `rows`, that are collected before they are stored past the caches; 0 where
// a row is too long.
[[nodiscard]] int64_t StageRows(int64_t row_bytes, int64_t rows);

// Pixels of output a block takes along W, where every pixel costs `scratch_bytes` of scratch: all
// of them if they fit the cache share of one thread.
[[nodiscard]] int64_t TilePixels(int64_t pixels, int64_t channels, int64_t scratch_bytes);

// The blocks of an output of that shape, whose pixels are groups of `group_channels` channels, or
// single elements where that is 0. `row_overlap` is how many rows of work two neighbouring blocks
// both do; blocks are made tall enough to hide it.
[[nodiscard]] BlockShape ChooseBlocks(const Coords& shape, int64_t group_channels,
                                      int64_t element_bytes, int64_t tile_pixels,
                                      int64_t row_overlap);

// Arithmetic of a run, by kernel: products of weights and elements, sums, copies.
struct Work {
  double row_products = 0.0;     // of whole rows
  double band_products = 0.0;    // of bands, those with weight zero included
  double turned_products = 0.0;  // of rows that are turned
  double outputs = 0.0;          // elements made by any pass
};

// Seconds that a run takes whose input and output have `bytes` together: the longer of what the
// arithmetic and what the memory takes, on each of the threads.
[[nodiscard]] double EstimateSeconds(const Work& work, double bytes, int threads);

}  // namespace opscv::plan

#endif  // OPSCV_PLAN_COST_MODEL_H_
