// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "base/lru_cache.h"
#include "base/status.h"
#include "base/view_key.h"
#include "graph/infer.h"
#include "graph/memory.h"
#include "graph/wiring.h"
#include "ops/check_rules.h"
#include "opscv/graph.h"

namespace opscv {
namespace {

constexpr size_t kAlign = 64;
constexpr int64_t kMostBytes = int64_t{1} << 62;  // of all intermediates: sums stay far from 2^63

// Where a value lies during a run.
struct Place {
  enum class Kind : uint8_t { kInput, kOutput, kArena };
  Kind kind = Kind::kArena;
  int64_t at = 0;  // number of the input or output, or offset
};

struct Step {
  int node;
  Plan plan;
  Place from;
  Place to;
};

// The graph on certain shapes: everything decided, nothing allocated.
struct Planned {
  std::vector<Step> steps;
  graph::MemoryPlan memory;

  [[nodiscard]] int64_t ScratchBytes(int threads) const {
    int64_t most = 0;
    for (const Step& step : steps) most = std::max(most, step.plan.WorkspaceBytes(threads));
    return most;
  }
};
using PlannedPtr = std::shared_ptr<const Planned>;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

struct Arena {
  std::unique_ptr<void, Free> memory;
  int64_t bytes = 0;
};

// Memory for runs, kept between them.
class Arenas {
 public:
  // At least `bytes`; null memory where there are no more.
  Arena Take(int64_t bytes) {
    Arena arena;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        arena = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (arena.bytes >= bytes) return arena;
    arena.memory.reset();  // before the larger one is asked for
    arena.memory.reset(std::aligned_alloc(kAlign, static_cast<size_t>(bytes)));
    arena.bytes = arena.memory == nullptr ? 0 : bytes;
    return arena;
  }
  void Give(Arena arena) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(arena));
  }

 private:
  std::mutex mutex_;
  std::vector<Arena> idle_;
};

const TensorDesc& DescOf(const TensorDesc& tensor) { return tensor; }
template <typename View>
const TensorDesc& DescOf(const View& view) {
  return view.desc;
}

// The tensors of a run as a key.
struct Key {
  std::vector<TensorDesc> tensors;  // inputs, then outputs

  bool operator==(const Key& other) const {
    return std::ranges::equal(tensors, other.tensors, &SameView);
  }
};

template <typename Inputs, typename Outputs>
uint64_t HashOfTensors(const Inputs& inputs, const Outputs& outputs) {
  uint64_t hash = 0;
  for (const auto& input : inputs) hash = HashWith(hash, HashOf(DescOf(input)));
  for (const auto& output : outputs) hash = HashWith(hash, HashOf(DescOf(output)));
  return hash;
}

template <typename Inputs, typename Outputs>
bool IsKeyOf(const Key& key, const Inputs& inputs, const Outputs& outputs) {
  size_t i = 0;
  const auto same = [&](const auto& view) { return SameView(key.tensors[i++], DescOf(view)); };
  return std::ranges::all_of(inputs, same) && std::ranges::all_of(outputs, same);
}

Status CheckCount(std::string_view what, size_t expected, size_t got) {
  if (expected == got) return {};
  return InvalidArgument("{}s must be {}, one for each {} of the graph, got {}.", what, expected,
                         what, got);
}

// A shape of a real tensor has no unknown extents.
Status CheckExtents(std::string_view subject, const TensorDesc& tensor) {
  if (tensor.shape.rank() > kMaxRank) {
    return InvalidArgument("{} must have at most {} dimensions, got {}.", subject, kMaxRank,
                           tensor.shape.rank());
  }
  const auto extents = tensor.shape.values();
  if (std::ranges::any_of(extents, [](int64_t extent) { return extent < 0; })) {
    return InvalidArgument("{} must have extents >= 0, got {}.", subject,
                           graph::ShapeText(tensor.shape));
  }
  return {};
}

Status CheckAddress(std::string_view what, std::string_view name, const TensorDesc& tensor,
                    const void* data) {
  if (data != nullptr) {
    const auto element = static_cast<uintptr_t>(SizeOf(tensor.dtype));
    if (reinterpret_cast<uintptr_t>(data) % element == 0) return {};
    return InvalidArgument("{} '{}' must be aligned to its elements' {} bytes, got {}.", what, name,
                           element, data);
  }
  if (ops::ReachOf(tensor).above == 0) return {};
  return {StatusCode::kNullPointer, fmt::format("{} '{}' must not be null.", what, name)};
}

int64_t BytesOf(const TensorDesc& tensor) {
  return CheckedProduct(tensor.shape.values()).value_or(0) * SizeOf(tensor.dtype);
}

