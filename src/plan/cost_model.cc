// SPDX-License-Identifier: Apache-2.0
#include "plan/cost_model.h"

#include <algorithm>

#include "base/checked_math.h"
#include "kernels/kernel.h"

namespace opscv::plan {
namespace {

// A tap along W costs about this many taps along H: its samples must be brought to their lanes.
constexpr double kInnerTapCost = 2.0;

// Scratch of one block: half of the smallest second-level cache in use (512 KiB on AMD Zen 3), the
// other half being left to the rows that stream through.
constexpr int64_t kScratchBytes = 256 * 1024;

// Output of one block: large beside the microsecond or two that handing out a block costs, small
// enough that a hundred of them share out evenly.
constexpr int64_t kBlockBytes = 128 * 1024;

// Narrower tiles lose more to short rows than the cache gives back.
constexpr int64_t kMinTileElements = 256;

// Tiles are cut on multiples of this, the longest vector of floats.
constexpr int64_t kTileMultiple = 16;

// Longer groups fill vectors no better; shorter ones keep a block's scratch in the cache, however
// many channels there are.
constexpr int64_t kMaxGroupChannels = 1024;
constexpr int64_t kMinGroupChannels = 64;

// The pixels that an output pixel is made of stay in a first-level cache of 32 KiB for the next.
constexpr int64_t kTapPixelBytes = 24 * 1024;

// An output larger than this does not stay in the caches until someone reads it: half of a common
// third-level cache of 32 MiB. Storing past them saves the read of every line before it is written
// (10 to 20 % of the gradient of 512 x 512 images on AMD Zen 3).
constexpr double kStreamBytes = 16.0 * 1024 * 1024;

// Runs of a few cache lines gain nothing: on AMD Zen 3, rows of two lines took 20 % longer.
constexpr int64_t kStreamRunBytes = 512;

// Rows collected before they are stored past the caches: enough for the rows that enlarging repeats
// to lie together, and a small part of the second-level cache.
constexpr int64_t kStageBytes = 32 * 1024;

// Bands that are read for every few rows stay in the second-level cache beside the scratch.
constexpr int64_t kBandBytes = 256 * 1024;

// Input elements that a vector of outputs multiplies, on average: with more of them, turning rows
// is faster (AMD Zen 3, AVX2).
constexpr int64_t kMaxBandElements = 48;

// From more channels on, vectors along the channels of one pixel are full enough.
constexpr int64_t kMaxWovenChannels = 8;

// Nanoseconds, of planes in the caches of an AMD Zen 3 with AVX2, on one thread: bench/'s shapes
// without memory, fitted.
constexpr double kRowProduct = 0.05;
constexpr double kBandProduct = 0.025;
constexpr double kTurnedProduct = 0.13;
constexpr double kOutput = 0.12;

// Bytes a nanosecond that one thread of that machine reads or stores past the caches.
constexpr double kMemoryRate = 12.0;

}  // namespace

bool UsesBands(const taps::TapTable& w, const kernels::BandTable::Shape& shape,
               int64_t real_bytes) {
  if (shape.lanes == 0 || w.max_taps() > static_cast<int64_t>(kernels::kSumBlock)) return false;
  const int64_t elements = kernels::BandTable::Elements(w, shape);
  return elements * shape.lanes * real_bytes <= kBandBytes &&
         elements <= kMaxBandElements * CeilDiv(w.rows() * shape.channels, shape.lanes);
}

bool WeavesChannels(int64_t channels) { return channels < kMaxWovenChannels; }

bool StoresPastCaches(double output_bytes) { return output_bytes > kStreamBytes; }

bool StoresRunsPastCaches(int64_t run_bytes) { return run_bytes >= kStreamRunBytes; }

int64_t StageRows(int64_t row_bytes, int64_t rows) {
  return std::min(kStageBytes / std::max<int64_t>(row_bytes, 1), rows);
}

int64_t GroupChannels(int64_t channels, int64_t taps) {
  const int64_t fitting = kTapPixelBytes / (taps * static_cast<int64_t>(sizeof(float)));
  const int64_t most = std::clamp(fitting / kMinGroupChannels * kMinGroupChannels,
                                  kMinGroupChannels, kMaxGroupChannels);
  return std::min(channels, most);
}

bool RowsFirst(const taps::TapTable& h, const taps::TapTable& w) {
  if (h.max_taps() > kMaxRingTaps) return true;
  const auto h_taps = static_cast<double>(h.total_taps());
  const double w_cost = kInnerTapCost * static_cast<double>(w.total_taps());
  const double rows_first =
      h_taps * static_cast<double>(w.columns()) + static_cast<double>(h.rows()) * w_cost;
  const double rows_last =
      static_cast<double>(h.columns()) * w_cost + h_taps * static_cast<double>(w.rows());
  return rows_first <= rows_last;
}

int64_t TilePixels(int64_t pixels, int64_t channels, int64_t scratch_bytes) {
  const int64_t fitting = kScratchBytes / std::max<int64_t>(scratch_bytes, 1);
  // Not of a few pixels with many channels: rounding would multiply their scratch.
  const int64_t multiple = channels > 1 && fitting < 4 * kTileMultiple ? 1 : kTileMultiple;
  const int64_t tile = RoundUp(std::max(fitting, CeilDiv(kMinTileElements, channels)), multiple);
  return std::max<int64_t>(std::min(tile, pixels), 1);
}

BlockShape ChooseBlocks(const Coords& shape, int64_t group_channels, int64_t element_bytes,
                        int64_t tile_pixels, int64_t row_overlap) {
  const bool groups = group_channels > 0;
  const int64_t channels = groups ? group_channels : 1;
  const int64_t rows = std::max<int64_t>(shape[kD] * shape[kH], 1);
  const int64_t row_bytes = std::max<int64_t>(tile_pixels * channels * element_bytes, 1);
  // Four times the overlap keeps the work done twice under a quarter.
  const int64_t tall = std::max(CeilDiv(kBlockBytes, row_bytes), 4 * row_overlap);
  BlockShape blocks;
  blocks.pixels = tile_pixels;
  blocks.rows = std::min(tall, rows);
  blocks.channels = channels;
  const bool cut = groups && channels < shape[kC];
  const int64_t planes = shape[kN] * (groups ? 1 : shape[kC]);
  blocks.planes = cut ? 1 : std::clamp<int64_t>(kBlockBytes / row_bytes / rows, 1, planes);
  return blocks;
}

double EstimateSeconds(const Work& work, double bytes, int threads) {
  const double arithmetic = kRowProduct * work.row_products + kBandProduct * work.band_products +
                            kTurnedProduct * work.turned_products + kOutput * work.outputs;
  return 1e-9 * std::max(arithmetic, bytes / kMemoryRate) / threads;
}

}  // namespace opscv::plan
