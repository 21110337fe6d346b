// SPDX-License-Identifier: Apache-2.0
#include "cli/graph_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "cli/boxes.h"
#include "cli/failure.h"
#include "cli/interrupt.h"
#include "cli/operation.h"
#include "cli/output_file.h"
#include "ops/registry.h"

namespace opscv::cli {
namespace {

const ops::OpInfo& InfoOf(const GraphNode& node) { return **ops::FindOperator(node.spec.op()); }

// The name of the input or node that a source means.
std::string_view NameIn(std::string_view source) { return source.substr(0, source.find('.')); }

const GraphNode* FindNode(const Graph& graph, std::string_view name) {
  const auto found = std::ranges::find(graph.nodes(), name, &GraphNode::name);
  return found == graph.nodes().end() ? nullptr : &*found;
}

// The type to compute in: the graph's word, else the file's own where the operator that reads it
// can make anything of it.
DType ChooseDType(const TensorInput& file, const GraphInput& input, const ops::OpInfo& info) {
  const Encoding& encoding = file.storage.encoding;
  const bool as_stored = !encoding.scaled() && !IsImage(file.format);
  if (input.hint.dtype) {
    const DType dtype = *input.hint.dtype;
    if (IsFloating(dtype) || (as_stored && dtype == encoding.dtype)) return dtype;
    throw InputFailure("{}: holds elements of type {}{}; input '{}' of the graph is of type {}",
                       file.path, NameOf(encoding.dtype),
                       encoding.scaled() ? " with a slope and intercept" : "", input.name,
                       NameOf(dtype));
  }
  if (IsImage(file.format)) return DType::kFloat32;
  if (IsNifti(file.format) && !(as_stored && Takes(info, encoding.dtype))) {
    return FloatFor(encoding);
  }
  return encoding.dtype;
}

int64_t BytesOf(const TensorDesc& tensor) {
  const std::optional<int64_t> count = CheckedProduct(tensor.shape.values());
  const std::optional<int64_t> bytes =
      count ? CheckedMul(*count, SizeOf(tensor.dtype)) : std::nullopt;
  if (!bytes) {
    throw InputFailure("a tensor of the shape {} is of 2^63 bytes or more",
                       ShapeText(tensor.shape));
  }
  return *bytes;
}

// Where an output's samples come from: every node has one input, so there is one way back.
struct Origin {
  const TensorInput* file = nullptr;
  Spatial step = {1.0, 1.0, 1.0};
};

Origin OriginOf(const Graph& graph, const std::vector<GraphTensor>& inputs,
                const SessionFacts& facts, const std::string& source) {
  Origin origin;
  std::string_view name = NameIn(source);
  for (const GraphNode* node = FindNode(graph, name); node != nullptr;
       node = FindNode(graph, name)) {
    const auto fact = std::ranges::find(facts.steps, name, &StepFacts::node);
    const Spatial step = StepOf(InfoOf(*node), fact->plan);
    for (size_t i = 0; i < step.size(); ++i) origin.step[i] *= step[i];
    name = NameIn(node->source);
  }
  origin.file = &std::ranges::find(inputs, name, &GraphTensor::name)->file;
  return origin;
}

void CheckDifferent(const std::vector<std::string>& paths) {
  std::vector<std::string> targets;
  for (const std::string& path : paths) targets.push_back(OutputTarget(path));
  for (size_t i = 0; i < paths.size(); ++i) {
    if (std::count(targets.begin(), targets.end(), targets[i]) > 1) {
      throw UsageFailure("--output must name a file of its own for every output, got '{}' twice",
                         paths[i]);
    }
  }
}

}  // namespace

Session ReadGraph(const std::string& path) {
  const std::vector<char> bytes = InputFile(path).ReadAll();
  const Result<Graph> graph = Graph::FromJson({bytes.data(), bytes.size()});
  if (!graph) throw InputFailure("{}: {}", path, graph.error().message());
  Result<Session> session = MakeSession(*graph);
  if (!session) throw InputFailure("{}: {}", path, session.error().message());
  return *std::move(session);
}

std::vector<Binding> ReadBindings(std::string_view option, const std::vector<std::string>& words,
                                  const std::vector<std::string>& names) {
  std::vector<Binding> bindings;
  for (const std::string& word : words) {
    const size_t split = word.find('=');
    if (split == std::string::npos) {
      throw UsageFailure("--{} must be NAME=VALUE with a name of {}, got '{}'", option,
                         fmt::join(names, ", "), word);
    }
    Binding binding{.name = word.substr(0, split), .value = word.substr(split + 1)};
    if (std::ranges::find(names, binding.name) == names.end()) {
      throw UsageFailure("--{} must have a name of {}, got '{}'", option, fmt::join(names, ", "),
                         binding.name);
    }
    if (std::ranges::count(bindings, binding.name, &Binding::name) > 0) {
      throw UsageFailure("--{} must be there once for every name, got '{}' twice", option,
                         binding.name);
    }
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

GraphTensor OpenGraphInput(const Graph& graph, size_t index, const std::string& path) {
  const GraphInput& input = graph.inputs()[index];
  const ops::OpInfo* info = nullptr;  // of the first node that reads it
  for (const GraphNode& node : graph.nodes()) {
    if (NameIn(node.source) != input.name) continue;
    RefuseImageOfGradient(InfoOf(node), path);
    if (info == nullptr) info = &InfoOf(node);
  }
  GraphTensor tensor{.name = input.name, .file = {}, .desc = {}};
  tensor.file = OpenTensor(
      {.path = path, .rank = info->rank, .layout = input.hint.layout, .raw = input.hint.dtype});
  AddMissingDims(tensor.file, info->rank, input.hint.layout);
  const Storage& storage = tensor.file.storage;
  tensor.desc = {.dtype = ChooseDType(tensor.file, input, *info),
                 .shape = storage.shape,
                 .strides = DenseStridesLike(storage.shape, storage.strides),
                 .layout = input.hint.layout};
  return tensor;
}

Elements AllocateFor(const TensorDesc& tensor) {
  return std::make_unique_for_overwrite<char[]>(static_cast<size_t>(BytesOf(tensor)));
}

Elements ReadElements(GraphTensor& tensor) {
  Elements elements = AllocateFor(tensor.desc);
  ReadBox(tensor.file, WholeOf(tensor.desc.shape), tensor.desc.dtype, tensor.desc.strides,
          elements.get());
  tensor.file.bytes->Finish();
  return elements;
}

std::vector<GraphResult> CreateGraphOutputs(const Graph& graph,
                                            const std::vector<GraphTensor>& inputs,
                                            const SessionFacts& facts,
                                            const std::vector<std::string>& paths) {
  CheckDifferent(paths);
  std::vector<GraphResult> results;
  for (size_t i = 0; i < paths.size(); ++i) {
    const GraphOutput& output = graph.outputs()[i];
    const std::string_view node = NameIn(output.source);
    CheckOutputName(InfoOf(*FindNode(graph, node)), paths[i]);
    const Plan& plan = std::ranges::find(facts.steps, node, &StepFacts::node)->plan;
    const Origin origin = OriginOf(graph, inputs, facts, output.source);
    GraphResult result{.name = output.name, .file = {}, .desc = plan.output()};
    result.file = CreateTensor({.path = paths[i],
                                .storage = {.encoding = {.dtype = result.desc.dtype},
                                            .shape = result.desc.shape,
                                            .strides = result.desc.strides},
                                .layout = result.desc.layout,
                                .source = origin.file,
                                .step = origin.step});
    result.desc.strides = result.file.storage.strides;
    results.push_back(std::move(result));
  }
  return results;
}

void WriteTogether(std::vector<GraphResult>& results, const std::vector<Elements>& elements) {
  for (size_t i = 0; i < results.size(); ++i) {
    const TensorDesc& desc = results[i].desc;
    WriteRange(results[i].file, 0, ElementsOf(WholeOf(desc.shape)), desc.dtype, elements[i].get());
    results[i].file.bytes->Finish();
  }
  const Uninterrupted all_or_none;
  for (GraphResult& result : results) result.file.bytes->Commit();
}

}  // namespace opscv::cli
