// SPDX-License-Identifier: Apache-2.0
#include "graph/infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fp_env.h"
#include "ops/check_rules.h"
#include "ops/registry.h"
#include "ops/resize_call.h"

namespace opscv::graph {
namespace {

constexpr int64_t kUnknown = -1;

Dims ToLayout(const Dims& channels_first, Layout layout) {
  Dims dims = channels_first;
  if (layout == Layout::kChannelsFirst || dims.rank() < 3 || dims.rank() > kMaxRank) return dims;
  for (int i = 2; i < dims.rank(); ++i) dims[i - 1] = channels_first[i];
  dims[dims.rank() - 1] = channels_first[1];
  return dims;
}

// N,C,spatial of a hint for an operator of that rank, -1 where unknown.
Dims ExtentsOf(const TensorHint& hint, int rank) {
  if (!hint.shape) return Dims::Filled(rank, kUnknown);
  return ops::ChannelsFirst(*hint.shape, hint.layout);
}

// One node's call while some of it may be unknown.
class PartialCall {
 public:
  PartialCall(ops::OpCall call, const TensorHint& hint)
      : call_(std::move(call)),
        hint_(hint),
        rank_(call_.info->rank),
        extents_(ExtentsOf(hint, rank_)),
        read_(ops::ReadResizeCall(call_, ops::NameStyle::kGraph)) {}

  // The operator's own checks, with extents that fit where none are known.
  Status Validate() {
    const DType dtype = hint_.dtype.value_or(DType::kFloat32);  // which all operators take
    const bool fits = extents_.rank() == rank_;
    const Dims input = fits ? Filled() : Ones(extents_);
    call_.input = Contiguous(dtype, ToLayout(input, hint_.layout), hint_.layout);
    const Dims output = fits ? Ones(OutputExtents(input)) : Dims::Filled(rank_, 1);
    call_.output = Contiguous(dtype, ToLayout(output, hint_.layout), hint_.layout);
    if (!SpatialKnown()) DropScales();
    return call_.info->validate(call_, ops::DoorChecks());
  }

  // After Validate.
  [[nodiscard]] TensorHint Output() const {
    return {.dtype = hint_.dtype,
            .shape = ToLayout(OutputExtents(extents_), hint_.layout),
            .layout = hint_.layout};
  }

 private:
  [[nodiscard]] bool backward() const { return read_.backward(); }

  [[nodiscard]] bool SpatialKnown() const {
    const auto values = extents_.values();
    return values.size() > 2 &&
           std::none_of(values.begin() + 2, values.end(), [](int64_t v) { return v == kUnknown; });
  }

  static Dims Ones(Dims dims) {
    for (int i = 0; i < dims.rank() && i < kMaxRank; ++i) {
      if (dims[i] == kUnknown) dims[i] = 1;
    }
    return dims;
  }

  // The input's extents, what is unknown taken from the attributes.
  [[nodiscard]] Dims Filled() const {
    Dims dims = extents_;
    for (int i = 0; i < rank_; ++i) {
      if (dims[i] == kUnknown) dims[i] = backward() ? Expected(i) : 1;
    }
    return dims;
  }

  // A gradient's input extent as its attributes have it; 1 where they say nothing.
  [[nodiscard]] int64_t Expected(int i) const {
    const auto at = static_cast<size_t>(i);
    const bool has_sizes = read_.input_size.size() == static_cast<size_t>(rank_);
    if (i >= 2 && read_.output_size.size() == static_cast<size_t>(read_.axes)) {
      return read_.output_size[at - 2];
    }
    return has_sizes ? read_.input_size[at] : 1;
  }

  // N,C,spatial of the output for an input of those extents. Where lists are of a wrong length, any
  // shape: the checks then refuse the list.
  [[nodiscard]] Dims OutputExtents(const Dims& input) const {
    const auto axes = static_cast<size_t>(read_.axes);
    Dims dims = Dims::Filled(rank_, 1);
    if (backward()) {
      if (read_.input_size.size() != axes + 2) return dims;
      return Dims(std::span<const int64_t>(read_.input_size));
    }
    if (read_.output_size.size() != axes) return dims;
    dims[0] = input[0];
    dims[1] = input[1];
    for (int i = 0; i < read_.axes; ++i) dims[i + 2] = read_.output_size[static_cast<size_t>(i)];
    return dims;
  }

