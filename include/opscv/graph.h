// SPDX-License-Identifier: Apache-2.0
// Operators as the nodes of a graph: described once, checked as a whole, run as often as wanted on
// tensors of any shape that fits (docs/graph.md).
//
//   opscv::Graph graph;
//   graph.AddInput("image", {.dtype = opscv::DType::kFloat32, .shape = opscv::Dims{1, 3, -1, -1}});
//   graph.AddNode("shrink", opscv::Spec("UpsampleBicubic2dAA").Set("output_size", {224, 224}),
//                 "image");
//   graph.AddOutput("small", "shrink.out");
//   auto session = opscv::MakeSession(graph);
//   session->Run({{image_desc, image}}, {{small_desc, small}});
#ifndef OPSCV_GRAPH_H_
#define OPSCV_GRAPH_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opscv/export.h"
#include "opscv/plan.h"
#include "opscv/spec.h"
#include "opscv/status.h"
#include "opscv/view.h"

namespace opscv {

// A tensor as far as it is known before a run.
struct TensorHint {
  std::optional<DType> dtype = std::nullopt;  // none: known when it runs
  // None: not even the rank is known; -1: this extent is not.
  std::optional<Dims> shape = std::nullopt;
  Layout layout = Layout::kChannelsFirst;
  bool operator==(const TensorHint&) const = default;
};

// Sources of nodes and outputs are written as the name of an input of the graph, as
// `<node>.<output>` with the name that the operator's prototype gives its output ("shrink.out"), or
// as `<node>` alone.
struct GraphInput {
  std::string name;
  TensorHint hint;
};
struct GraphNode {
  std::string name;
  Spec spec;           // the operator under its own name, its attributes as they were given
  std::string source;  // of its input; empty until it is connected
};
struct GraphOutput {
  std::string name;
  std::string source;
};

// A value of a graph by name.
struct NamedHint {
  std::string name;
  TensorHint hint;
};

// A description: holds no data and plans nothing. Parts may be added in any order; what a part says
// of itself is judged when it is added, and a refused part changes nothing. How the parts fit
// together is judged by Check. Messages name the node, the attribute, the value and what was
// expected. Names consist of letters, digits, '_' and '-'; inputs and nodes share one set of names.
class OPSCV_API Graph {
 public:
  // The tensor that a run brings. An extent below -1 or a name that is taken is refused.
  Status AddInput(std::string_view name, const TensorHint& hint = {});

  // A node that runs the operator of `spec`. Every attribute, and the rule, is checked by name and
  // type; kNotFound for an operator or attribute that does not exist. `source` is what its input
  // reads, and may be added later, or be connected later where it is empty.
  Status AddNode(std::string_view name, const Spec& spec, std::string_view source = "");
  // Connects the input that the operator's prototype calls `input` ("self", "grad_output").
  Status Connect(std::string_view node, std::string_view input, std::string_view source);
  // Sets an attribute of a node, checked by name and type at once: Set("back", "align_corners",
  // true), Set("back", "input_size", IntList{1, 3, 512, 512}). Floats must be finite.
  Status Set(std::string_view node, std::string_view attr, const AttrValue& value);
  Status SetRule(std::string_view node, IndexRule rule);

  // A tensor that a run fills: the result of the node that `source` names, which no other output
  // may be.
  Status AddOutput(std::string_view name, std::string_view source);

  [[nodiscard]] const std::vector<GraphInput>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<GraphNode>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<GraphOutput>& outputs() const { return outputs_; }

  // Whether the graph as a whole can run: every source exists, no node depends on itself, every
  // input and node leads to an output, required attributes are there, and shapes and types fit as
  // far as they are known.
  [[nodiscard]] Status Check() const;

  // What is known of every node's result, in the order in which nodes run: of all that can run, the
  // one added first. Fails like Check. With `inputs`, one for each input in order, as if those were
  // the hints; they must agree with the graph's own.
  [[nodiscard]] Result<std::vector<NamedHint>> InferShapes() const;
  [[nodiscard]] Result<std::vector<NamedHint>> InferShapes(
      std::span<const TensorHint> inputs) const;

