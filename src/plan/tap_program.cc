// SPDX-License-Identifier: Apache-2.0
// Weighted taps along H and W: two passes, one, or their order turned round. Only a strip of rows
// of the intermediate exists at a time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/checked_math.h"
#include "base/dcheck.h"
#include "kernels/inner_axis/inner_axis.h"
#include "plan/cost_model.h"
#include "plan/line.h"
#include "plan/program.h"
#include "plan/row_stage.h"

namespace opscv::plan {
namespace {

using taps::TapTable;

constexpr int64_t kAlign = 64;

// Rows that go through the pass along W together: as many as its kernel takes at once, by bands and
// by turning rows with the longest vectors.
constexpr int64_t kBandRows = 8;
constexpr int64_t kTurnedRows = 16;

std::optional<TapTable> BuildTable(const ResampleSpec& spec, int axis) {
  if (taps::IsIdentity(spec.axes[axis])) return std::nullopt;
  TapTable table = taps::BuildTaps(spec.axes[axis], spec.filter);
  if (spec.direction == Direction::kBackward) table = taps::Transpose(table);
  return table;
}

// The most rows of the intermediate that are alive at once when outputs are made in order: rows are
// made up to the last one needed so far and kept while a later output may still need them.
int64_t RowsAlive(const TapTable& table) {
  std::vector<int64_t> first_needed(static_cast<size_t>(table.rows()));
  int64_t low = table.columns();
  for (int64_t row = table.rows() - 1; row >= 0; --row) {
    if (!table.delta(row).empty()) low = std::min(low, table.base(row));
    first_needed[static_cast<size_t>(row)] = low;
  }
  int64_t alive = 1;
  int64_t high = 0;
  for (int64_t row = 0; row < table.rows(); ++row) {
    if (!table.delta(row).empty()) high = std::max(high, table.end(row));
    alive = std::max(alive, high - first_needed[static_cast<size_t>(row)]);
  }
  return alive;
}

Range InputOfRows(const TapTable& table, Range rows) {
  Range input{table.columns(), 0};
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    if (table.delta(row).empty()) continue;
    input.begin = std::min(input.begin, table.base(row));
    input.end = std::max(input.end, table.end(row));
  }
  return input.begin < input.end ? input : Range{0, 0};
}

class TapProgram final : public Program {
 public:
  explicit TapProgram(const ResampleSpec& spec);

  [[nodiscard]] BlockShape Blocks() const override { return blocks_; }
  [[nodiscard]] int64_t ScratchBytes() const override {
    return strip_rows_ * strip_row_bytes_ + stage_.bytes();
  }
  [[nodiscard]] Range InputRange(int axis, Range outputs) const override;
  void RunBlock(const BlockRun& run) const noexcept override;
  [[nodiscard]] std::vector<Pass> Passes() const override;
  [[nodiscard]] Work TotalWork() const override;
  [[nodiscard]] std::vector<std::string> Describe() const override;

 private:
  // Rows of pixels, `row_bytes` apart; the first is sample `origin` of H. Where ring_rows is not 0,
  // as many lie in a ring.
  struct SourceRows {
    SourceLine line;
    int64_t row_bytes;
    int64_t origin = 0;
    int64_t ring_rows = 0;
    [[nodiscard]] SourceRows From(int64_t row) const {
      return {{line.data + (row - origin) * row_bytes, line.step_bytes}, row_bytes, row};
    }
  };
  // One plane of a block.
  struct Plane {
    SourceRows input;  // from the block's first input pixel on
    TargetRows output;
    Range columns;       // of the input
    Range outputs;       // pixels of the output
    Range rows;          // of the output
    Range input_rows{};  // that they are made of, where there is a ring
    LineSize out_size;
    char* strip;
    char* stage;  // the RowStage's memory
  };

  // The input pixels that a block's output pixels read.
  [[nodiscard]] Range ColumnsOf(Range outputs) const;
  void ChooseTile();
  void ChooseKernels();
  [[nodiscard]] bool StreamsByItself(const Plane& p) const noexcept;
  void RunPlane(const Plane& p) const noexcept;
  void AlongW(const Plane& p, const SourceRows& src, const TargetRows& dst,
              int64_t rows) const noexcept;
  void AlongH(Range rows, const SourceRows& src, const TargetRows& dst,
              const LineSize& size) const noexcept;
  void MakeRows(const Plane& p, Range rows, const TargetRows& dst) const noexcept;
  void MakeRowsByRing(const Plane& p) const noexcept;
  template <typename Make>
  void Emit(const Plane& p, Range rows, int64_t most, Make make) const noexcept;

