// SPDX-License-Identifier: Apache-2.0
// A table of taps as bands: for a vector of neighbouring output elements, the weights of every
// input element that any of them reads, zero where a lane does not.
#ifndef OPSCV_KERNELS_INNER_AXIS_BANDS_H_
#define OPSCV_KERNELS_INNER_AXIS_BANDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "taps/tap_table.h"

namespace opscv::kernels {

class BandTable {
 public:
  // Block b: the output elements [b * lanes, (b + 1) * lanes) are sums over the input elements from
  // `first` on, the weights of one element after those of another, `lanes` of each.
  struct Block {
    int64_t first = 0;
    int64_t count = 0;
    int64_t place = 0;  // of the first weight
  };
  // How a row is laid out: pixels of so many elements, in vectors of so many.
  struct Shape {
    int64_t channels;
    int64_t lanes;
  };

  // No bands.
  BandTable() = default;
  // In double if `wide`, else in float; the table must have kept them.
  BandTable(const taps::TapTable& table, const Shape& shape, bool wide);

  // The input elements of all blocks together: so many times `lanes` are the weights.
  [[nodiscard]] static int64_t Elements(const taps::TapTable& table, const Shape& shape);

  [[nodiscard]] bool empty() const { return blocks_.empty(); }
  [[nodiscard]] const Block* blocks() const { return blocks_.data(); }
  // Products of all blocks, those with weight zero included.
  [[nodiscard]] int64_t products() const { return products_; }
  // Aligned to 64 bytes.
  [[nodiscard]] const void* weights() const { return lines_.data(); }

 private:
  struct alignas(64) Line {
    char bytes[64];
  };

  int64_t products_ = 0;
  std::vector<Block> blocks_;
  std::vector<Line> lines_;
};

}  // namespace opscv::kernels

#endif  // OPSCV_KERNELS_INNER_AXIS_BANDS_H_
