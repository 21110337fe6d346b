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

// The tensor cut down to a box of it, and how far it reaches.
struct Part {
  TensorDesc tensor;
  ops::Reach reach;

  Part(const TensorDesc& whole, const Box& box) : tensor(whole) {
    for (int i = 0; i < whole.shape.rank(); ++i) tensor.shape[i] = box.end[i] - box.begin[i];
    reach = ops::ReachOf(tensor);
  }
};

Status CheckPointer(std::string_view name, const Part& part, const void* data) {
  if (part.reach.above == 0) return {};
  if (data == nullptr) return {StatusCode::kNullPointer, fmt::format("{} must not be null.", name)};
  const auto element = static_cast<uintptr_t>(SizeOf(part.tensor.dtype));
  if (reinterpret_cast<uintptr_t>(data) % element != 0) {
    return InvalidArgument("{} must be aligned to its elements' {} bytes, got {}.", name, element,
                           data);
  }
  return {};
}

// `read` and `written` are the addresses of the parts' first elements.
Status CheckApart(const Part& input, uintptr_t read, const Part& output, uintptr_t written) {
  const auto begins_after = [](const Part& a, uintptr_t a_first, const Part& b, uintptr_t b_first) {
    return a_first - static_cast<uintptr_t>(a.reach.below) >=
           b_first + static_cast<uintptr_t>(b.reach.above);
  };
  if (begins_after(input, read, output, written) || begins_after(output, written, input, read)) {
    return {};
  }
  if (!ops::MayMeet(input.tensor, reinterpret_cast<const void*>(read), output.tensor,
                    reinterpret_cast<const void*>(written))) {
    return {};
  }
  return InvalidArgument("output must share no memory with input, got ranges that meet.");
}

// Bytes from the element at `from` to the one at `to`.
int64_t Distance(const TensorDesc& tensor, const Dims& from, const Dims& to) {
  int64_t elements = 0;
  for (int i = 0; i < tensor.shape.rank(); ++i) {
    elements += (to[i] - from[i]) * tensor.strides[i];
  }
  return elements * SizeOf(tensor.dtype);
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

// The workspace of the options, or one that `owned` keeps, for a plan that needs one.
Result<void*> GetWorkspace(const RunOptions& options, const plan::Plan& plan, int threads,
                           Scratch& owned) {
  if (options.workspace != nullptr) {
    if (reinterpret_cast<uintptr_t>(options.workspace) % kAlign != 0) {
      return Unexpected(InvalidArgument("options.workspace must be aligned to {} bytes, got {}.",
                                        kAlign, options.workspace));
    }
    return options.workspace;
  }
  const int64_t bytes = plan.WorkspaceBytes(threads);
  owned.reset(std::aligned_alloc(kAlign, static_cast<size_t>(bytes)));
  if (owned == nullptr) {
    return Unexpected({StatusCode::kOutOfMemory,
                       fmt::format("{} bytes of scratch could not be allocated.", bytes)});
  }
  return owned.get();
}

}  // namespace

struct Plan::Impl {
  Impl(const TensorDesc& in, const TensorDesc& out, const PlanOptions& plan_options,
       std::shared_ptr<const plan::Plan> made)
      : input(in),
        output(out),
        options(plan_options),
        plan(std::move(made)),
        needs_scratch(plan->WorkspaceBytes(1) > 0),
        whole_input(InputBox(WholeBox())),
        whole_input_part(input, whole_input),
        whole_input_begin(Distance(input, Dims::Filled(input.shape.rank(), 0), whole_input.begin)),
        whole_output_part(output, WholeBox()) {}