  // The first of a table's weights in the type of computation.
  [[nodiscard]] const char* Weights(const TapTable& table) const {
    return real_bytes_ == 8 ? reinterpret_cast<const char*>(table.weight(0).data())
                            : reinterpret_cast<const char*>(table.weight_float(0).data());
  }

  ResampleSpec spec_;
  bool groups_;
  bool woven_ = false;  // the pass along W takes channels as single elements
  int64_t channels_ = 1;
  int64_t element_bytes_;
  int64_t real_bytes_;
  std::optional<TapTable> h_;
  std::optional<TapTable> w_;
  kernels::BandTable bands_;  // of w_, or none
  bool rows_first_ = true;    // H before W; also where there is one pass
  int64_t row_batch_;         // rows that go through the pass along W together
  int64_t ring_rows_ = 0;
  int64_t strip_pixels_ = 0;
  int64_t strip_row_bytes_ = 0;  // of the intermediate's rows, row_batch_ or ring_rows_ of them
  int64_t strip_rows_ = 0;
  BlockShape blocks_;
  RowStage stage_;
  std::vector<Range> tile_columns_;  // the input pixels that each whole tile of outputs reads
  kernels::OuterAxisKernel along_h_ = nullptr;
  kernels::OuterAxisKernel along_w_groups_ = nullptr;
  kernels::InnerAxisKernel along_w_ = nullptr;
  int64_t h_src_bytes_ = 0;  // element sizes of what the passes read and write
  int64_t h_dst_bytes_ = 0;
  int64_t w_src_bytes_ = 0;
  int64_t w_dst_bytes_ = 0;
};

TapProgram::TapProgram(const ResampleSpec& spec)
    : spec_(spec),
      groups_(HasChannelGroups(spec)),
      element_bytes_(SizeOf(spec.dtype)),
      real_bytes_(SizeOf(kernels::ComputeDType(spec.dtype))),
      h_(BuildTable(spec, kH - kD)),
      w_(BuildTable(spec, kW - kD)) {
  OPSCV_DCHECK(spec.input.shape[kD] == 1);
  if (groups_) channels_ = GroupChannels(spec.input.shape[kC], w_ ? w_->max_taps() : 1);
  woven_ = w_ && groups_ && HasDenseRows(spec) && WeavesChannels(spec.input.shape[kC]);
  if (w_ && (!groups_ || woven_)) {
    const DType real = kernels::ComputeDType(spec.dtype);
    const kernels::BandTable::Shape shape{channels_, kernels::InnerAxisLanes(real)};
    if (UsesBands(*w_, shape, real_bytes_))
      bands_ = kernels::BandTable(*w_, shape, real_bytes_ == 8);
  }
  row_batch_ = bands_.empty() ? kTurnedRows : kBandRows;
  if (h_ && w_) rows_first_ = RowsFirst(*h_, *w_);
  // Rows are made row_batch_ at a time, so up to row_batch_ - 1 of them before they are needed.
  if (h_ && !rows_first_) ring_rows_ = RoundUp(RowsAlive(*h_) + row_batch_ - 1, row_batch_);
  ChooseTile();
  ChooseKernels();
  stage_ = RowStage(spec_.output, blocks_, element_bytes_);
  for (std::optional<TapTable>* table : {&h_, &w_}) {
    if (!*table) continue;
    if (real_bytes_ == 8) {
      (*table)->KeepOnlyDouble();
    } else {
      (*table)->KeepOnlyFloat();
    }
  }
}

void TapProgram::ChooseTile() {
  const int64_t pixel_bytes = channels_ * real_bytes_;
  const int64_t pixels = spec_.output.shape[kW];
  const bool keeps_input = h_ && w_ && rows_first_;
  const int64_t inputs_per_pixel =
      w_ ? CeilDiv(w_->columns(), std::max<int64_t>(w_->rows(), 1)) : 1;
  const int64_t tile =
      TilePixels(pixels, channels_,
                 pixel_bytes * (ring_rows_ + (keeps_input ? row_batch_ * inputs_per_pixel : 0)));
  int64_t widest = 0;
  for (int64_t x = 0; w_ && x < pixels; x += tile) {
    const Range columns = InputOfRows(*w_, {x, std::min(x + tile, pixels)});
    tile_columns_.push_back(columns);
    widest = std::max(widest, columns.end - columns.begin);
  }
  if (keeps_input) strip_pixels_ = widest;
  if (ring_rows_ > 0) strip_pixels_ = tile;
  strip_rows_ = keeps_input ? row_batch_ : ring_rows_;
  strip_row_bytes_ = RoundUp(strip_pixels_ * pixel_bytes, kAlign);
  blocks_ =
      ChooseBlocks(spec_.output.shape, groups_ ? channels_ : 0, element_bytes_, tile, ring_rows_);
}

void TapProgram::ChooseKernels() {
  const DType real = kernels::ComputeDType(spec_.dtype);
  const bool h_reads_tensor = rows_first_ || !w_;
  const bool h_writes_tensor = !rows_first_ || !w_;
  const bool w_reads_tensor = !rows_first_ || !h_;
  const bool w_writes_tensor = rows_first_ || !h_;
  const bool in_unit = groups_ || HasUnitStep(spec_.input, element_bytes_);
  const bool out_unit = groups_ || HasUnitStep(spec_.output, element_bytes_);
  const auto bytes = [&](bool tensor) { return tensor ? element_bytes_ : real_bytes_; };
  h_src_bytes_ = bytes(h_reads_tensor);
  h_dst_bytes_ = bytes(h_writes_tensor);
  w_src_bytes_ = bytes(w_reads_tensor);
  w_dst_bytes_ = bytes(w_writes_tensor);
  if (h_) {
    along_h_ = kernels::SelectOuterAxis({.src = h_reads_tensor ? spec_.dtype : real,
                                         .dst = h_writes_tensor ? spec_.dtype : real,
                                         .src_unit_step = !h_reads_tensor || in_unit,
                                         .dst_unit_step = !h_writes_tensor || out_unit});
  }
  if (!w_) return;
  const kernels::ElementKey key{.src = w_reads_tensor ? spec_.dtype : real,
                                .dst = w_writes_tensor ? spec_.dtype : real,
                                .src_unit_step = !w_reads_tensor || in_unit,
                                .dst_unit_step = !w_writes_tensor || out_unit};
  if (groups_) along_w_groups_ = kernels::SelectOuterAxis(key);
  if (!groups_ || woven_) along_w_ = kernels::SelectInnerAxis(key);
}

Range TapProgram::InputRange(int axis, Range outputs) const {
  const std::optional<TapTable>& table = axis == kH - kD ? h_ : w_;
  return axis == 0 || !table ? outputs : InputOfRows(*table, outputs);
}

Range TapProgram::ColumnsOf(Range outputs) const {
  if (!w_) return outputs;
  const int64_t tile = blocks_.pixels;
  const bool whole = outputs.begin % tile == 0 &&
                     outputs.end == std::min(outputs.begin + tile, spec_.output.shape[kW]);
  return whole ? tile_columns_[static_cast<size_t>(outputs.begin / tile)]
               : InputOfRows(*w_, outputs);
}

// Applies the pass along W to rows of input pixels that start at p.columns.begin.
void TapProgram::AlongW(const Plane& p, const SourceRows& src, const TargetRows& dst,
                        int64_t rows) const noexcept {
  if (!groups_ || (woven_ && p.out_size.channels == channels_)) {
    along_w_({.row = src.line.data,
              .row_origin = p.columns.begin,
              .row_end = p.columns.end,
              .src_step_bytes = src.line.step_bytes,
              .table = &*w_,
              .begin = p.outputs.begin,
              .end = p.outputs.end,
              .dst = dst.line.data,
              .dst_step_bytes = dst.line.step_bytes,
              .channels = channels_,
              .rows = rows,
              .row_bytes = src.row_bytes,
              .dst_row_bytes = dst.row_bytes,
              .bands = bands_.empty() ? nullptr : &bands_});
    return;
  }
  // Pixels are to this kernel what rows are along H.
  for (int64_t row = 0; row < rows; ++row) {
    along_w_groups_({.src = src.line.data + row * src.row_bytes,
                     .src_row_bytes = src.line.step_bytes,
                     .src_step_bytes = w_src_bytes_,
                     .origin = p.columns.begin,
                     .base = w_->bases() + p.outputs.begin,
                     .place = w_->places() + p.outputs.begin,
                     .delta = w_->delta(0).data(),
                     .weight = Weights(*w_),
                     .rows = p.outputs.end - p.outputs.begin,
                     .dst = dst.line.data + row * dst.row_bytes,
                     .dst_row_bytes = dst.line.step_bytes,
                     .dst_step_bytes = w_dst_bytes_,
                     .n = static_cast<size_t>(p.out_size.channels)});
  }
}

// Combines the rows that the output rows `rows` need.
void TapProgram::AlongH(Range rows, const SourceRows& src, const TargetRows& dst,
                        const LineSize& size) const noexcept {
  RunOnLine(along_h_,
            kernels::OuterAxisArgs{.src = nullptr,
                                   .src_row_bytes = src.row_bytes,
                                   .src_step_bytes = 0,
                                   .origin = src.origin,
                                   .ring_rows = src.ring_rows,
                                   .base = h_->bases() + rows.begin,
                                   .place = h_->places() + rows.begin,
                                   .delta = h_->delta(0).data(),
                                   .weight = Weights(*h_),
                                   .rows = rows.end - rows.begin,
                                   .dst = nullptr,
                                   .dst_row_bytes = dst.row_bytes,
                                   .dst_step_bytes = 0,
                                   .n = 0,
                                   .stream = dst.stream},
            h_src_bytes_, h_dst_bytes_, src.line, dst.line, size);
}

// Has make(some, dst) called for output rows, at most `most` at a time.
template <typename Make>
void TapProgram::Emit(const Plane& p, Range rows, int64_t most, Make make) const noexcept {
  const TargetRows out = p.output.From(rows.begin - p.rows.begin);
  const auto make_some = [&](int64_t first, int64_t count, const TargetRows& dst) {
    make(Range{rows.begin + first, rows.begin + first + count}, dst);
  };
  if (p.output.stream) return make_some(0, rows.end - rows.begin, out);
  stage_.Emit(p.stage, out, p.out_size, rows.end - rows.begin, most, make_some);
}

// Output rows by way of a ring of rows of the intermediate, filled up to what they need.
void TapProgram::MakeRowsByRing(const Plane& p) const noexcept {
  const int64_t first = p.input_rows.begin;
  SourceRows ring{{p.strip, p.out_size.channels * real_bytes_}, strip_row_bytes_, 0, ring_rows_};
  int64_t made = first;  // rows before this one
  for (Range rows = p.rows; rows.begin < p.rows.end; rows.begin = rows.end) {
    // In whole batches, which lie together.
    for (; made < h_->end(rows.begin); made += row_batch_) {
      char* strip = p.strip + (made - first) % ring_rows_ * strip_row_bytes_;
      AlongW(p, p.input.From(made), {{strip, ring.line.step_bytes}, strip_row_bytes_},
             std::min(row_batch_, p.input_rows.end - made));
    }
    int64_t lowest = made;
    for (rows.end = rows.begin; rows.end < p.rows.end && h_->end(rows.end) <= made; ++rows.end) {
      if (!h_->delta(rows.end).empty()) lowest = std::min(lowest, h_->base(rows.end));
    }
    ring.origin = lowest - (lowest - first) % ring_rows_;
    Emit(p, rows, rows.end - rows.begin,
         [&](Range some, const TargetRows& dst) { AlongH(some, ring, dst, p.out_size); });
  }
}

// At most row_batch_ rows of output, where H comes first or one axis is the identity.
void TapProgram::MakeRows(const Plane& p, Range rows, const TargetRows& dst) const noexcept {
  const LineSize size{p.columns.end - p.columns.begin, p.out_size.channels, groups_};
  if (!w_) return AlongH(rows, p.input, dst, size);
  if (!h_) return AlongW(p, p.input.From(rows.begin), dst, rows.end - rows.begin);
  const TargetLine strip{p.strip, p.out_size.channels * real_bytes_};
  AlongH(rows, p.input, {strip, strip_row_bytes_}, size);
  AlongW(p, {{p.strip, strip.step_bytes}, strip_row_bytes_}, dst, rows.end - rows.begin);
}

// Whether the pass along H, as the last one, can store past the caches by itself: rows are whole
// cache lines.
bool TapProgram::StreamsByItself(const Plane& p) const noexcept {
  return stage_.past_caches() && h_ && (!w_ || !rows_first_) &&
         p.out_size.pixels * p.out_size.channels * element_bytes_ % kAlign == 0 &&
         p.output.row_bytes % kAlign == 0 &&
         reinterpret_cast<uintptr_t>(p.output.line.data) % kAlign == 0;
}

void TapProgram::RunPlane(const Plane& p) const noexcept {
  if (ring_rows_ > 0) return MakeRowsByRing(p);
  Emit(p, p.rows, w_ ? row_batch_ : p.rows.end - p.rows.begin,
       [&](Range some, const TargetRows& dst) { MakeRows(p, some, dst); });
}

void TapProgram::RunBlock(const BlockRun& run) const noexcept {
  const Block& block = run.block;
  const Range outputs{block.pixel_begin, block.pixel_end};
  const int64_t first_row = run.grid.At(block.plane_begin, block.row_begin)[kH];
  Plane p{.input = {{nullptr, spec_.input.stride_bytes[kW]}, spec_.input.stride_bytes[kH]},
          .output = {{nullptr, spec_.output.stride_bytes[kW]}, spec_.output.stride_bytes[kH]},
          .columns = ColumnsOf(outputs),
          .outputs = outputs,
          .rows = {first_row, first_row + block.row_end - block.row_begin},
          .out_size = {outputs.end - outputs.begin, run.channels, groups_},
          .strip = static_cast<char*>(run.scratch),
          .stage = static_cast<char*>(run.scratch) + strip_rows_ * strip_row_bytes_};
  if (ring_rows_ > 0) p.input_rows = InputOfRows(*h_, p.rows);
  p.input.origin = run.buffers.input_origin[kH];
  for (int64_t plane = block.plane_begin; plane < block.plane_end; ++plane) {
    Coords at = run.grid.At(plane, block.row_begin);
    at[kW] = block.pixel_begin;
    p.output.line.data = AddressOf(run.buffers.output, run.buffers.output_origin, spec_.output, at);
    at[kH] = p.input.origin;
    at[kW] = p.columns.begin;
    p.input.line.data = AddressOf(run.buffers.input, run.buffers.input_origin, spec_.input, at);
    p.output.stream = StreamsByItself(p);
    RunPlane(p);
  }
  stage_.Finish();
}

std::vector<Pass> TapProgram::Passes() const {
  std::vector<Pass> passes;
  if (h_) passes.push_back({{{kH - kD, h_->max_taps()}}});
  if (w_) passes.push_back({{{kW - kD, w_->max_taps()}}});
  if (!rows_first_) std::reverse(passes.begin(), passes.end());
  return passes;
}

Work TapProgram::TotalWork() const {
  const double planes =
      static_cast<double>(spec_.output.shape[kN]) * static_cast<double>(spec_.output.shape[kC]);
  Work work{.outputs = ElementCount(spec_.output.shape)};
  if (h_) {
    const int64_t width = w_ ? (rows_first_ ? w_->columns() : w_->rows()) : spec_.output.shape[kW];
    work.row_products = planes * static_cast<double>(h_->total_taps()) * static_cast<double>(width);
  }
  if (!w_) return work;
  const int64_t rows = h_ ? (rows_first_ ? h_->rows() : h_->columns()) : spec_.output.shape[kH];
  const double of_w = planes * static_cast<double>(rows);
  const auto taps = static_cast<double>(w_->total_taps());
  if (h_) work.outputs += of_w * static_cast<double>(w_->rows());
  if (!bands_.empty()) {
    work.band_products =
        of_w * static_cast<double>(bands_.products()) / static_cast<double>(channels_);
  } else if (groups_ && !woven_) {
    work.row_products += of_w * taps;
  } else {
    work.turned_products = of_w * taps;
  }
  return work;
}

std::vector<std::string> TapProgram::Describe() const {
  std::vector<std::string> lines;
  const auto pass = [&](char axis, const std::optional<TapTable>& table) {
    if (!table) return;
    lines.push_back(fmt::format("pass {} along {}: {} rows of at most {} taps", lines.size() + 1,
                                axis, table->rows(), table->max_taps()));
  };
  if (rows_first_) pass('H', h_);
  pass('W', w_);
  if (!rows_first_) pass('H', h_);
  lines.push_back(fmt::format("intermediate: {} rows of {} pixels", strip_rows_, strip_pixels_));
  if (woven_) lines.push_back(fmt::format("along W: {} channels as single elements", channels_));
  if (!bands_.empty()) {
    lines.push_back(fmt::format(
        "along W: bands, {:.1f} products an element",
        static_cast<double>(bands_.products()) / static_cast<double>(w_->rows() * channels_)));
  } else if (w_) {
    lines.push_back(groups_ && !woven_ ? "along W: whole pixels" : "along W: rows are turned");
  }
  lines.push_back(stage_.Describe());
  return lines;
}

}  // namespace

std::unique_ptr<const Program> MakeTapProgram(const ResampleSpec& spec) {
  return std::make_unique<TapProgram>(spec);
}

}  // namespace opscv::plan
