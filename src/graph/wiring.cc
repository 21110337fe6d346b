// SPDX-License-Identifier: Apache-2.0
#include "graph/wiring.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>

#include "ops/registry.h"

namespace opscv::graph {
namespace {

// Where names lead to; built once for a graph.
class Names {
 public:
  explicit Names(const Graph& graph) : graph_(graph) {
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      places_.emplace(graph.inputs()[i].name, Source{true, static_cast<int>(i)});
    }
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      places_.emplace(graph.nodes()[i].name, Source{false, static_cast<int>(i)});
    }
  }

  [[nodiscard]] Result<Source> Find(std::string_view subject, std::string_view source) const {
    const std::string_view name = source.substr(0, source.find('.'));
    const auto found = places_.find(name);
    if (found == places_.end()) {
      return Unexpected(InvalidArgument("{} must name an input or a node of the graph, got '{}'.",
                                        subject, source));
    }
    if (name.size() == source.size()) return found->second;
    const std::string_view port = source.substr(name.size() + 1);
    if (found->second.is_input) {
      return Unexpected(InvalidArgument("{} must be '{}' alone: an input has no outputs; got '{}'.",
                                        subject, name, source));
    }
    const auto& node = graph_.nodes()[static_cast<size_t>(found->second.index)];
    const std::string_view expected = InfoOf(node).output.name;
    if (port == expected) return found->second;
    return Unexpected(InvalidArgument("{} must be '{}.{}', the output of {}, got '{}'.", subject,
                                      name, expected, node.spec.op(), source));
  }

 private:
  const Graph& graph_;
  std::unordered_map<std::string_view, Source> places_;
};

Status ResolveAll(const Graph& graph, Wiring& wiring) {
  const Names names(graph);
  for (const GraphNode& node : graph.nodes()) {
    const std::string subject = fmt::format("{}{}", Prefix(node), InfoOf(node).input.name);
    if (node.source.empty()) {
      return InvalidArgument("{} must be connected, got no source.", subject);
    }
    const Result<Source> source = names.Find(subject, node.source);
    if (!source) return source.error();
    wiring.sources.push_back(*source);
  }
  wiring.output_of.assign(graph.nodes().size(), -1);
  for (const GraphOutput& output : graph.outputs()) {
    const std::string subject = fmt::format("output '{}'", output.name);
    const Result<Source> source = names.Find(subject, output.source);
    if (!source) return source.error();
    if (source->is_input) {
      return InvalidArgument("{} must be the result of a node, got the input '{}'.", subject,
                             output.source);
    }
    int& taken = wiring.output_of[static_cast<size_t>(source->index)];
    if (taken >= 0) {
      return InvalidArgument("{} must name a node of its own, got '{}', which is output '{}'.",
                             subject, output.source,
                             graph.outputs()[static_cast<size_t>(taken)].name);
    }
    taken = static_cast<int>(wiring.outputs.size());
    wiring.outputs.push_back(source->index);
  }
  return {};
}

// Every node reads one value, so a node that never becomes ready leads back into a cycle.
Status DescribeCycle(const Graph& graph, const Wiring& wiring, int node) {
  std::vector<int> path;
  while (std::find(path.begin(), path.end(), node) == path.end()) {
    path.push_back(node);
    node = wiring.sources[static_cast<size_t>(node)].index;
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), node));
  path.push_back(node);
  std::reverse(path.begin(), path.end());  // as data flow
  std::vector<std::string_view> names;
  for (const int i : path) names.push_back(graph.nodes()[static_cast<size_t>(i)].name);
  return InvalidArgument("node '{}' must not depend on itself, got the cycle {}.", names.front(),
                         fmt::join(names, " -> "));
}

Status FindOrder(const Graph& graph, Wiring& wiring) {
  const size_t count = graph.nodes().size();
  std::vector<std::vector<int>> readers(count);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t i = 0; i < count; ++i) {
    const Source& source = wiring.sources[i];
    if (source.is_input) {
      ready.push(static_cast<int>(i));
    } else {
      readers[static_cast<size_t>(source.index)].push_back(static_cast<int>(i));
    }
  }
  std::vector<bool> ordered(count, false);
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    wiring.order.push_back(node);
    ordered[static_cast<size_t>(node)] = true;
    for (const int reader : readers[static_cast<size_t>(node)]) ready.push(reader);
  }
  const auto missed = std::find(ordered.begin(), ordered.end(), false);
  if (missed == ordered.end()) return {};
  return DescribeCycle(graph, wiring, static_cast<int>(missed - ordered.begin()));
}

// What nothing asks for is a mistake in the graph, most likely in a name.
Status CheckUsed(const Graph& graph, const Wiring& wiring) {
  std::vector<bool> node_used(graph.nodes().size(), false);
  std::vector<bool> input_used(graph.inputs().size(), false);
  for (const int output : wiring.outputs) node_used[static_cast<size_t>(output)] = true;
  for (auto it = wiring.order.rbegin(); it != wiring.order.rend(); ++it) {
    const auto node = static_cast<size_t>(*it);
    if (!node_used[node]) continue;
    const Source& source = wiring.sources[node];
    (source.is_input ? input_used : node_used)[static_cast<size_t>(source.index)] = true;
  }
  for (size_t i = 0; i < node_used.size(); ++i) {
    if (!node_used[i]) {
      return InvalidArgument("{}must lead to an output of the graph, got none that needs it.",
                             Prefix(graph.nodes()[i]));
    }
  }
  for (size_t i = 0; i < input_used.size(); ++i) {
    if (!input_used[i]) {
      return InvalidArgument("input '{}' must be read by a node, got none that reads it.",
                             graph.inputs()[i].name);
    }
  }
  return {};
}

}  // namespace

const ops::OpInfo& InfoOf(const GraphNode& node) { return **ops::FindOperator(node.spec.op()); }

std::string Prefix(const GraphNode& node) { return fmt::format("node '{}': ", node.name); }

Status In(const GraphNode& node, const Status& status) {
  if (status.ok()) return {};
  return {status.code(), Prefix(node) + status.message()};
}

Result<Wiring> Wire(const Graph& graph) {
  Wiring wiring;
  const auto steps = [&]() -> Status {
    if (graph.outputs().empty()) {
      return InvalidArgument("the graph must have an output, got {} nodes and no output.",
                             graph.nodes().size());
    }
    OPSCV_RETURN_IF_ERROR(ResolveAll(graph, wiring));
    OPSCV_RETURN_IF_ERROR(FindOrder(graph, wiring));
    return CheckUsed(graph, wiring);
  };
  if (Status status = steps(); !status.ok()) return Unexpected(std::move(status));
  return wiring;
}

}  // namespace opscv::graph
