// SPDX-License-Identifier: Apache-2.0
// Weighted taps along H and W: two passes, one, or their order turned round. Only a strip of rows
// of the intermediate exists at a time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/checked_math.h"
#include "base/dcheck.h"
#include "kernels/inner_axis/inner_axis.h"
#include "plan/cost_model.h"
#include "plan/line.h"
#include "plan/program.h"

namespace opscv::plan {
namespace {

using taps::TapTable;

constexpr int64_t kAlign = 64;

// Rows that go through the pass along W together: as many as its kernel takes at once with the
// longest vectors.
constexpr int64_t kRowBatch = 16;

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

// Whether rows are dense in both tensors and have so few channels that no vector is filled by one
// pixel's.
bool IsWoven(const ResampleSpec& spec) {
  const int64_t channels = spec.input.shape[kC];
  const auto dense = [&](const Tensor5& tensor) {
    return tensor.shape[kW] == 1 || tensor.stride_bytes[kW] == channels * SizeOf(spec.dtype);
  };
  return channels <= kMaxWovenChannels && dense(spec.input) && dense(spec.output);
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
  [[nodiscard]] int64_t ScratchBytes() const override { return strip_rows_ * strip_row_bytes_; }
  [[nodiscard]] Range InputRange(int axis, Range outputs) const override;
  void RunBlock(const BlockRun& run) const noexcept override;
  [[nodiscard]] std::vector<Pass> Passes() const override;
  [[nodiscard]] std::vector<std::string> Describe() const override;

 private:
  // One plane of a block: its input at sample 0 of H and at the block's first input pixel.
  struct Plane {
    SourceLine input;
    int64_t input_origin_h;
    Range columns;  // of the input
    Range outputs;  // pixels of the output
    LineSize out_size;
    char* strip;
  };

  // Rows of pixels, `row_bytes` apart.
  struct SourceRows {
    SourceLine line;
    int64_t row_bytes;
  };
  struct TargetRows {
    TargetLine line;
    int64_t row_bytes;
    [[nodiscard]] TargetLine Row(int64_t row) const {
      return {line.data + row * row_bytes, line.step_bytes};
    }
  };

  // The input pixels that a block's output pixels read.
  [[nodiscard]] Range ColumnsOf(Range outputs) const;
  void ChooseTile();
  void ChooseKernels();
  void RunPlane(const BlockRun& run, int64_t plane, Plane& p) const noexcept;
  void ReadRows(const Plane& p, Range rows, const TargetRows& dst) const noexcept;
  void AlongW(const Plane& p, const SourceRows& src, const TargetRows& dst,
              int64_t rows) const noexcept;
  void AlongH(int64_t row, const SourceLine& src, int64_t row_bytes, const int32_t* delta,
              const TargetLine& dst, const LineSize& size) const noexcept;
  void MakeRows(const Plane& p, Range rows, const TargetRows& dst) const noexcept;
  // The strip's rows as a ring, filled up to what each output row needs.
  class Ring;

  [[nodiscard]] const void* Weights(const TapTable& table, int64_t row) const {
    return real_bytes_ == 8 ? static_cast<const void*>(table.weight(row).data())
                            : table.weight_float(row).data();
  }
  [[nodiscard]] const char* InputRow(const Plane& p, int64_t h) const {
    return p.input.data + (h - p.input_origin_h) * spec_.input.stride_bytes[kH];
  }

  ResampleSpec spec_;
  bool groups_;
  bool woven_;  // few channels lie side by side in dense rows: the pass along W takes them as such
  int64_t channels_;
  int64_t element_bytes_;
  int64_t real_bytes_;
  std::optional<TapTable> h_;
  std::optional<TapTable> w_;
  bool rows_first_ = true;  // H before W; also where there is one pass
  int64_t ring_rows_ = 0;
  int64_t strip_pixels_ = 0;
  int64_t strip_row_bytes_ = 0;  // of the intermediate's rows, kRowBatch or ring_rows_ of them
  int64_t strip_rows_ = 0;
  BlockShape blocks_;
  std::vector<Range> tile_columns_;  // the input pixels that each whole tile of outputs reads
  kernels::OuterAxisKernel along_h_ = nullptr;
  kernels::OuterAxisKernel along_w_groups_ = nullptr;
  kernels::InnerAxisKernel along_w_ = nullptr;
  bool streams_ = false;     // the pass along H is the last and stores past the caches
  int64_t h_src_bytes_ = 0;  // element sizes of what the passes read and write
  int64_t h_dst_bytes_ = 0;
  int64_t w_src_bytes_ = 0;
  int64_t w_dst_bytes_ = 0;
};

TapProgram::TapProgram(const ResampleSpec& spec)
    : spec_(spec),
      groups_(HasChannelGroups(spec)),
      woven_(groups_ && IsWoven(spec)),
      channels_(groups_ ? GroupChannels(spec.input.shape[kC]) : 1),
      element_bytes_(SizeOf(spec.dtype)),
      real_bytes_(SizeOf(kernels::ComputeDType(spec.dtype))),
      h_(BuildTable(spec, kH - kD)),
      w_(BuildTable(spec, kW - kD)) {
  OPSCV_DCHECK(spec.input.shape[kD] == 1);
  if (h_ && w_) rows_first_ = RowsFirst(*h_, *w_);
  // Rows are made kRowBatch at a time, so up to kRowBatch - 1 of them before they are needed.
  if (h_ && !rows_first_) ring_rows_ = RoundUp(RowsAlive(*h_) + kRowBatch - 1, kRowBatch);
  ChooseTile();
  ChooseKernels();
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
                 pixel_bytes * (ring_rows_ + (keeps_input ? kRowBatch * inputs_per_pixel : 0)));
  int64_t widest = 0;
  for (int64_t x = 0; w_ && x < pixels; x += tile) {
    const Range columns = InputOfRows(*w_, {x, std::min(x + tile, pixels)});
    tile_columns_.push_back(columns);
    widest = std::max(widest, columns.end - columns.begin);
  }
  if (keeps_input) strip_pixels_ = widest;
  if (ring_rows_ > 0) strip_pixels_ = tile;
  strip_rows_ = keeps_input ? kRowBatch : ring_rows_;
  strip_row_bytes_ = RoundUp(strip_pixels_ * pixel_bytes, kAlign);
  blocks_ = ChooseBlocks(spec_.output.shape, groups_, element_bytes_, tile, ring_rows_);
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
  streams_ = h_ && h_writes_tensor &&
             StreamsRows(ElementCount(spec_.output.shape) * static_cast<double>(element_bytes_),
                         blocks_.pixels * channels_ * element_bytes_);
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
              .dst_row_bytes = dst.row_bytes});
    return;
  }
  for (int64_t row = 0; row < rows; ++row) {
    const char* pixels = src.line.data + row * src.row_bytes;
    const TargetLine to = dst.Row(row);
    for (int64_t o = p.outputs.begin; o < p.outputs.end; ++o) {
      const std::span<const int32_t> delta = w_->delta(o);
      along_w_groups_({.src = pixels + (w_->base(o) - p.columns.begin) * src.line.step_bytes,
                       .src_row_bytes = src.line.step_bytes,
                       .src_step_bytes = w_src_bytes_,
                       .delta = delta.data(),
                       .weight = Weights(*w_, o),
                       .taps = delta.size(),
                       .dst = to.data + (o - p.outputs.begin) * to.step_bytes,
                       .dst_step_bytes = w_dst_bytes_,
                       .n = static_cast<size_t>(p.out_size.channels)});
    }
  }
}