  // Whether a scale fits its sizes cannot be told before they are known. Scales that no size fits,
  // and those beside the rule that takes none, stay to be refused.
  void DropScales() {
    if (call_.info->takes_rule && call_.rule == IndexRule::kExact) return;
    const auto drop = [](double& scale) {
      if (std::isfinite(scale) && scale > 0.0) scale = 0.0;
    };
    for (AttrValue& value : call_.attrs) {
      if (auto* scale = std::get_if<double>(&value)) drop(*scale);
      if (auto* list = std::get_if<FloatList>(&value)) std::ranges::for_each(*list, drop);
    }
  }

  ops::OpCall call_;
  const TensorHint& hint_;
  int rank_;
  Dims extents_;  // N,C,spatial of the input
  ops::ResizeCall read_;
};

Result<TensorHint> InferNode(const GraphNode& node, const TensorHint& input) {
  Result<ops::OpCall> call = ops::BindCall(node.spec, TensorDesc(), TensorDesc());
  if (!call) return Unexpected(In(node, call.error()));
  PartialCall partial(*std::move(call), input);
  if (Status status = partial.Validate(); !status.ok()) return Unexpected(In(node, status));
  return partial.Output();
}

}  // namespace

std::string ShapeText(const Dims& shape) {
  return fmt::format("({})", fmt::join(shape.values(), ", "));
}

std::string_view NameOf(Layout layout) {
  return layout == Layout::kChannelsFirst ? "channels_first" : "channels_last";
}

std::string HintText(const TensorHint& hint) {
  std::string text(hint.dtype ? opscv::NameOf(*hint.dtype) : "any type");
  text += ' ';
  text += hint.shape ? ShapeText(*hint.shape) : "of any shape";
  if (hint.layout == Layout::kChannelsLast) text += fmt::format(", {}", NameOf(hint.layout));
  return text;
}

TensorHint HintOf(const TensorDesc& tensor) {
  return {.dtype = tensor.dtype, .shape = tensor.shape, .layout = tensor.layout};
}

Result<TensorHint> Merge(std::string_view subject, const TensorHint& declared,
                         const TensorHint& given) {
  const auto refuse = [&] {
    return Unexpected(
        InvalidArgument("{} must be {}, got {}.", subject, HintText(declared), HintText(given)));
  };
  TensorHint both = declared;
  if (!both.dtype) both.dtype = given.dtype;
  if (given.dtype && given.dtype != both.dtype) return refuse();
  if (given.layout != declared.layout) return refuse();
  if (!given.shape) return both;
  if (!declared.shape) {
    both.shape = given.shape;
    return both;
  }
  if (given.shape->rank() != declared.shape->rank()) return refuse();
  for (int i = 0; i < declared.shape->rank() && i < kMaxRank; ++i) {
    int64_t& extent = (*both.shape)[i];
    const int64_t other = (*given.shape)[i];
    if (extent == kUnknown) extent = other;
    if (other != kUnknown && other != extent) return refuse();
  }
  return both;
}

Result<std::vector<TensorHint>> Infer(const Graph& graph, const Wiring& wiring,
                                      std::span<const TensorHint> inputs) {
  const ScopedDefaultFpEnv fp_env;  // checks round
  std::vector<TensorHint> results(graph.nodes().size());
  for (const int i : wiring.order) {
    const auto node = static_cast<size_t>(i);
    const Source& source = wiring.sources[node];
    const auto from = static_cast<size_t>(source.index);
    Result<TensorHint> result =
        InferNode(graph.nodes()[node], source.is_input ? inputs[from] : results[from]);
    if (!result) return Unexpected(std::move(result).error());
    results[node] = *std::move(result);
  }
  return results;
}

}  // namespace opscv::graph