// Multiplications and additions of a plan, an upper bound: every pass turns the extents of its axes
// from the input's into the output's.
double MultiplyAdds(const Plan& plan) {
  const PlanFacts facts = plan.Facts();
  const bool last = plan.input().layout == Layout::kChannelsLast;
  const auto dim_of = [&](char axis) {
    const auto place = std::ranges::find(facts.axes, axis, &AxisFacts::name);
    return static_cast<int>(place - facts.axes.begin()) + (last ? 1 : 2);
  };
  Dims shape = plan.input().shape;
  double sum = 0.0;
  for (const PassFacts& pass : facts.passes) {
    double products = 1.0;
    for (size_t i = 0; i < pass.axes.size(); ++i) {
      const int dim = dim_of(pass.axes[i]);
      shape[dim] = plan.output().shape[dim];
      products *= static_cast<double>(pass.most_taps[i]);
    }
    for (const int64_t extent : shape.values()) products *= static_cast<double>(extent);
    sum += products;
  }
  return sum;
}

}  // namespace

struct Session::Impl {
  Impl(Graph described, graph::Wiring wired)
      : graph(std::move(described)), wiring(std::move(wired)), planned(kPlannedShapes) {}

  // The plan for those tensors, made where there is none.
  template <typename Inputs, typename Outputs>
  Result<PlannedPtr> Get(const Inputs& inputs, const Outputs& outputs) {
    if (Status status = CheckCounts(inputs.size(), outputs.size()); !status.ok()) {
      return Unexpected(std::move(status));
    }
    const uint64_t hash = HashOfTensors(inputs, outputs);
    std::optional<PlannedPtr> found =
        planned.Find(hash, [&](const Key& key) { return IsKeyOf(key, inputs, outputs); });
    if (found) return *std::move(found);
    Key key;
    for (const auto& input : inputs) key.tensors.push_back(DescOf(input));
    for (const auto& output : outputs) key.tensors.push_back(DescOf(output));
    auto made = std::make_shared<Planned>();
    const auto tensors = std::span<const TensorDesc>(key.tensors);
    if (Status status = Make(tensors.first(inputs.size()), tensors.subspan(inputs.size()), *made);
        !status.ok()) {
      return Unexpected(std::move(status));
    }
    times_planned.fetch_add(1, std::memory_order_relaxed);
    return planned.Insert(hash, std::move(key), std::move(made));
  }

  [[nodiscard]] Status CheckCounts(size_t inputs, size_t outputs) const {
    OPSCV_RETURN_IF_ERROR(CheckCount("input", graph.inputs().size(), inputs));
    return CheckCount("output", graph.outputs().size(), outputs);
  }

