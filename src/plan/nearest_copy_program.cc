// SPDX-License-Identifier: Apache-2.0
// Nearest forward, and every operator whose axes are all the identity: bits are copied.
#include <fmt/format.h>

#include "kernels/nearest_copy/nearest_copy.h"
#include "plan/cost_model.h"
#include "plan/nearest_axes.h"
#include "plan/program.h"

namespace opscv::plan {
namespace {

class NearestCopyProgram final : public Program {
 public:
  explicit NearestCopyProgram(const ResampleSpec& spec)
      : spec_(spec),
        blocks_(ChooseBlocks(spec.output.shape, HasChannelGroups(spec), SizeOf(spec.dtype),
                             spec.output.shape[kW] > 0 ? spec.output.shape[kW] : 1, 0)),
        copy_(kernels::SelectNearestCopy(SizeOf(spec.dtype))) {
    const std::array<AxisBounds, kSpatial> bounds = BuildBounds(spec);
    for (int i = 0; i < kSpatial; ++i) {
      if (!bounds[i].identity()) sources_[i] = taps::NearestSources(bounds[i].bounds());
    }
  }

  [[nodiscard]] BlockShape Blocks() const override { return blocks_; }
  [[nodiscard]] int64_t ScratchBytes() const override { return 0; }
  [[nodiscard]] Range InputRange(int axis, Range outputs) const override {
    return {SourceOf(axis, outputs.begin), SourceOf(axis, outputs.end - 1) + 1};
  }
  void RunBlock(const BlockRun& run) const noexcept override;
  [[nodiscard]] std::vector<Pass> Passes() const override { return {}; }
  [[nodiscard]] std::vector<std::string> Describe() const override {
    return {fmt::format("copies elements of {} bytes", SizeOf(spec_.dtype))};
  }

 private:
  [[nodiscard]] int64_t SourceOf(int axis, int64_t output) const {
    const std::vector<int64_t>& sources = sources_[axis];
    return sources.empty() ? output : sources[static_cast<size_t>(output)];
  }

  ResampleSpec spec_;
  BlockShape blocks_;
  kernels::NearestCopyKernel copy_;
  std::array<std::vector<int64_t>, kSpatial> sources_;
};

// Neighbouring rows of an enlarged output have the same source: all but the first copy the row
// before, which needs no look at where each element comes from.
void NearestCopyProgram::RunBlock(const BlockRun& run) const noexcept {
  const Block& block = run.block;
  Coords last_in{};
  const char* last_row = nullptr;
  const int64_t first_source = SourceOf(kW - kD, block.pixel_begin);
  const std::vector<int64_t>& sources = sources_[kW - kD];
  for (int64_t plane = block.plane_begin; plane < block.plane_end; ++plane) {
    for (int64_t row = block.row_begin; row < block.row_end; ++row) {
      Coords out = run.grid.At(plane, row);
      out[kW] = block.pixel_begin;
      const Coords in = {out[kN], out[kC], SourceOf(0, out[kD]), SourceOf(1, out[kH]),
                         first_source};
      char* row_start = AddressOf(run.buffers.output, run.buffers.output_origin, spec_.output, out);
      const bool again = last_row != nullptr && in == last_in;
      const void* src =
          again ? last_row
                : AddressOf(run.buffers.input, run.buffers.input_origin, spec_.input, in);
      copy_({.src = src,
             .src_step_bytes = (again ? spec_.output : spec_.input).stride_bytes[kW],
             .source = sources.empty() || again ? nullptr : sources.data() + block.pixel_begin,
             .source_origin = first_source,
             .dst = row_start,
             .dst_step_bytes = spec_.output.stride_bytes[kW],
             .n = block.pixel_end - block.pixel_begin,
             .group = run.channels});
      last_in = in;
      last_row = row_start;
    }
  }
}

}  // namespace

std::unique_ptr<const Program> MakeNearestCopyProgram(const ResampleSpec& spec) {
  return std::make_unique<NearestCopyProgram>(spec);
}

}  // namespace opscv::plan