// The pass along W straight from at most kRowBatch rows of the tensor.
void TapProgram::ReadRows(const Plane& p, Range rows, const TargetRows& dst) const noexcept {
  AlongW(p, {{InputRow(p, rows.begin), p.input.step_bytes}, spec_.input.stride_bytes[kH]}, dst,
         rows.end - rows.begin);
}

// Combines the rows that output row `row` needs; `src` is the row that `delta` counts from.
void TapProgram::AlongH(int64_t row, const SourceLine& src, int64_t row_bytes, const int32_t* delta,
                        const TargetLine& dst, const LineSize& size) const noexcept {
  RunOnLine(along_h_,
            kernels::OuterAxisArgs{.src = nullptr,
                                   .src_row_bytes = row_bytes,
                                   .src_step_bytes = 0,
                                   .delta = delta,
                                   .weight = Weights(*h_, row),
                                   .taps = h_->delta(row).size(),
                                   .dst = nullptr,
                                   .dst_step_bytes = 0,
                                   .n = 0,
                                   .stream = streams_},
            h_src_bytes_, h_dst_bytes_, src, dst, size);
}

class TapProgram::Ring {
 public:
  // For output rows of [rows.begin, rows.end), in order.
  Ring(const TapProgram& program, const Plane& plane, Range rows)
      : program_(program),
        plane_(plane),
        step_bytes_(plane.out_size.channels * program.real_bytes_),
        input_(InputOfRows(*program.h_, rows)),
        next_(input_.begin) {}

