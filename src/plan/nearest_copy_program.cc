// SPDX-License-Identifier: Apache-2.0
// Nearest forward, and every operator whose axes are all the identity: bits are copied.
#include <fmt/format.h>

#include "kernels/nearest_copy/nearest_copy.h"
#include "plan/cost_model.h"
#include "plan/nearest_axes.h"
#include "plan/program.h"
#include "plan/row_stage.h"

namespace opscv::plan {
namespace {

class NearestCopyProgram final : public Program {
 public:
  explicit NearestCopyProgram(const ResampleSpec& spec)
      : spec_(spec),
        groups_(HasChannelGroups(spec)),
        blocks_(ChooseBlocks(spec.output.shape, groups_ ? GroupChannels(spec.output.shape[kC]) : 0,
                             SizeOf(spec.dtype),
                             spec.output.shape[kW] > 0 ? spec.output.shape[kW] : 1, 0)),
        stage_(spec.output, blocks_, SizeOf(spec.dtype)),
        copy_(kernels::SelectNearestCopy(SizeOf(spec.dtype))) {
    const std::array<AxisBounds, kSpatial> bounds = BuildBounds(spec);
    for (int i = 0; i < kSpatial; ++i) {
      if (!bounds[i].identity()) sources_[i] = taps::NearestSources(bounds[i].bounds());
    }
  }

  [[nodiscard]] BlockShape Blocks() const override { return blocks_; }
  [[nodiscard]] int64_t ScratchBytes() const override {
    return stage_.past_caches() ? stage_.bytes() : 0;
  }
  [[nodiscard]] Range InputRange(int axis, Range outputs) const override {
    return {SourceOf(axis, outputs.begin), SourceOf(axis, outputs.end - 1) + 1};
  }
  void RunBlock(const BlockRun& run) const noexcept override;
  [[nodiscard]] std::vector<Pass> Passes() const override { return {}; }
  [[nodiscard]] Work TotalWork() const override {
    return {.outputs = ElementCount(spec_.output.shape)};
  }
  [[nodiscard]] std::vector<std::string> Describe() const override {
    return {fmt::format("copies elements of {} bytes", SizeOf(spec_.dtype)), stage_.Describe()};
  }

 private:
  // Rows of a block that have one coordinate along D.
  struct Slice {
    const char* input;  // the source of the first pixel, in row 0 of H
    Range outputs;      // pixels
    int64_t first_row;
    int64_t channels;
  };

  [[nodiscard]] int64_t SourceOf(int axis, int64_t output) const {
    const std::vector<int64_t>& sources = sources_[axis];
    return sources.empty() ? output : sources[static_cast<size_t>(output)];
  }
  void MakeRows(const Slice& slice, int64_t first, int64_t count,
                const TargetRows& dst) const noexcept;

  ResampleSpec spec_;
  bool groups_;
  BlockShape blocks_;
  RowStage stage_;
  kernels::NearestCopyKernel copy_;
  std::array<std::vector<int64_t>, kSpatial> sources_;
};

// Neighbouring rows of an enlarged output have the same source: all but the first copy the row
// before, which needs no look at where each element comes from.
void NearestCopyProgram::MakeRows(const Slice& slice, int64_t first, int64_t count,
                                  const TargetRows& dst) const noexcept {
  const std::vector<int64_t>& sources = sources_[kW - kD];
  int64_t last_source = -1;
  for (int64_t row = 0; row < count; ++row) {
    const int64_t source = SourceOf(kH - kD, slice.first_row + first + row);
    const TargetLine to = dst.From(row).line;
    const bool again = source == last_source;
    const char* from =
        again ? dst.From(row - 1).line.data : slice.input + source * spec_.input.stride_bytes[kH];
    copy_({.src = from,
           .src_step_bytes = again ? to.step_bytes : spec_.input.stride_bytes[kW],
           .source = sources.empty() || again ? nullptr : sources.data() + slice.outputs.begin,
           .source_origin = SourceOf(kW - kD, slice.outputs.begin),
           .dst = to.data,
           .dst_step_bytes = to.step_bytes,
           .n = slice.outputs.end - slice.outputs.begin,
           .group = slice.channels});
    last_source = source;
  }
}

void NearestCopyProgram::RunBlock(const BlockRun& run) const noexcept {
  const Block& block = run.block;
  const Range outputs{block.pixel_begin, block.pixel_end};
  const LineSize size{outputs.end - outputs.begin, run.channels, groups_};
  for (int64_t plane = block.plane_begin; plane < block.plane_end; ++plane) {
    int64_t rows = 0;
    for (int64_t row = block.row_begin; row < block.row_end; row += rows) {
      rows = run.grid.RowsOfSlice(row, block.row_end);
      Coords at = run.grid.At(plane, row);
      at[kW] = outputs.begin;
      const TargetRows out{
          {AddressOf(run.buffers.output, run.buffers.output_origin, spec_.output, at),
           spec_.output.stride_bytes[kW]},
          spec_.output.stride_bytes[kH]};
      const Coords from = {at[kN], at[kC], SourceOf(0, at[kD]), 0,
                           SourceOf(kW - kD, outputs.begin)};
      const Slice slice{AddressOf(run.buffers.input, run.buffers.input_origin, spec_.input, from),
                        outputs, at[kH], run.channels};
      stage_.Emit(static_cast<char*>(run.scratch), out, size, rows, rows,
                  [&](int64_t first, int64_t count, const TargetRows& dst) {
                    MakeRows(slice, first, count, dst);
                  });
    }
  }
  stage_.Finish();
}

}  // namespace

std::unique_ptr<const Program> MakeNearestCopyProgram(const ResampleSpec& spec) {
  return std::make_unique<NearestCopyProgram>(spec);
}

}  // namespace opscv::plan
