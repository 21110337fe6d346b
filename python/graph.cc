// SPDX-License-Identifier: Apache-2.0
#include "python/graph.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "opscv/graph.h"
#include "python/convert.h"
#include "python/interrupt.h"

namespace nb = nanobind;

namespace opscv::python {
namespace {

// Tuples, as opscv/_native.pyi names them.
using HintTuple = std::tuple<std::optional<int>, std::optional<Ints>, int>;
using TensorTuple = std::tuple<int, int, Ints, Ints, uintptr_t>;
using ShapeTuple = std::tuple<int, int, Ints>;
using Tensors = std::vector<TensorTuple>;

TensorHint ToHint(const HintTuple& tuple) {
  const auto& [dtype, shape, layout] = tuple;
  TensorHint hint = {.layout = static_cast<Layout>(layout)};
  if (dtype) hint.dtype = static_cast<DType>(*dtype);
  if (shape) hint.shape = ToDims(*shape);
  return hint;
}

HintTuple FromHint(const TensorHint& hint) {
  HintTuple tuple = {std::nullopt, std::nullopt, static_cast<int>(hint.layout)};
  if (hint.dtype) std::get<0>(tuple) = static_cast<int>(*hint.dtype);
  if (hint.shape) std::get<1>(tuple) = FromDims(*hint.shape);
  return tuple;
}

TensorDesc DescOf(const TensorTuple& tensor) {
  const auto& [dtype, layout, shape, strides, address] = tensor;
  return ToDesc(dtype, layout, shape, strides);
}

std::vector<TensorDesc> DescsOf(const Tensors& tensors) {
  std::vector<TensorDesc> descs;
  for (const TensorTuple& tensor : tensors) descs.push_back(DescOf(tensor));
  return descs;
}

// --- graphs
// ---------------------------------------------------------------------------------------

std::vector<std::pair<std::string, HintTuple>> InputsOf(const Graph& graph) {
  std::vector<std::pair<std::string, HintTuple>> inputs;
  for (const GraphInput& input : graph.inputs()) {
    inputs.emplace_back(input.name, FromHint(input.hint));
  }
  return inputs;
}

nb::list NodesOf(const Graph& graph) {
  nb::list nodes;
  for (const GraphNode& node : graph.nodes()) {
    nb::dict attrs;
    for (const auto& [name, value] : node.spec.attrs()) {
      attrs[name.c_str()] = std::visit([](const auto& held) { return nb::cast(held); }, value);
    }
    nodes.append(nb::make_tuple(node.name, node.spec.op(), node.source, attrs,
                                static_cast<int>(node.spec.rule())));
  }
  return nodes;
}

std::vector<std::pair<std::string, std::string>> OutputsOf(const Graph& graph) {
  std::vector<std::pair<std::string, std::string>> outputs;
  for (const GraphOutput& output : graph.outputs())
    outputs.emplace_back(output.name, output.source);
  return outputs;
}

std::vector<std::pair<std::string, HintTuple>> InferShapes(const Graph& graph,
                                                           const std::vector<HintTuple>& inputs) {
  std::vector<TensorHint> hints;
  for (const HintTuple& input : inputs) hints.push_back(ToHint(input));
  std::vector<std::pair<std::string, HintTuple>> results;
  for (const NamedHint& result : ValueOrThrow(graph.InferShapes(hints))) {
    results.emplace_back(result.name, FromHint(result.hint));
  }
  return results;
}

void BindDescription(nb::module_& module) {
  nb::class_<Graph>(module, "Graph")
      .def(nb::init<>())
      .def_static(
          "from_json", [](const std::string& text) { return ValueOrThrow(Graph::FromJson(text)); },
          nb::arg("text"))
      .def("to_json", &Graph::ToJson)
      .def(
          "add_input",
          [](Graph& graph, const std::string& name, const HintTuple& hint) {
            ThrowIfError(graph.AddInput(name, ToHint(hint)));
          },
          nb::arg("name"), nb::arg("hint"))
      .def(
          "add_node",
          [](Graph& graph, const std::string& name, const std::string& op, const nb::dict& attrs,
             int rule, const std::string& source) {
            ThrowIfError(graph.AddNode(name, ToSpec(op, attrs, rule), source));
          },
          nb::arg("name"), nb::arg("op"), nb::arg("attrs"), nb::arg("rule"), nb::arg("source"))
      .def(
          "connect",
          [](Graph& graph, const std::string& node, const std::string& input,
             const std::string& source) { ThrowIfError(graph.Connect(node, input, source)); },
          nb::arg("node"), nb::arg("input"), nb::arg("source"))
      .def(
          "set",
          [](Graph& graph, const std::string& node, const std::string& attr,
             const nb::object& value) { ThrowIfError(graph.Set(node, attr, ToAttrValue(value))); },
          nb::arg("node"), nb::arg("attr"), nb::arg("value"))
      .def(
          "set_rule",
          [](Graph& graph, const std::string& node, int rule) {
            ThrowIfError(graph.SetRule(node, static_cast<IndexRule>(rule)));
          },
          nb::arg("node"), nb::arg("rule"))
      .def(
          "add_output",
          [](Graph& graph, const std::string& name, const std::string& source) {
            ThrowIfError(graph.AddOutput(name, source));
          },
          nb::arg("name"), nb::arg("source"))
      .def("inputs", &InputsOf)
      .def("nodes", &NodesOf)
      .def("outputs", &OutputsOf)
      .def("check", [](const Graph& graph) { ThrowIfError(graph.Check()); })
      .def("infer_shapes", &InferShapes, nb::arg("inputs"));
}

// --- sessions
// -------------------------------------------------------------------------------------

std::vector<ShapeTuple> OutputsFor(const Session& session, const Tensors& inputs) {
  std::vector<ShapeTuple> shapes;
  for (const TensorDesc& output : ValueOrThrow(session.OutputsFor(DescsOf(inputs)))) {
    shapes.emplace_back(static_cast<int>(output.dtype), static_cast<int>(output.layout),
                        FromDims(output.shape));
  }
  return shapes;
}

// A run that Ctrl-C stopped ends in the exception that Python's handler raises. Where the handler
// raises none, the program wants to go on, and the run begins anew.
void Run(const Session& session, const Tensors& inputs, const Tensors& outputs, int threads) {
  std::vector<ConstTensorView> sources;
  for (const TensorTuple& input : inputs) {
    sources.push_back({.desc = DescOf(input), .data = ToInput(std::get<4>(input))});
  }
  std::vector<TensorView> targets;
  for (const TensorTuple& output : outputs) {
    targets.push_back({.desc = DescOf(output), .data = ToOutput(std::get<4>(output))});
  }
  while (true) {
    Status status;
    {
      const InterruptWatch watch(/*is_wanted=*/true);
      const nb::gil_scoped_release release;
      status = session.Run(sources, targets, {.threads = threads, .stop = watch.flag()});
    }
    if (status.code() != StatusCode::kCancelled) return ThrowIfError(status);
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

nb::dict FactsOf(const StepFacts& step) {
  nb::list passes;
  for (const PassFacts& pass : step.plan.Facts().passes) {
    passes.append(nb::make_tuple(pass.axes, nb::tuple(nb::cast(pass.most_taps))));
  }
  nb::dict facts;
  facts["node"] = step.node;
  facts["op"] = step.op;
  facts["passes"] = nb::tuple(passes);
  facts["multiply_adds"] = step.multiply_adds;
  facts["bytes_read"] = step.bytes_read;
  facts["bytes_written"] = step.bytes_written;
  facts["offset"] = step.offset < 0 ? nb::none() : nb::cast(step.offset);
  facts["live_bytes"] = step.live_bytes;
  return facts;
}

nb::dict Facts(const Session& session, const Tensors& inputs, const Tensors& outputs, int threads) {
  const SessionFacts found =
      ValueOrThrow(session.Facts(DescsOf(inputs), DescsOf(outputs), threads));
  nb::list steps;
  for (const StepFacts& step : found.steps) steps.append(FactsOf(step));
  nb::dict facts;
  facts["steps"] = steps;
  facts["peak_bytes"] = found.peak_bytes;
  facts["arena_bytes"] = found.arena_bytes;
  facts["workspace_bytes"] = found.workspace_bytes;
  return facts;
}

void BindSession(nb::module_& module) {
  nb::class_<Session>(module, "Session")
      .def(
          "__init__",
          [](Session* self, const Graph& graph) {
            new (self) Session(ValueOrThrow(MakeSession(graph)));
          },
          nb::arg("graph"))
      .def("outputs_for", &OutputsFor, nb::arg("inputs"))
      .def("run", &Run, nb::arg("inputs"), nb::arg("outputs"), nb::arg("threads"))
      .def("facts", &Facts, nb::arg("inputs"), nb::arg("outputs"), nb::arg("threads"))
      .def("graph", [](const Session& session) { return Graph(session.graph()); })
      .def("times_planned", &Session::times_planned);
}

}  // namespace

void BindGraph(nb::module_& module) {
  BindDescription(module);
  BindSession(module);
}

}  // namespace opscv::python
