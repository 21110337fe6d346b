// SPDX-License-Identifier: Apache-2.0
// The gradient of nearest resampling: the members of a (d, h) window are summed row by row, then
// windows along W.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/checked_math.h"
#include "plan/cost_model.h"
#include "plan/line.h"
#include "plan/nearest_axes.h"
#include "plan/program.h"
#include "plan/row_stage.h"

namespace opscv::plan {
namespace {

constexpr int64_t kAlign = 64;

// Rows that go through the pass along W together, so that it finds its windows once for them.
constexpr int64_t kRowBatch = 8;

class RunSumProgram final : public Program {
 public:
  explicit RunSumProgram(const ResampleSpec& spec);

  [[nodiscard]] BlockShape Blocks() const override { return blocks_; }
  [[nodiscard]] int64_t ScratchBytes() const override {
    return row_batch_ * strip_row_bytes_ + stage_.bytes();
  }
  [[nodiscard]] Range InputRange(int axis, Range outputs) const override {
    return {bounds_[axis].At(outputs.begin), bounds_[axis].At(outputs.end)};
  }
  void RunBlock(const BlockRun& run) const noexcept override;
  [[nodiscard]] std::vector<Pass> Passes() const override;
  [[nodiscard]] Work TotalWork() const override;
  [[nodiscard]] std::vector<std::string> Describe() const override;

 private:
  // Rows of a block that share their window along D.
  struct Slice {
    // Of the window's first d, of row 0 of H, of the block's first input pixel.
    const char* input = nullptr;
    Range depths{};
    Range columns;  // of the input
    Range outputs;  // pixels of the output
    int64_t first_row = 0;
    int64_t rows = 0;
    int64_t channels;
    TargetRows out;
    char* strip;
    char* stage;
  };

  void ChooseTile();
  void ChooseKernels();
  [[nodiscard]] bool along_w() const { return along_w_ != nullptr || along_w_groups_ != nullptr; }
  [[nodiscard]] bool IsEmpty(int64_t row) const {
    return bounds_[1].At(row) == bounds_[1].At(row + 1);
  }
  void MakeSlice(const Slice& slice) const noexcept;
  void MakeRows(const Slice& slice, int64_t first, int64_t count,
                const TargetRows& dst) const noexcept;
  void Clear(const Slice& slice, const TargetLine& dst) const noexcept;
  void SumWindow(const Slice& slice, int64_t row, const TargetLine& dst) const noexcept;
  void AlongW(const Slice& slice, const SourceLine& src, int64_t row_bytes, const TargetRows& dst,
              int64_t rows) const noexcept;

