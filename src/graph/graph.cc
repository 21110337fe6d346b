// SPDX-License-Identifier: Apache-2.0
#include "opscv/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "base/status.h"
#include "graph/infer.h"
#include "graph/wiring.h"
#include "ops/registry.h"

namespace opscv {
namespace {

std::string TextOf(bool value) { return value ? "true" : "false"; }
std::string TextOf(int64_t value) { return fmt::format("{}", value); }
std::string TextOf(double value) { return fmt::format("{}", value); }
template <typename T>
std::string TextOf(const std::vector<T>& list) {
  return fmt::format("[{}]", fmt::join(list, ", "));
}
std::string TextOf(const AttrValue& value) {
  return std::visit([](const auto& alternative) { return TextOf(alternative); }, value);
}

bool IsFinite(const AttrValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return std::isfinite(*number);
  const auto* list = std::get_if<FloatList>(&value);
  return list == nullptr || std::ranges::all_of(*list, [](double v) { return std::isfinite(v); });
}

void SetIn(Spec& spec, std::string_view attr, const AttrValue& value) {
  std::visit([&](const auto& alternative) { spec.Set(attr, alternative); }, value);
}

// Whether the operator has an attribute of that name and type. The registry judges it, in a call
// whose required attributes are all given.
Status CheckAttr(const ops::OpInfo& info, std::string_view attr, const AttrValue& value) {
  Spec spec(info.name);
  for (const ops::AttrInfo& known : info.attrs) SetIn(spec, known.name, known.default_value);
  SetIn(spec, attr, value);
  const Result<ops::OpCall> call = ops::BindCall(spec, TensorDesc(), TensorDesc());
  if (!call) return call.error();
  if (!IsFinite(value)) {
    return InvalidArgument("{} must be finite, got {}.", attr, TextOf(value));
  }
  return {};
}

Status CheckRule(const ops::OpInfo& info, IndexRule rule) {
  Spec spec(info.name);
  for (const ops::AttrInfo& known : info.attrs) SetIn(spec, known.name, known.default_value);
  spec.SetRule(rule);
  const Result<ops::OpCall> call = ops::BindCall(spec, TensorDesc(), TensorDesc());
  return call ? Status() : call.error();
}

Status InAttr(std::string_view node, std::string_view attr, const AttrValue& value,
              const Status& status) {
  if (status.ok()) return {};
  return {status.code(),
          fmt::format("node '{}', {} = {}: {}", node, attr, TextOf(value), status.message())};
}

Status InNode(std::string_view node, const Status& status) {
  if (status.ok()) return {};
  return {status.code(), fmt::format("node '{}': {}", node, status.message())};
}

Status CheckName(std::string_view what, std::string_view name) {
  const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  if (plain) return {};
  return InvalidArgument("the name of {} must consist of letters, digits, '_' and '-', got '{}'.",
                         what, name);
}

Status CheckHint(std::string_view name, const TensorHint& hint) {
  if (!hint.shape) return {};
  if (hint.shape->rank() > kMaxRank) {
    return InvalidArgument("input '{}' must have at most {} dimensions, got {}.", name, kMaxRank,
                           hint.shape->rank());
  }
  for (const int64_t extent : hint.shape->values()) {
    if (extent < -1) {
      return InvalidArgument("input '{}' must have extents >= 0, or -1 for unknown, got {}.", name,
                             graph::ShapeText(*hint.shape));
    }
  }
  return {};
}

}  // namespace

Status Graph::CheckNewName(std::string_view what, std::string_view name) const {
  OPSCV_RETURN_IF_ERROR(CheckName(what, name));
  const auto is_taken = [&](const auto& parts) {
    return std::ranges::any_of(parts, [&](const auto& part) { return part.name == name; });
  };
  if (is_taken(inputs_) || is_taken(nodes_)) {
    return InvalidArgument("the name of {} must be new among inputs and nodes, got '{}' again.",
                           what, name);
  }
  return {};
}

GraphNode* Graph::FindNode(std::string_view name) {
  const auto found = std::ranges::find(nodes_, name, &GraphNode::name);
  return found == nodes_.end() ? nullptr : &*found;
}

Status Graph::AddInput(std::string_view name, const TensorHint& hint) {
  OPSCV_RETURN_IF_ERROR(CheckNewName("an input", name));
  OPSCV_RETURN_IF_ERROR(CheckHint(name, hint));
  inputs_.push_back({.name = std::string(name), .hint = hint});
  return {};
}

Status Graph::AddNode(std::string_view name, const Spec& spec, std::string_view source) {
  OPSCV_RETURN_IF_ERROR(CheckNewName("a node", name));
  const Result<const ops::OpInfo*> info = ops::FindOperator(spec.op());
  if (!info) return InNode(name, info.error());
  Spec canonical((*info)->name);
  canonical.SetRule(spec.rule());
  OPSCV_RETURN_IF_ERROR(InNode(name, CheckRule(**info, spec.rule())));
  for (const auto& [attr, value] : spec.attrs()) {
    OPSCV_RETURN_IF_ERROR(InAttr(name, attr, value, CheckAttr(**info, attr, value)));
    SetIn(canonical, attr, value);
  }
  nodes_.push_back(
      {.name = std::string(name), .spec = std::move(canonical), .source = std::string(source)});
  return {};
}

namespace {

Status NoSuchNode(std::string_view name, const std::vector<GraphNode>& nodes) {
  std::vector<std::string_view> names;
  for (const GraphNode& node : nodes) names.push_back(node.name);
  return {StatusCode::kNotFound,
          fmt::format("node must be one of [{}], got '{}'.", fmt::join(names, ", "), name)};
}

}  // namespace

Status Graph::Connect(std::string_view node, std::string_view input, std::string_view source) {
  GraphNode* found = FindNode(node);
  if (found == nullptr) return NoSuchNode(node, nodes_);
  const ops::OpInfo& info = graph::InfoOf(*found);
  if (input != info.input.name) {
    return graph::In(
        *found, {StatusCode::kNotFound, fmt::format("{} has no input '{}'; it has {}.", info.name,
                                                    input, info.input.name)});
  }
  found->source = source;
  return {};
}

Status Graph::Set(std::string_view node, std::string_view attr, const AttrValue& value) {
  GraphNode* found = FindNode(node);
  if (found == nullptr) return NoSuchNode(node, nodes_);
  OPSCV_RETURN_IF_ERROR(InAttr(node, attr, value, CheckAttr(graph::InfoOf(*found), attr, value)));
  SetIn(found->spec, attr, value);
  return {};
}

Status Graph::SetRule(std::string_view node, IndexRule rule) {
  GraphNode* found = FindNode(node);
  if (found == nullptr) return NoSuchNode(node, nodes_);
  OPSCV_RETURN_IF_ERROR(graph::In(*found, CheckRule(graph::InfoOf(*found), rule)));
  found->spec.SetRule(rule);
  return {};
}

Status Graph::AddOutput(std::string_view name, std::string_view source) {
  OPSCV_RETURN_IF_ERROR(CheckName("an output", name));
  if (std::ranges::count(outputs_, name, &GraphOutput::name) > 0) {
    return InvalidArgument("the name of an output must be new among outputs, got '{}' again.",
                           name);
  }
  if (source.empty()) {
    return InvalidArgument("output '{}' must name the node that it shows, got no source.", name);
  }
  outputs_.push_back({.name = std::string(name), .source = std::string(source)});
  return {};
}

Status Graph::Check() const {
  const Result<std::vector<NamedHint>> shapes = InferShapes();
  return shapes ? Status() : shapes.error();
}

Result<std::vector<NamedHint>> Graph::InferShapes() const {
  std::vector<TensorHint> hints;
  for (const GraphInput& input : inputs_) hints.push_back(input.hint);
  return InferShapes(hints);
}

Result<std::vector<NamedHint>> Graph::InferShapes(std::span<const TensorHint> inputs) const {
  if (inputs.size() != inputs_.size()) {
    return Unexpected(InvalidArgument("inputs must be {}, one for each input of the graph, got {}.",
                                      inputs_.size(), inputs.size()));
  }
  std::vector<TensorHint> hints;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (Status status = CheckHint(inputs_[i].name, inputs[i]); !status.ok()) {
      return Unexpected(std::move(status));
    }
    Result<TensorHint> hint =
        graph::Merge(fmt::format("input '{}'", inputs_[i].name), inputs_[i].hint, inputs[i]);
    if (!hint) return Unexpected(std::move(hint).error());
    hints.push_back(*std::move(hint));
  }
  const Result<graph::Wiring> wiring = graph::Wire(*this);
  if (!wiring) return Unexpected(wiring.error());
  Result<std::vector<TensorHint>> results = graph::Infer(*this, *wiring, hints);
  if (!results) return Unexpected(std::move(results).error());
  std::vector<NamedHint> named;
  for (const int node : wiring->order) {
    const auto i = static_cast<size_t>(node);
    named.push_back({.name = nodes_[i].name, .hint = (*results)[i]});
  }
  return named;
}

}  // namespace opscv
