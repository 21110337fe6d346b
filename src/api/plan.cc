// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/fp_env.h"
#include "base/parallel.h"
#include "base/status.h"
#include "ops/check_rules.h"
#include "ops/registry.h"
#include "opscv/plan.h"

namespace opscv {
namespace {

constexpr size_t kAlign = 64;

// The engine's dimension for dimension `dim` of a tensor.
int EngineDim(const TensorDesc& tensor, int dim) {
  const int rank = tensor.shape.rank();
  const bool last = tensor.layout == Layout::kChannelsLast;
  if (dim == 0) return plan::kN;
  if (dim == (last ? rank - 1 : 1)) return plan::kC;
  return plan::kRank - rank + (last ? dim + 1 : dim);
}

// Coordinates of a tensor as the engine's; `missing` stands in dimensions the tensor has not.
plan::Coords ToCoords(const TensorDesc& tensor, const Dims& dims, int64_t missing) {
  plan::Coords coords;
  coords.fill(missing);
  for (int i = 0; i < tensor.shape.rank(); ++i) {
    coords[static_cast<size_t>(EngineDim(tensor, i))] = dims[i];
  }
  return coords;
}

Dims FromCoords(const TensorDesc& tensor, const plan::Coords& coords) {
  Dims dims = Dims::Filled(tensor.shape.rank(), 0);
  for (int i = 0; i < tensor.shape.rank(); ++i) {
    dims[i] = coords[static_cast<size_t>(EngineDim(tensor, i))];
  }
  return dims;
}

plan::Box5 ToBox5(const TensorDesc& tensor, const Box& box) {
  return {.begin = ToCoords(tensor, box.begin, 0), .end = ToCoords(tensor, box.end, 1)};
}

// The tensor cut down to a box of it.
TensorDesc Part(const TensorDesc& tensor, const Box& box) {
  TensorDesc part = tensor;
  for (int i = 0; i < tensor.shape.rank(); ++i) part.shape[i] = box.end[i] - box.begin[i];
  return part;
}

Status CheckBox(const TensorDesc& output, const Box& box) {
  const int rank = output.shape.rank();
  if (box.begin.rank() != rank || box.end.rank() != rank) {
    return InvalidArgument("output_box must have {} dimensions, got {} and {}.", rank,
                           box.begin.rank(), box.end.rank());
  }
  for (int i = 0; i < rank; ++i) {
    if (box.begin[i] < 0 || box.begin[i] > box.end[i] || box.end[i] > output.shape[i]) {
      return InvalidArgument("output_box must lie in [0, {}) along dimension {}, got [{}, {}).",
                             output.shape[i], i, box.begin[i], box.end[i]);
    }
  }
  return {};
}

Status CheckOrigin(const TensorDesc& input, const Dims& origin) {
  const int rank = input.shape.rank();
  if (origin.rank() != rank) {
    return InvalidArgument("input_origin must have {} dimensions, got {}.", rank, origin.rank());
  }
  for (int i = 0; i < rank; ++i) {
    if (origin[i] < 0 || origin[i] > input.shape[i]) {
      return InvalidArgument("input_origin[{}] must lie in [0, {}], got {}.", i, input.shape[i],
                             origin[i]);
    }
  }
  return {};
}

Status CheckPointer(std::string_view name, const TensorDesc& tensor, const void* data) {
  if (ops::ReachOf(tensor).above == 0) return {};
  if (data == nullptr) return {StatusCode::kNullPointer, fmt::format("{} must not be null.", name)};
  const auto element = static_cast<uintptr_t>(SizeOf(tensor.dtype));
  if (reinterpret_cast<uintptr_t>(data) % element != 0) {
    return InvalidArgument("{} must be aligned to its elements' {} bytes, got {}.", name, element,
                           data);
  }
  return {};
}

Status CheckOutput(const PlanOptions& options, const TensorDesc& part, const void* data) {
  OPSCV_RETURN_IF_ERROR(CheckPointer("output", part, data));
  return options.boxes_only ? ops::CheckNoSelfOverlap("output", part) : Status();
}

// The input element that a run's input pointer would have at coordinates 0.
const void* PointerAt(const TensorDesc& tensor, const void* data, const Dims& from,
                      const Dims& to) {
  int64_t offset = 0;
  for (int i = 0; i < tensor.shape.rank(); ++i) {
    offset += (to[i] - from[i]) * tensor.strides[i];
  }
  return static_cast<const char*>(data) + offset * SizeOf(tensor.dtype);
}

AxisFacts FactsOf(const plan::ResampleSpec& spec, const taps::Axis& axis, char name) {
  const double scale = taps::ScaleOf(axis);
  const double widening = std::max(scale, 1.0);
  const bool filtered = spec.method == plan::Method::kTaps;
  return {.name = name,
          .before = axis.in,
          .after = axis.out,
          .scale = scale,
          .inverse = 1.0 / widening,
          .support = filtered ? taps::SupportOf(spec.filter) * widening : 0.0,
          .identity = taps::IsIdentity(axis)};
}

// The checks of a plan that is made for boxes: each box is judged when it runs.
class BoxDoor : public ops::DoorChecks {
 public:
  [[nodiscard]] bool takes_self_overlap() const override { return true; }
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Scratch = std::unique_ptr<void, Free>;

// The workspace of the options, or one that `owned` keeps.
Result<void*> GetWorkspace(const RunOptions& options, int64_t bytes, Scratch& owned) {
  if (bytes == 0) return nullptr;
  if (options.workspace != nullptr) {
    if (reinterpret_cast<uintptr_t>(options.workspace) % kAlign != 0) {
      return Unexpected(InvalidArgument("options.workspace must be aligned to {} bytes, got {}.",
                                        kAlign, options.workspace));
    }
    return options.workspace;
  }
  owned.reset(std::aligned_alloc(kAlign, static_cast<size_t>(bytes)));
  if (owned == nullptr) {
    return Unexpected({StatusCode::kOutOfMemory,
                       fmt::format("{} bytes of scratch could not be allocated.", bytes)});
  }
  return owned.get();
}

}  // namespace

struct Plan::Impl {
  TensorDesc input;
  TensorDesc output;
  PlanOptions options;
  std::shared_ptr<const plan::Plan> plan;
};

const TensorDesc& Plan::input() const noexcept { return impl_->input; }
const TensorDesc& Plan::output() const noexcept { return impl_->output; }

int64_t Plan::WorkspaceBytes(int threads) const noexcept {
  return impl_->plan->WorkspaceBytes(ResolveThreads(threads));
}

Box Plan::InputBox(const Box& output_box) const {
  const plan::Box5 box = impl_->plan->InputBox(ToBox5(impl_->output, output_box));
  return {.begin = FromCoords(impl_->input, box.begin), .end = FromCoords(impl_->input, box.end)};
}

Status Plan::Run(const void* input, void* output, const RunOptions& options) const {
  const int rank = impl_->output.shape.rank();
  const Dims origin = Dims::Filled(rank, 0);
  return RunBox({.begin = origin, .end = impl_->output.shape}, input, origin, output, options);
}

Status Plan::RunBox(const Box& output_box, const void* input, const Dims& input_origin,
                    void* output, const RunOptions& options) const {
  OPSCV_RETURN_IF_ERROR(CheckBox(impl_->output, output_box));
  OPSCV_RETURN_IF_ERROR(CheckOrigin(impl_->input, input_origin));
  const Box input_box = InputBox(output_box);
  const TensorDesc input_part = Part(impl_->input, input_box);
  const TensorDesc output_part = Part(impl_->output, output_box);
  OPSCV_RETURN_IF_ERROR(CheckPointer("input", input_part, input));
  OPSCV_RETURN_IF_ERROR(CheckOutput(impl_->options, output_part, output));
  if (ops::MayMeet(input_part, PointerAt(impl_->input, input, input_origin, input_box.begin),
                   output_part, output)) {
    return InvalidArgument("output must share no memory with input, got ranges that meet.");
  }
  const int threads = ResolveThreads(options.threads);
  Scratch owned;
  OPSCV_ASSIGN_OR_RETURN(void* const workspace,
                         GetWorkspace(options, impl_->plan->WorkspaceBytes(threads), owned));
  const plan::Box5 box = ToBox5(impl_->output, output_box);
  const bool complete =
      impl_->plan->Run({.box = box,
                        .buffers = {.input = input,
                                    .input_origin = ToCoords(impl_->input, input_origin, 0),
                                    .output = output,
                                    .output_origin = box.begin},
                        .workspace = workspace,
                        .threads = threads,
                        .stop = options.stop});
  if (!complete) return {StatusCode::kCancelled, "stopped before the output was complete."};
  return {};
}

std::string Plan::Describe() const { return impl_->plan->Describe(); }

PlanFacts Plan::Facts() const {
  const ScopedDefaultFpEnv fp_env;
  static constexpr std::string_view kNames = "DHW";
  const plan::ResampleSpec& spec = impl_->plan->spec();
  PlanFacts facts;
  const int axes = impl_->input.shape.rank() - 2;
  for (size_t i = kNames.size() - static_cast<size_t>(axes); i < kNames.size(); ++i) {
    facts.axes.push_back(FactsOf(spec, spec.axes[i], kNames[i]));
  }
  for (const plan::Pass& pass : impl_->plan->Passes()) {
    PassFacts& last = facts.passes.emplace_back();
    for (const plan::Pass::Axis& axis : pass.axes) {
      last.axes += kNames[static_cast<size_t>(axis.axis)];
      last.most_taps.push_back(axis.most_taps);
    }
  }
  facts.blocks = impl_->plan->blocks();
  facts.target = impl_->plan->target();
  return facts;
}

BlockFacts Plan::BlockAt(int64_t index) const {
  const plan::Block block = impl_->plan->BlockAt(index);
  return {.plane_begin = block.plane_begin,
          .plane_end = block.plane_end,
          .row_begin = block.row_begin,
          .row_end = block.row_end,
          .pixel_begin = block.pixel_begin,
          .pixel_end = block.pixel_end};
}

Result<Plan> MakePlan(const Spec& spec, const TensorDesc& input, const TensorDesc& output,
                      const PlanOptions& options) {
  const ScopedDefaultFpEnv fp_env;  // checks round too
  Result<ops::OpCall> call = ops::BindCall(spec, input, output);
  if (!call) return Unexpected(std::move(call).error());
  const ops::OpInfo& info = *call->info;
  const ops::DoorChecks whole;
  const BoxDoor boxes;
  const ops::DoorChecks& door = options.boxes_only ? boxes : whole;
  if (Status status = info.validate(*call, door); !status.ok()) {
    return Unexpected(std::move(status));
  }
  Result<std::shared_ptr<const plan::Plan>> plan = plan::MakePlan(info.to_spec(*call));
  if (!plan) return Unexpected(std::move(plan).error());
  return Plan(std::make_shared<const Plan::Impl>(
      Plan::Impl{.input = input, .output = output, .options = options, .plan = *std::move(plan)}));
}

}  // namespace opscv