  ResampleSpec spec_;
  bool groups_;
  bool woven_;  // the pass along W takes channels as single elements
  int64_t channels_;
  int64_t element_bytes_;
  int64_t real_bytes_;
  std::array<AxisBounds, kSpatial> bounds_;
  std::optional<kernels::WindowTable> windows_;  // along W; none where pixels are groups
  bool reads_rows_ = false;  // the pass along W takes the tensor's rows as they are
  int64_t row_batch_ = 1;
  int64_t strip_row_bytes_ = 0;
  BlockShape blocks_;
  RowStage stage_;
  kernels::RunRowsKernel sum_window_ = nullptr;
  kernels::RunRowsKernel clear_ = nullptr;  // writes +0 to a row of the output
  kernels::RunRowsKernel along_w_groups_ = nullptr;
  kernels::RunLanesKernel along_w_ = nullptr;
};

RunSumProgram::RunSumProgram(const ResampleSpec& spec)
    : spec_(spec),
      groups_(HasChannelGroups(spec)),
      woven_(groups_ && WeavesChannels(spec.input.shape[kC]) && HasDenseRows(spec)),
      channels_(groups_ ? GroupChannels(spec.input.shape[kC]) : 1),
      element_bytes_(SizeOf(spec.dtype)),
      real_bytes_(SizeOf(kernels::ComputeDType(spec.dtype))),
      bounds_(BuildBounds(spec)) {
  ChooseTile();
  ChooseKernels();
  stage_ = RowStage(spec_.output, blocks_, element_bytes_);
}

void RunSumProgram::ChooseTile() {
  const bool in_unit = groups_ || HasUnitStep(spec_.input, element_bytes_);
  const bool window = !bounds_[0].identity() || !bounds_[1].identity();
  const bool along_w = !bounds_[2].identity();
  const bool real = element_bytes_ == real_bytes_;
  reads_rows_ = along_w && !window && ((groups_ && !woven_) || (in_unit && real));
  const int64_t pixels = spec_.output.shape[kW];
  const int64_t per_pixel =
      along_w ? CeilDiv(spec_.input.shape[kW], std::max<int64_t>(pixels, 1)) : 0;
  if (along_w && !reads_rows_ && (!groups_ || woven_)) {
    row_batch_ = std::clamp<int64_t>(spec_.output.shape[kH], 1, kRowBatch);
  }
  const int64_t tile =
      TilePixels(pixels, channels_, row_batch_ * per_pixel * channels_ * real_bytes_);
  int64_t widest = 0;
  for (int64_t x = 0; along_w && x < pixels; x += tile) {
    const Range columns = InputRange(2, {x, std::min(x + tile, pixels)});
    widest = std::max(widest, columns.end - columns.begin);
  }
  if (along_w && !reads_rows_) {
    strip_row_bytes_ = RoundUp(widest * channels_ * real_bytes_, kAlign);
  }
  blocks_ = ChooseBlocks(spec_.output.shape, groups_ ? channels_ : 0, element_bytes_, tile, 0);
}

void RunSumProgram::ChooseKernels() {
  const DType real = kernels::ComputeDType(spec_.dtype);
  const bool along_w = !bounds_[2].identity();
  const bool in_unit = groups_ || HasUnitStep(spec_.input, element_bytes_);
  const bool out_unit = groups_ || HasUnitStep(spec_.output, element_bytes_);
  sum_window_ = kernels::SelectRunRows({.src = spec_.dtype,
                                        .dst = along_w ? real : spec_.dtype,
                                        .src_unit_step = in_unit,
                                        .dst_unit_step = along_w || out_unit});
  clear_ =
      kernels::SelectRunRows({.src = spec_.dtype, .dst = spec_.dtype, .dst_unit_step = out_unit});
  if (!along_w) return;
  if (groups_) {
    along_w_groups_ =
        kernels::SelectRunRows({.src = reads_rows_ ? spec_.dtype : real, .dst = spec_.dtype});
  }
  if (!groups_ || woven_) {
    windows_ = kernels::BuildWindowTable(bounds_[2].bounds(), channels_);
    along_w_ =
        kernels::SelectRunLanes({.src = real, .dst = spec_.dtype, .dst_unit_step = out_unit});
  }
}

// The window of output row `row`, summed for the block's input columns.
void RunSumProgram::SumWindow(const Slice& slice, int64_t row,
                              const TargetLine& dst) const noexcept {
  const Range h = InputRange(1, {row, row + 1});
  RunOnLine(sum_window_,
            kernels::RunRowsArgs{.src = nullptr,
                                 .outer = slice.depths.end - slice.depths.begin,
                                 .outer_bytes = spec_.input.stride_bytes[kD],
                                 .inner = h.end - h.begin,
                                 .inner_bytes = spec_.input.stride_bytes[kH],
                                 .src_step_bytes = 0,
                                 .dst = nullptr,
                                 .dst_step_bytes = 0,
                                 .n = 0},
            element_bytes_, along_w() ? real_bytes_ : element_bytes_,
            {slice.input + h.begin * spec_.input.stride_bytes[kH], spec_.input.stride_bytes[kW]},
            dst, {slice.columns.end - slice.columns.begin, slice.channels, groups_});
}

// Sums the windows along W of rows whose first pixel is input column slice.columns.begin.
void RunSumProgram::AlongW(const Slice& slice, const SourceLine& src, int64_t row_bytes,
                           const TargetRows& dst, int64_t rows) const noexcept {
  if (!groups_ || (woven_ && slice.channels == channels_)) {
    along_w_({.row = src.data,
              .row_origin = slice.columns.begin * channels_,
              .row_end = slice.columns.end * channels_,
              .table = &*windows_,
              .begin = slice.outputs.begin * channels_,
              .end = slice.outputs.end * channels_,
              .dst = dst.line.data,
              .dst_step_bytes = groups_ ? element_bytes_ : dst.line.step_bytes,
              .rows = rows,
              .row_bytes = row_bytes,
              .dst_row_bytes = dst.row_bytes});
    return;
  }
  for (int64_t row = 0; row < rows; ++row) {
    along_w_groups_({.src = src.data + row * row_bytes,
                     .outer = 1,
                     .outer_bytes = 0,
                     .inner = 0,
                     .inner_bytes = src.step_bytes,
                     .src_step_bytes = 0,
                     .dst = dst.From(row).line.data,
                     .dst_step_bytes = 0,
                     .n = static_cast<size_t>(slice.channels),
                     .bounds = bounds_[2].bounds().data() + slice.outputs.begin,
                     .rows = slice.outputs.end - slice.outputs.begin,
                     .dst_row_bytes = dst.line.step_bytes});
  }
}

void RunSumProgram::Clear(const Slice& slice, const TargetLine& dst) const noexcept {
  RunOnLine(clear_, kernels::RunRowsArgs{}, element_bytes_, element_bytes_,
            {dst.data, dst.step_bytes}, dst,
            {slice.outputs.end - slice.outputs.begin, slice.channels, groups_});
}

// `count` rows of output from the slice's first-th on, at most row_batch_ of them where there is a
// pass along W.
void RunSumProgram::MakeRows(const Slice& slice, int64_t first, int64_t count,
                             const TargetRows& dst) const noexcept {
  const int64_t h = slice.first_row + first;
  const SourceLine strip{slice.strip, slice.channels * real_bytes_};
  const bool empty = bounds_[1].At(h) == bounds_[1].At(h + count);
  const bool by_strip = along_w() && !reads_rows_ && !empty;
  for (int64_t row = 0; row < count; ++row) {
    if (by_strip) {
      SumWindow(slice, h + row, {slice.strip + row * strip_row_bytes_, strip.step_bytes});
    } else if (IsEmpty(h + row)) {
      Clear(slice, dst.From(row).line);
    } else if (along_w()) {
      const char* src = slice.input + bounds_[1].At(h + row) * spec_.input.stride_bytes[kH];
      AlongW(slice, {src, spec_.input.stride_bytes[kW]}, 0, dst.From(row), 1);
    } else {
      SumWindow(slice, h + row, dst.From(row).line);
    }
  }
  if (by_strip) AlongW(slice, strip, strip_row_bytes_, dst, count);
}

void RunSumProgram::MakeSlice(const Slice& slice) const noexcept {
  const LineSize size{slice.outputs.end - slice.outputs.begin, slice.channels, groups_};
  if (slice.depths.begin < slice.depths.end) {
    stage_.Emit(slice.stage, slice.out, size, slice.rows, row_batch_,
                [&](int64_t first, int64_t count, const TargetRows& dst) {
                  MakeRows(slice, first, count, dst);
                });
  } else if (stage_.Clears(slice.out, size)) {
    stage_.Clear(slice.out, size, slice.rows);
  } else {
    for (int64_t row = 0; row < slice.rows; ++row) Clear(slice, slice.out.From(row).line);
  }
}

void RunSumProgram::RunBlock(const BlockRun& run) const noexcept {
  const Range outputs{run.block.pixel_begin, run.block.pixel_end};
  Slice slice{.columns = InputRange(2, outputs),
              .outputs = outputs,
              .channels = run.channels,
              .out = {{nullptr, spec_.output.stride_bytes[kW]}, spec_.output.stride_bytes[kH]},
              .strip = static_cast<char*>(run.scratch),
              .stage = static_cast<char*>(run.scratch) + row_batch_ * strip_row_bytes_};
  for (int64_t plane = run.block.plane_begin; plane < run.block.plane_end; ++plane) {
    for (int64_t row = run.block.row_begin; row < run.block.row_end; row += slice.rows) {
      Coords at = run.grid.At(plane, row);
      slice.rows = run.grid.RowsOfSlice(row, run.block.row_end);
      slice.first_row = at[kH];
      slice.depths = InputRange(0, {at[kD], at[kD] + 1});
      at[kW] = outputs.begin;
      slice.out.line.data =
          AddressOf(run.buffers.output, run.buffers.output_origin, spec_.output, at);
      at = {at[kN], at[kC], slice.depths.begin, 0, slice.columns.begin};
      slice.input = AddressOf(run.buffers.input, run.buffers.input_origin, spec_.input, at);
      MakeSlice(slice);
    }
  }
  stage_.Finish();
}

std::vector<Pass> RunSumProgram::Passes() const {
  std::vector<Pass> passes;
  if (!bounds_[0].identity() || !bounds_[1].identity()) {
    passes.push_back({{{0, bounds_[0].Widest()}, {1, bounds_[1].Widest()}}});
  }
  if (!bounds_[2].identity()) passes.push_back({{{2, bounds_[2].Widest()}}});
  return passes;
}

Work RunSumProgram::TotalWork() const {
  const Tensor5& in = spec_.input;
  // Every element of the input is added once along D and H, then every sum of them along W.
  const double rows = static_cast<double>(in.shape[kN]) * static_cast<double>(in.shape[kC]) *
                      static_cast<double>(spec_.output.shape[kD]) *
                      static_cast<double>(spec_.output.shape[kH]);
  return {.row_products = ElementCount(in.shape),
          .band_products = along_w() ? rows * static_cast<double>(in.shape[kW]) : 0.0,
          .outputs = ElementCount(spec_.output.shape)};
}

std::vector<std::string> RunSumProgram::Describe() const {
  std::vector<std::string> lines;
  if (!bounds_[0].identity() || !bounds_[1].identity()) {
    lines.push_back(fmt::format("pass 1 over (D,H) windows of at most {} x {} rows",
                                bounds_[0].Widest(), bounds_[1].Widest()));
  }
  if (!bounds_[2].identity()) {
    lines.push_back(fmt::format("pass {} along W: windows of at most {}", lines.size() + 1,
                                bounds_[2].Widest()));
  }
  if (woven_) lines.push_back(fmt::format("along W: {} channels as single elements", channels_));
  if (windows_ && windows_->uniform > 0) {
    lines.push_back(fmt::format("along W: every window has {}", windows_->uniform));
  }
  if (row_batch_ > 1) lines.push_back(fmt::format("rows: {} at a time along W", row_batch_));
  lines.push_back(stage_.Describe());
  return lines;
}

}  // namespace

std::unique_ptr<const Program> MakeRunSumProgram(const ResampleSpec& spec) {
  return std::make_unique<RunSumProgram>(spec);
}

}  // namespace opscv::plan