  void MakeOutput(int64_t row, const TargetLine& dst) noexcept {
    const TapTable& table = *program_.h_;
    FillTo(table.end(row));
    const std::span<const int32_t> delta = table.delta(row);
    std::array<int32_t, kMaxRingTaps> place;
    const auto first = static_cast<int32_t>((table.base(row) - input_.begin) % program_.ring_rows_);
    for (size_t k = 0; k < delta.size(); ++k) {
      const int32_t turned = first + delta[k] - static_cast<int32_t>(program_.ring_rows_);
      place[k] = turned < 0 ? first + delta[k] : turned;
    }
    program_.AlongH(row, {plane_.strip, step_bytes_}, program_.strip_row_bytes_, place.data(), dst,
                    plane_.out_size);
  }

 private:
  // Makes the rows before `end` that are not there yet, in whole batches, which lie together.
  void FillTo(int64_t end) noexcept {
    while (next_ < end) {
      const int64_t place = (next_ - input_.begin) % program_.ring_rows_;
      const int64_t rows = std::min(kRowBatch, input_.end - next_);
      char* first = plane_.strip + place * program_.strip_row_bytes_;
      program_.ReadRows(plane_, {next_, next_ + rows},
                        {{first, step_bytes_}, program_.strip_row_bytes_});
      next_ += rows;
    }
  }

  const TapProgram& program_;
  const Plane& plane_;
  int64_t step_bytes_;
  Range input_;   // the rows that are ever needed
  int64_t next_;  // the first that is not made yet
};

// At most kRowBatch rows of output, where H comes first or one axis is the identity.
void TapProgram::MakeRows(const Plane& p, Range rows, const TargetRows& dst) const noexcept {
  if (!h_) return ReadRows(p, rows, dst);
  const TargetRows strip{{p.strip, p.out_size.channels * real_bytes_}, strip_row_bytes_};
  const LineSize size{p.columns.end - p.columns.begin, p.out_size.channels, groups_};
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const SourceLine src{InputRow(p, h_->base(row)), p.input.step_bytes};
    AlongH(row, src, spec_.input.stride_bytes[kH], h_->delta(row).data(),
           (w_ ? strip : dst).Row(row - rows.begin), size);
  }
  if (w_) {
    AlongW(p, {{p.strip, strip.line.step_bytes}, strip.row_bytes}, dst, rows.end - rows.begin);
  }
}

void TapProgram::RunPlane(const BlockRun& run, int64_t plane, Plane& p) const noexcept {
  const Block& block = run.block;
  Coords at = run.grid.At(plane, block.row_begin);
  const Range rows{at[kH], at[kH] + block.row_end - block.row_begin};
  at[kW] = block.pixel_begin;
  const TargetRows out{{AddressOf(run.buffers.output, run.buffers.output_origin, spec_.output, at),
                        spec_.output.stride_bytes[kW]},
                       spec_.output.stride_bytes[kH]};
  at[kH] = run.buffers.input_origin[kH];
  at[kW] = p.columns.begin;
  p.input.data = AddressOf(run.buffers.input, run.buffers.input_origin, spec_.input, at);
  if (h_ && w_ && !rows_first_) {
    Ring ring(*this, p, rows);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      ring.MakeOutput(row, out.Row(row - rows.begin));
    }
    return;
  }
  for (int64_t row = rows.begin; row < rows.end; row += kRowBatch) {
    MakeRows(p, {row, std::min(row + kRowBatch, rows.end)},
             {out.Row(row - rows.begin), out.row_bytes});
  }
}

void TapProgram::RunBlock(const BlockRun& run) const noexcept {
  const Range outputs{run.block.pixel_begin, run.block.pixel_end};
  Plane p{.input = {nullptr, spec_.input.stride_bytes[kW]},
          .input_origin_h = run.buffers.input_origin[kH],
          .columns = ColumnsOf(outputs),
          .outputs = outputs,
          .out_size = {outputs.end - outputs.begin, run.channels, groups_},
          .strip = static_cast<char*>(run.scratch)};
  for (int64_t plane = run.block.plane_begin; plane < run.block.plane_end; ++plane) {
    RunPlane(run, plane, p);
  }
  if (streams_) kernels::FinishStores();
}

std::vector<Pass> TapProgram::Passes() const {
  std::vector<Pass> passes;
  if (h_) passes.push_back({{{kH - kD, h_->max_taps()}}});
  if (w_) passes.push_back({{{kW - kD, w_->max_taps()}}});
  if (!rows_first_) std::reverse(passes.begin(), passes.end());
  return passes;
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
  return lines;
}

}  // namespace

std::unique_ptr<const Program> MakeTapProgram(const ResampleSpec& spec) {
  return std::make_unique<TapProgram>(spec);
}

}  // namespace opscv::plan