  [[nodiscard]] Box WholeBox() const {
    return {.begin = Dims::Filled(output.shape.rank(), 0), .end = output.shape};
  }
  [[nodiscard]] Box InputBox(const Box& output_box) const {
    const plan::Box5 box = plan->InputBox(ToBox5(output, output_box));
    return {.begin = FromCoords(input, box.begin), .end = FromCoords(input, box.end)};
  }
  // Runs a box of the output, `output_part`; `input_part` is what it reads, and begins so many
  // bytes after the input's address.
  Status Run(const plan::Box5& box, const Part& input_part, int64_t input_begin,
             const Part& output_part, const plan::Buffers& buffers, const RunOptions& run) const;

  TensorDesc input;
  TensorDesc output;
  PlanOptions options;
  std::shared_ptr<const plan::Plan> plan;
  // What every run of the whole output would find out again.
  bool needs_scratch;
  Box whole_input;
  Part whole_input_part;
  int64_t whole_input_begin;
  Part whole_output_part;
};

const TensorDesc& Plan::input() const noexcept { return impl_->input; }
const TensorDesc& Plan::output() const noexcept { return impl_->output; }

int64_t Plan::WorkspaceBytes(int threads) const noexcept {
  return impl_->plan->WorkspaceBytes(ResolveThreads(threads));
}

Box Plan::InputBox(const Box& output_box) const { return impl_->InputBox(output_box); }

Status Plan::Impl::Run(const plan::Box5& box, const Part& input_part, int64_t input_begin,
                       const Part& output_part, const plan::Buffers& buffers,
                       const RunOptions& run) const {
  OPSCV_RETURN_IF_ERROR(CheckPointer("input", input_part, buffers.input));
  OPSCV_RETURN_IF_ERROR(CheckPointer("output", output_part, buffers.output));
  if (options.boxes_only) {
    OPSCV_RETURN_IF_ERROR(ops::CheckNoSelfOverlap("output", output_part.tensor));
  }
  OPSCV_RETURN_IF_ERROR(CheckApart(
      input_part, reinterpret_cast<uintptr_t>(buffers.input) + static_cast<uintptr_t>(input_begin),
      output_part, reinterpret_cast<uintptr_t>(buffers.output)));
  const int threads = ResolveThreads(run.threads);
  Scratch owned;
  void* workspace = nullptr;
  if (needs_scratch) {
    OPSCV_ASSIGN_OR_RETURN(workspace, GetWorkspace(run, *plan, threads, owned));
  }
  const bool complete = plan->Run({.box = box,
                                   .buffers = buffers,
                                   .workspace = workspace,
                                   .threads = threads,
                                   .stop = run.stop});
  if (!complete) return {StatusCode::kCancelled, "stopped before the output was complete."};
  return {};
}

Status Plan::Run(const void* input, void* output, const RunOptions& options) const {
  return impl_->Run(impl_->plan->OutputBox(), impl_->whole_input_part, impl_->whole_input_begin,
                    impl_->whole_output_part,
                    {.input = input, .input_origin = {}, .output = output, .output_origin = {}},
                    options);
}

Status Plan::RunBox(const Box& output_box, const void* input, const Dims& input_origin,
                    void* output, const RunOptions& options) const {
  OPSCV_RETURN_IF_ERROR(CheckBox(impl_->output, output_box));
  OPSCV_RETURN_IF_ERROR(CheckOrigin(impl_->input, input_origin));
  const Box input_box = InputBox(output_box);
  const plan::Box5 box = ToBox5(impl_->output, output_box);
  return impl_->Run(box, Part(impl_->input, input_box),
                    Distance(impl_->input, input_origin, input_box.begin),
                    Part(impl_->output, output_box),
                    {.input = input,
                     .input_origin = ToCoords(impl_->input, input_origin, 0),
                     .output = output,
                     .output_origin = box.begin},
                    options);
}

double Plan::EstimatedSeconds(int threads) const noexcept {
  return impl_->plan->EstimatedSeconds(ResolveThreads(threads));
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
  facts.choices = impl_->plan->Choices();
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
  return Plan(std::make_shared<const Plan::Impl>(input, output, options, *std::move(plan)));
}

}  // namespace opscv
