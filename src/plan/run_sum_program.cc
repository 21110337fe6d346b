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

namespace opscv::plan {
namespace {

constexpr int64_t kAlign = 64;

class RunSumProgram final : public Program {
 public:
  explicit RunSumProgram(const ResampleSpec& spec);

  [[nodiscard]] BlockShape Blocks() const override { return blocks_; }
  [[nodiscard]] int64_t ScratchBytes() const override { return strip_bytes_; }
  [[nodiscard]] Range InputRange(int axis, Range outputs) const override {
    return {bounds_[axis].At(outputs.begin), bounds_[axis].At(outputs.end)};
  }
  void RunBlock(const BlockRun& run) const noexcept override;
  [[nodiscard]] std::vector<Pass> Passes() const override;
  [[nodiscard]] std::vector<std::string> Describe() const override;

 private:
  // What the rows of a block share.
  struct Rows {
    Range columns;  // of the input
    Range outputs;  // pixels of the output
    int64_t channels;
    char* strip;
  };

  [[nodiscard]] bool along_w() const { return along_w_ != nullptr || along_w_groups_ != nullptr; }
  // Whether no input row belongs to the output row.
  [[nodiscard]] bool IsEmpty(const Coords& out) const {
    return bounds_[0].At(out[kD]) == bounds_[0].At(out[kD] + 1) ||
           bounds_[1].At(out[kH]) == bounds_[1].At(out[kH] + 1);
  }
  void MakeRow(const BlockRun& run, const Rows& rows, const Coords& out,
               const TargetLine& dst) const noexcept;
  void SumWindow(const BlockRun& run, const Rows& rows, const Coords& out,
                 const TargetLine& dst) const noexcept;
  void AlongW(const Rows& rows, const SourceLine& src, const TargetLine& dst) const noexcept;

