// SPDX-License-Identifier: Apache-2.0
#include "cli/reference_plane.h"

namespace opscv::cli {
namespace {

reference::Answer Cubic(const plan::ResampleSpec& spec, std::span<const double> plane) {
  const taps::Axis& h = spec.axes[1];
  const taps::Axis& w = spec.axes[2];
  const reference::Bicubic2dAAProblem problem = {.batch = 1,
                                                 .in_h = h.in,
                                                 .in_w = w.in,
                                                 .out_h = h.out,
                                                 .out_w = w.out,
                                                 .align_corners = h.align_corners,
                                                 .scales_h = h.multiplier,
                                                 .scales_w = w.multiplier};
  return spec.direction == plan::Direction::kBackward
             ? reference::UpsampleBicubic2dAAGrad(problem, plane)
             : reference::UpsampleBicubic2dAA(problem, plane);
}

reference::Answer Nearest(const plan::ResampleSpec& spec, std::span<const double> plane) {
  reference::NearestExact3dProblem problem;
  problem.rule = spec.rule;
  for (size_t axis = 0; axis < spec.axes.size(); ++axis) {
    problem.in[axis] = spec.axes[axis].in;
    problem.out[axis] = spec.axes[axis].out;
    problem.scales[axis] = spec.axes[axis].multiplier;
  }
  return spec.direction == plan::Direction::kBackward
             ? reference::UpsampleNearestExact3dGrad(problem, plane)
             : reference::UpsampleNearestExact3d(problem, plane);
}

TensorDesc Describe(const Operation& operation, const Storage& storage) {
  return {.dtype = operation.job.dtype,
          .shape = storage.shape,
          .strides = storage.strides,
          .layout = operation.job.layout};
}

}  // namespace

reference::Answer ReferencePlane(const Operation& operation, std::span<const double> plane) {
  const Result<ops::OpCall> call =
      ops::BindCall(operation.job.spec, Describe(operation, operation.input.storage),
                    Describe(operation, operation.output));
  const plan::ResampleSpec spec = operation.info->to_spec(call.value());
  return spec.method == plan::Method::kNearest ? Nearest(spec, plane) : Cubic(spec, plane);
}

}  // namespace opscv::cli