  // The result of every node for those inputs.
  [[nodiscard]] Result<std::vector<TensorHint>> Infer(std::span<const TensorDesc> inputs) const {
    std::vector<TensorHint> hints;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const GraphInput& declared = graph.inputs()[i];
      const std::string subject = fmt::format("input '{}'", declared.name);
      if (Status status = CheckExtents(subject, inputs[i]); !status.ok()) {
        return Unexpected(std::move(status));
      }
      Result<TensorHint> hint = graph::Merge(subject, declared.hint, graph::HintOf(inputs[i]));
      if (!hint) return Unexpected(std::move(hint).error());
      hints.push_back(*std::move(hint));
    }
    return graph::Infer(graph, wiring, hints);
  }

  // The dense tensor of a node's result whose shape is known.
  static TensorDesc Dense(const TensorHint& hint) {
    return Contiguous(*hint.dtype, *hint.shape, hint.layout);
  }

  Status Make(std::span<const TensorDesc> inputs, std::span<const TensorDesc> outputs,
              Planned& result) const {
    const Result<std::vector<TensorHint>> hints = Infer(inputs);
    if (!hints) return hints.error();
    std::vector<TensorDesc> values;  // of every node
    for (const TensorHint& hint : *hints) values.push_back(Dense(hint));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto node = static_cast<size_t>(wiring.outputs[i]);
      const std::string subject = fmt::format("output '{}'", graph.outputs()[i].name);
      OPSCV_RETURN_IF_ERROR(CheckExtents(subject, outputs[i]));
      const Result<TensorHint> same =
          graph::Merge(subject, (*hints)[node], graph::HintOf(outputs[i]));
      if (!same) return same.error();
      values[node] = outputs[i];
    }
    OPSCV_RETURN_IF_ERROR(MakeMemory(values, result.memory));
    return MakeSteps(inputs, values, result);
  }

  // The number of each intermediate; -1 for outputs.
  [[nodiscard]] std::vector<int> Intermediates() const {
    std::vector<int> numbers(graph.nodes().size(), -1);
    int next = 0;
    for (const int node : wiring.order) {
      const auto i = static_cast<size_t>(node);
      if (wiring.output_of[i] < 0) numbers[i] = next++;
    }
    return numbers;
  }

  Status MakeMemory(const std::vector<TensorDesc>& values, graph::MemoryPlan& memory) const {
    const std::vector<int> numbers = Intermediates();
    std::vector<graph::Life> lives;
    int64_t total = 0;
    for (size_t step = 0; step < wiring.order.size(); ++step) {
      const auto node = static_cast<size_t>(wiring.order[step]);
      const auto now = static_cast<int>(step);
      const graph::Source& source = wiring.sources[node];
      if (!source.is_input && numbers[static_cast<size_t>(source.index)] >= 0) {
        lives[static_cast<size_t>(numbers[static_cast<size_t>(source.index)])].last = now;
      }
      if (numbers[node] < 0) continue;
      const std::optional<int64_t> count = CheckedProduct(values[node].shape.values());
      const std::optional<int64_t> bytes =
          count ? CheckedMul(*count, SizeOf(values[node].dtype)) : std::nullopt;
      const std::optional<int64_t> padded =
          bytes ? CheckedAdd(*bytes, static_cast<int64_t>(kAlign)) : std::nullopt;
      const std::optional<int64_t> sum = padded ? CheckedAdd(total, *padded) : std::nullopt;
      if (!sum || *sum > kMostBytes) {
        return graph::In(graph.nodes()[node],
                         InvalidArgument("its result and those before it must be below 2^62 "
                                         "bytes together, got the shape {}.",
                                         graph::ShapeText(values[node].shape)));
      }
      total = *sum;
      lives.push_back({.bytes = *bytes, .first = now, .last = now});
    }
    memory = graph::PlanMemory(lives, static_cast<int>(wiring.order.size()));
    return {};
  }

  Status MakeSteps(std::span<const TensorDesc> inputs, const std::vector<TensorDesc>& values,
                   Planned& result) const {
    const std::vector<int> numbers = Intermediates();
    const auto place_of = [&](int node) -> Place {
      const auto i = static_cast<size_t>(node);
      if (numbers[i] < 0) return {.kind = Place::Kind::kOutput, .at = wiring.output_of[i]};
      return {.at = result.memory.offsets[static_cast<size_t>(numbers[i])]};
    };
    for (const int i : wiring.order) {
      const auto node = static_cast<size_t>(i);
      const graph::Source& source = wiring.sources[node];
      const auto from = static_cast<size_t>(source.index);
      Result<Plan> plan = MakePlan(graph.nodes()[node].spec,
                                   source.is_input ? inputs[from] : values[from], values[node]);
      if (!plan) return graph::In(graph.nodes()[node], plan.error());
      const Place origin = source.is_input ? Place{.kind = Place::Kind::kInput, .at = source.index}
                                           : place_of(source.index);
      result.steps.push_back(
          {.node = i, .plan = *std::move(plan), .from = origin, .to = place_of(i)});
    }
    return {};
  }

  [[nodiscard]] Status CheckTensors(std::span<const ConstTensorView> inputs,
                                    std::span<const TensorView> outputs) const {
    for (size_t i = 0; i < inputs.size(); ++i) {
      OPSCV_RETURN_IF_ERROR(
          CheckAddress("input", graph.inputs()[i].name, inputs[i].desc, inputs[i].data));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string& name = graph.outputs()[i].name;
      OPSCV_RETURN_IF_ERROR(CheckAddress("output", name, outputs[i].desc, outputs[i].data));
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (ops::MayMeet(inputs[k].desc, inputs[k].data, outputs[i].desc, outputs[i].data)) {
          return InvalidArgument(
              "output '{}' must share no memory with input '{}', got ranges that meet.", name,
              graph.inputs()[k].name);
        }
      }
      for (size_t k = 0; k < i; ++k) {
        if (ops::MayMeet(outputs[k].desc, outputs[k].data, outputs[i].desc, outputs[i].data)) {
          return InvalidArgument(
              "output '{}' must share no memory with output '{}', got ranges that meet.", name,
              graph.outputs()[k].name);
        }
      }
    }
    return {};
  }

  // Runs the steps in memory that is there.
  Status RunSteps(const Planned& plan, std::span<const ConstTensorView> inputs,
                  std::span<const TensorView> outputs, char* workspace,
                  const RunOptions& options) const {
    RunOptions inner = options;
    // A workspace that no step needs may be null.
    inner.workspace = workspace == nullptr ? nullptr : workspace + plan.memory.arena_bytes;
    const auto address = [&](const Place& place) -> void* {
      if (place.kind == Place::Kind::kArena) return workspace + place.at;
      return outputs[static_cast<size_t>(place.at)].data;
    };
    for (const Step& step : plan.steps) {
      const void* from = step.from.kind == Place::Kind::kInput
                             ? inputs[static_cast<size_t>(step.from.at)].data
                             : address(step.from);
      const Status status = step.plan.Run(from, address(step.to), inner);
      if (!status.ok()) return graph::In(graph.nodes()[static_cast<size_t>(step.node)], status);
    }
    return {};
  }

  Graph graph;
  graph::Wiring wiring;
  LruCache<Key, PlannedPtr> planned;
  Arenas arenas;
  std::atomic<int64_t> times_planned{0};
};