  // The JSON form, version 1 (docs/graph.md). A message tells where the text is malformed: line and
  // column, or the place in the document. Reading does not Check.
  [[nodiscard]] static Result<Graph> FromJson(std::string_view text);
  [[nodiscard]] std::string ToJson() const;

 private:
  [[nodiscard]] GraphNode* FindNode(std::string_view name);
  [[nodiscard]] Status CheckNewName(std::string_view what, std::string_view name) const;

  std::vector<GraphInput> inputs_;
  std::vector<GraphNode> nodes_;
  std::vector<GraphOutput> outputs_;
};

// Tensors of a run: the address is that of the element whose coordinates are all 0.
struct ConstTensorView {
  TensorDesc desc;
  const void* data = nullptr;
};
struct TensorView {
  TensorDesc desc;
  void* data = nullptr;
};

// One node as it runs on certain shapes.
struct StepFacts {
  std::string node;
  std::string op;
  Plan plan;  // its tensors, axes, passes and blocks
  // Multiplications and additions, an upper bound: for every pass the elements that it makes times
  // the most taps of one of them. 0 where elements are copied.
  double multiply_adds = 0.0;
  int64_t bytes_read = 0;     // of its whole input
  int64_t bytes_written = 0;  // of its output
  int64_t offset = -1;        // of its result among the intermediates; -1: an output of the graph
  int64_t live_bytes = 0;     // of the intermediates that are needed while it runs
};

// A graph as it runs on certain shapes.
struct SessionFacts {
  std::vector<StepFacts> steps;  // in order
  int64_t peak_bytes = 0;        // the largest live_bytes of a step
  int64_t arena_bytes = 0;       // what the intermediates take, those sharing memory that can
  int64_t workspace_bytes = 0;   // arena and scratch: what one run takes beside its tensors
};

// A checked graph that runs. It plans once for every combination of types, shapes, strides and
// layouts that it meets, and keeps the plans of the 16 combinations used last. Nodes run one after
// the other, each on all threads; results do not depend on the threads, and have the bits of direct
// calls. Copies share one session; any number of threads may use it at once.
class OPSCV_API Session {
 public:
  static constexpr size_t kPlannedShapes = 16;

  // Runs the graph: `inputs` and `outputs` in the order in which the graph's were added. Outputs
  // must share no memory with inputs or with each other. Everything is checked, planned and
  // allocated before the first node runs: on failure no output is touched, unless the code is
  // kCancelled. `options.workspace` is SessionFacts::workspace_bytes for these shapes and that
  // number of threads, aligned to 64; null: taken from memory that the session keeps for later
  // runs, one piece for each that is under way at once.
  Status Run(std::span<const ConstTensorView> inputs, std::span<const TensorView> outputs,
             const RunOptions& options = {}) const;
  Status Run(std::initializer_list<ConstTensorView> inputs,
             std::initializer_list<TensorView> outputs, const RunOptions& options = {}) const {
    return Run(std::span(inputs.begin(), inputs.size()), std::span(outputs.begin(), outputs.size()),
               options);
  }

  // The outputs that those inputs give, as dense tensors.
  [[nodiscard]] Result<std::vector<TensorDesc>> OutputsFor(
      std::span<const TensorDesc> inputs) const;

  // How the graph runs on those tensors.
  [[nodiscard]] Result<SessionFacts> Facts(std::span<const TensorDesc> inputs,
                                           std::span<const TensorDesc> outputs,
                                           int threads = 0) const;

  [[nodiscard]] const Graph& graph() const;
  // How often it had to plan.
  [[nodiscard]] int64_t times_planned() const;

 private:
  friend OPSCV_API Result<Session> MakeSession(const Graph&);
  struct Impl;
  explicit Session(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<Impl> impl_;
};

// Fails like Graph::Check. The session keeps a copy of the graph.
[[nodiscard]] OPSCV_API Result<Session> MakeSession(const Graph& graph);

}  // namespace opscv

#endif  // OPSCV_GRAPH_H_