  ResampleSpec spec_;
  bool groups_;
  int64_t channels_;
  int64_t element_bytes_;
  int64_t real_bytes_;
  std::array<AxisBounds, kSpatial> bounds_;
  std::optional<kernels::WindowTable> windows_;  // along W; none where W is the identity
  bool reads_rows_;  // the pass along W takes the tensor's rows as they are
  int64_t strip_bytes_ = 0;
  BlockShape blocks_;
  kernels::RunRowsKernel sum_window_;
  kernels::RunRowsKernel clear_;  // writes +0 to a row of the output
  kernels::RunRowsKernel along_w_groups_ = nullptr;
  kernels::RunLanesKernel along_w_ = nullptr;
};

RunSumProgram::RunSumProgram(const ResampleSpec& spec)
    : spec_(spec),
      groups_(HasChannelGroups(spec)),
      channels_(groups_ ? GroupChannels(spec.input.shape[kC]) : 1),
      element_bytes_(SizeOf(spec.dtype)),
      real_bytes_(SizeOf(kernels::ComputeDType(spec.dtype))),
      bounds_(BuildBounds(spec)) {
  const DType real = kernels::ComputeDType(spec.dtype);
  const bool in_unit = groups_ || HasUnitStep(spec.input, element_bytes_);
  const bool out_unit = groups_ || HasUnitStep(spec.output, element_bytes_);
  const bool window = !bounds_[0].identity() || !bounds_[1].identity();
  const bool along_w = !bounds_[2].identity();
  reads_rows_ = along_w && !window && (groups_ || (in_unit && spec.dtype == real));
  const int64_t pixels = spec.output.shape[kW];
  const int64_t per_pixel =
      along_w ? CeilDiv(spec.input.shape[kW], std::max<int64_t>(pixels, 1)) : 0;
  const int64_t tile = TilePixels(pixels, channels_, per_pixel * channels_ * real_bytes_);
  int64_t widest = 0;
  for (int64_t x = 0; along_w && x < pixels; x += tile) {
    const Range columns = InputRange(2, {x, std::min(x + tile, pixels)});
    widest = std::max(widest, columns.end - columns.begin);
  }
  if (along_w && !reads_rows_) strip_bytes_ = RoundUp(widest * channels_ * real_bytes_, kAlign);
  blocks_ = ChooseBlocks(spec.output.shape, groups_, element_bytes_, tile, 0);
  sum_window_ = kernels::SelectRunRows({.src = spec.dtype,
                                        .dst = along_w ? real : spec.dtype,
                                        .src_unit_step = in_unit,
                                        .dst_unit_step = along_w || out_unit});
  clear_ =
      kernels::SelectRunRows({.src = spec.dtype, .dst = spec.dtype, .dst_unit_step = out_unit});
  if (!along_w) return;
  if (groups_) {
    along_w_groups_ =
        kernels::SelectRunRows({.src = reads_rows_ ? spec.dtype : real, .dst = spec.dtype});
  } else {
    windows_ = kernels::BuildWindowTable(bounds_[2].bounds());
    along_w_ = kernels::SelectRunLanes({.src = real, .dst = spec.dtype, .dst_unit_step = out_unit});
  }
}

// The (d, h) window of output row `out`, summed for the block's input columns.
void RunSumProgram::SumWindow(const BlockRun& run, const Rows& rows, const Coords& out,
                              const TargetLine& dst) const noexcept {
  const Range d = InputRange(0, {out[kD], out[kD] + 1});
  const Range h = InputRange(1, {out[kH], out[kH] + 1});
  const Coords first = {out[kN], out[kC], d.begin, h.begin, rows.columns.begin};
  const char* src = AddressOf(run.buffers.input, run.buffers.input_origin, spec_.input, first);
  RunOnLine(sum_window_,
            kernels::RunRowsArgs{.src = nullptr,
                                 .outer = d.end - d.begin,
                                 .outer_bytes = spec_.input.stride_bytes[kD],
                                 .inner = h.end - h.begin,
                                 .inner_bytes = spec_.input.stride_bytes[kH],
                                 .src_step_bytes = 0,
                                 .dst = nullptr,
                                 .dst_step_bytes = 0,
                                 .n = 0},
            element_bytes_, along_w() ? real_bytes_ : element_bytes_,
            {src, spec_.input.stride_bytes[kW]}, dst,
            {rows.columns.end - rows.columns.begin, rows.channels, groups_});
}

// Sums the windows along W of a row whose first pixel is input column rows.columns.begin.
void RunSumProgram::AlongW(const Rows& rows, const SourceLine& src,
                           const TargetLine& dst) const noexcept {
  if (!groups_) {
    along_w_({.row = src.data,
              .row_origin = rows.columns.begin,
              .row_end = rows.columns.end,
              .table = &*windows_,
              .begin = rows.outputs.begin,
              .end = rows.outputs.end,
              .dst = dst.data,
              .dst_step_bytes = dst.step_bytes});
    return;
  }
  for (int64_t o = rows.outputs.begin; o < rows.outputs.end; ++o) {
    const Range window = InputRange(2, {o, o + 1});
    along_w_groups_({.src = src.data + (window.begin - rows.columns.begin) * src.step_bytes,
                     .outer = 1,
                     .outer_bytes = 0,
                     .inner = window.end - window.begin,
                     .inner_bytes = src.step_bytes,
                     .src_step_bytes = 0,
                     .dst = dst.data + (o - rows.outputs.begin) * dst.step_bytes,
                     .dst_step_bytes = 0,
                     .n = static_cast<size_t>(rows.channels)});
  }
}

// One row of output; `out` are the coordinates of its first pixel, which lies at `dst`.
void RunSumProgram::MakeRow(const BlockRun& run, const Rows& rows, const Coords& out,
                            const TargetLine& dst) const noexcept {
  if (IsEmpty(out)) {
    RunOnLine(clear_, kernels::RunRowsArgs{}, element_bytes_, element_bytes_,
              {dst.data, dst.step_bytes}, dst,
              {rows.outputs.end - rows.outputs.begin, rows.channels, groups_});
  } else if (!along_w()) {
    SumWindow(run, rows, out, dst);
  } else if (reads_rows_) {
    Coords first = out;
    first[kW] = rows.columns.begin;
    const char* src = AddressOf(run.buffers.input, run.buffers.input_origin, spec_.input, first);
    AlongW(rows, {src, spec_.input.stride_bytes[kW]}, dst);
  } else {
    const int64_t step = rows.channels * real_bytes_;
    SumWindow(run, rows, out, {rows.strip, step});
    AlongW(rows, {rows.strip, step}, dst);
  }
}

void RunSumProgram::RunBlock(const BlockRun& run) const noexcept {
  const Range outputs{run.block.pixel_begin, run.block.pixel_end};
  const Rows rows{.columns = InputRange(2, outputs),
                  .outputs = outputs,
                  .channels = run.channels,
                  .strip = static_cast<char*>(run.scratch)};
  for (int64_t plane = run.block.plane_begin; plane < run.block.plane_end; ++plane) {
    for (int64_t row = run.block.row_begin; row < run.block.row_end; ++row) {
      Coords out = run.grid.At(plane, row);
      out[kW] = outputs.begin;
      char* dst = AddressOf(run.buffers.output, run.buffers.output_origin, spec_.output, out);
      MakeRow(run, rows, out, {dst, spec_.output.stride_bytes[kW]});
    }
  }
}

std::vector<Pass> RunSumProgram::Passes() const {
  std::vector<Pass> passes;
  if (!bounds_[0].identity() || !bounds_[1].identity()) {
    passes.push_back({{{0, bounds_[0].Widest()}, {1, bounds_[1].Widest()}}});
  }
  if (!bounds_[2].identity()) passes.push_back({{{2, bounds_[2].Widest()}}});
  return passes;
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
  return lines;
}

}  // namespace

std::unique_ptr<const Program> MakeRunSumProgram(const ResampleSpec& spec) {
  return std::make_unique<RunSumProgram>(spec);
}

}  // namespace opscv::plan