Status Session::Run(std::span<const ConstTensorView> inputs, std::span<const TensorView> outputs,
                    const RunOptions& options) const {
  const Result<PlannedPtr> plan = impl_->Get(inputs, outputs);
  if (!plan) return plan.error();
  OPSCV_RETURN_IF_ERROR(impl_->CheckTensors(inputs, outputs));
  if (options.workspace != nullptr) {
    if (reinterpret_cast<uintptr_t>(options.workspace) % kAlign != 0) {
      return InvalidArgument("options.workspace must be aligned to {} bytes, got {}.", kAlign,
                             options.workspace);
    }
    return impl_->RunSteps(**plan, inputs, outputs, static_cast<char*>(options.workspace), options);
  }
  const int64_t bytes = (*plan)->memory.arena_bytes + (*plan)->ScratchBytes(options.threads);
  if (bytes == 0) return impl_->RunSteps(**plan, inputs, outputs, nullptr, options);
  Arena arena = impl_->arenas.Take(bytes);
  if (arena.memory == nullptr) {
    return {StatusCode::kOutOfMemory,
            fmt::format("{} bytes for intermediates and scratch could not be allocated.", bytes)};
  }
  Status status =
      impl_->RunSteps(**plan, inputs, outputs, static_cast<char*>(arena.memory.get()), options);
  impl_->arenas.Give(std::move(arena));
  return status;
}

Result<std::vector<TensorDesc>> Session::OutputsFor(std::span<const TensorDesc> inputs) const {
  if (Status status = CheckCount("input", impl_->graph.inputs().size(), inputs.size());
      !status.ok()) {
    return Unexpected(std::move(status));
  }
  const Result<std::vector<TensorHint>> hints = impl_->Infer(inputs);
  if (!hints) return Unexpected(hints.error());
  std::vector<TensorDesc> outputs;
  for (const int node : impl_->wiring.outputs) {
    outputs.push_back(Impl::Dense((*hints)[static_cast<size_t>(node)]));
  }
  return outputs;
}

Result<SessionFacts> Session::Facts(std::span<const TensorDesc> inputs,
                                    std::span<const TensorDesc> outputs, int threads) const {
  const Result<PlannedPtr> plan = impl_->Get(inputs, outputs);
  if (!plan) return Unexpected(plan.error());
  const Planned& planned = **plan;
  SessionFacts facts;
  for (size_t i = 0; i < planned.steps.size(); ++i) {
    const Step& step = planned.steps[i];
    const GraphNode& node = impl_->graph.nodes()[static_cast<size_t>(step.node)];
    const bool inside = step.to.kind == Place::Kind::kArena;
    facts.steps.push_back({.node = node.name,
                           .op = node.spec.op(),
                           .plan = step.plan,
                           .multiply_adds = MultiplyAdds(step.plan),
                           .bytes_read = BytesOf(step.plan.input()),
                           .bytes_written = BytesOf(step.plan.output()),
                           .offset = inside ? step.to.at : -1,
                           .live_bytes = planned.memory.live_bytes[i]});
  }
  facts.peak_bytes = planned.memory.peak_bytes;
  facts.arena_bytes = planned.memory.arena_bytes;
  facts.workspace_bytes = facts.arena_bytes + planned.ScratchBytes(threads);
  return facts;
}

const Graph& Session::graph() const { return impl_->graph; }

int64_t Session::times_planned() const {
  return impl_->times_planned.load(std::memory_order_relaxed);
}

Result<Session> MakeSession(const Graph& graph) {
  if (Status status = graph.Check(); !status.ok()) return Unexpected(std::move(status));
  Result<graph::Wiring> wiring = graph::Wire(graph);
  if (!wiring) return Unexpected(std::move(wiring).error());
  return Session(std::make_shared<Session::Impl>(graph, *std::move(wiring)));
}

}  // namespace opscv
