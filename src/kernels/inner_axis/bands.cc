// SPDX-License-Identifier: Apache-2.0
#include "kernels/inner_axis/bands.h"

#include <algorithm>
#include <cstring>

#include "kernels/inner_axis/weights.h"

namespace opscv::kernels {
namespace {

using taps::TapTable;

// The input elements that output elements [begin, end) read, the first and their number.
BandTable::Block BlockOf(const TapTable& table, int64_t channels, int64_t begin, int64_t end) {
  int64_t low = table.columns() * channels;
  int64_t high = 0;
  for (int64_t element = begin; element < end; ++element) {
    const int64_t row = element / channels;
    const int64_t channel = element % channels;
    if (table.delta(row).empty()) continue;
    low = std::min(low, table.base(row) * channels + channel);
    high = std::max(high, (table.end(row) - 1) * channels + channel + 1);
  }
  return {.first = low < high ? low : 0, .count = std::max<int64_t>(high - low, 0)};
}

// Calls visit(begin, end, block) for the output elements of every block.
template <typename Visit>
void ForEachBlock(const TapTable& table, const BandTable::Shape& shape, Visit visit) {
  const int64_t elements = table.rows() * shape.channels;
  for (int64_t begin = 0; begin < elements; begin += shape.lanes) {
    const int64_t end = std::min(begin + shape.lanes, elements);
    visit(begin, end, BlockOf(table, shape.channels, begin, end));
  }
}

// The weights of one output element; `lane` is its place among those of input element `first`.
template <typename Real>
void PutWeights(const TapTable& table, const BandTable::Shape& shape, int64_t element,
                int64_t first, Real* lane) {
  const int64_t row = element / shape.channels;
  const std::span<const int32_t> delta = table.delta(row);
  const Real* weight = WeightsOf<Real>(table, row);
  for (size_t k = 0; k < delta.size(); ++k) {
    const int64_t read = (table.base(row) + delta[k]) * shape.channels + element % shape.channels;
    lane[(read - first) * shape.lanes] = weight[k];
  }
}

}  // namespace

BandTable::BandTable(const TapTable& table, const Shape& shape, bool wide) {
  products_ = Elements(table, shape) * shape.lanes;
  const auto bytes = static_cast<size_t>(products_ * (wide ? 8 : 4));
  lines_.resize((bytes + sizeof(Line) - 1) / sizeof(Line));
  int64_t place = 0;
  ForEachBlock(table, shape, [&](int64_t begin, int64_t end, Block block) {
    block.place = place;
    blocks_.push_back(block);
    for (int64_t element = begin; element < end; ++element) {
      const int64_t at = place + element - begin;
      if (wide) {
        auto* weights = reinterpret_cast<double*>(lines_.data());
        PutWeights(table, shape, element, block.first, weights + at);
      } else {
        auto* weights = reinterpret_cast<float*>(lines_.data());
        PutWeights(table, shape, element, block.first, weights + at);
      }
    }
    place += block.count * shape.lanes;
  });
}

int64_t BandTable::Elements(const TapTable& table, const Shape& shape) {
  int64_t elements = 0;
  ForEachBlock(table, shape,
               [&](int64_t, int64_t, const Block& block) { elements += block.count; });
  return elements;
}

}  // namespace opscv::kernels
