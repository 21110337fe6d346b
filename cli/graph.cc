// SPDX-License-Identifier: Apache-2.0
// opscv graph: checks, shows and runs a graph that a JSON file describes.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

#include "cli/command.h"
#include "cli/graph_files.h"
#include "cli/operation.h"

namespace opscv::cli {
namespace {

struct GraphOptions {
  CommonOptions common;
  std::string file;
  std::vector<std::string> inputs;
  std::vector<std::string> shapes;
  std::vector<std::string> outputs;
};

template <typename Parts>
std::vector<std::string> NamesOf(const Parts& parts) {
  std::vector<std::string> names;
  for (const auto& part : parts) names.push_back(part.name);
  return names;
}

// --- what the command line says of the inputs
// -----------------------------------------------------

Dims ReadShape(const Binding& binding) {
  std::vector<int64_t> extents;
  const char* at = binding.value.data();
  const char* const end = at + binding.value.size();
  for (bool more = true; more;) {
    int64_t extent = -1;
    const auto [stop, error] = std::from_chars(at, end, extent);
    more = stop != end;
    if (error != std::errc() || extent < 0 || (more && *stop != ',')) {
      throw UsageFailure("--shape must be NAME= and whole numbers such as {}=1,3,224,224, got '{}'",
                         binding.name, binding.value);
    }
    extents.push_back(extent);
    at = stop + 1;
  }
  return Dims(std::span<const int64_t>(extents));
}

// Inputs of the graph as far as files and shapes tell of them.
struct Given {
  std::vector<TensorHint> hints;
  std::vector<GraphTensor> files;  // of the inputs that have one, in the order of the graph

  // The tensors, where all are known.
  [[nodiscard]] std::optional<std::vector<TensorDesc>> Descs() const {
    std::vector<TensorDesc> descs;
    for (const TensorHint& hint : hints) {
      if (!hint.shape || std::ranges::count(hint.shape->values(), -1) > 0) return std::nullopt;
      descs.push_back(Contiguous(hint.dtype.value_or(DType::kFloat32), *hint.shape, hint.layout));
    }
    return descs;
  }
};

Given ReadGiven(const Graph& graph, const GraphOptions& options) {
  const std::vector<std::string> names = NamesOf(graph.inputs());
  const std::vector<Binding> files = ReadBindings("input", options.inputs, names);
  const std::vector<Binding> shapes = ReadBindings("shape", options.shapes, names);
  Given given;
  for (size_t i = 0; i < names.size(); ++i) {
    TensorHint hint = graph.inputs()[i].hint;
    const auto file = std::ranges::find(files, names[i], &Binding::name);
    const auto shape = std::ranges::find(shapes, names[i], &Binding::name);
    if (file != files.end() && shape != shapes.end()) {
      throw UsageFailure("--input and --shape both tell of '{}'; give one of them", names[i]);
    }
    if (file != files.end()) {
      given.files.push_back(OpenGraphInput(graph, i, file->value));
      const TensorDesc& desc = given.files.back().desc;
      hint = {.dtype = desc.dtype, .shape = desc.shape, .layout = desc.layout};
    } else if (shape != shapes.end()) {
      hint.shape = ReadShape(*shape);
    }
    given.hints.push_back(hint);
  }
  return given;
}

// --- reports
// --------------------------------------------------------------------------------------

std::string ShapeTextOf(const std::optional<Dims>& shape) {
  if (!shape) return "of any shape";
  std::vector<std::string> extents;
  for (const int64_t extent : shape->values()) {
    extents.push_back(extent < 0 ? "?" : std::to_string(extent));
  }
  return fmt::format("({})", fmt::join(extents, ", "));
}

std::string TextOf(const TensorHint& hint) {
  return fmt::format("{} {}{}", hint.dtype ? NameOf(*hint.dtype) : "any type",
                     ShapeTextOf(hint.shape),
                     hint.layout == Layout::kChannelsLast ? ", channels last" : "");
}

Json ListOf(const Dims& dims) {
  return std::vector<int64_t>(dims.values().begin(), dims.values().end());
}

void AddHint(const TensorHint& hint, Json& json) {
  json["dtype"] = hint.dtype ? Json(NameOf(*hint.dtype)) : Json(nullptr);
  json["shape"] = hint.shape ? ListOf(*hint.shape) : Json(nullptr);
  json["layout"] = hint.layout == Layout::kChannelsLast ? "channels_last" : "channels_first";
}

Json JsonOf(const AttrValue& value) {
  return std::visit([](const auto& alternative) { return Json(alternative); }, value);
}

bool TakesRule(const GraphNode& node) {
  const Result<const ops::OpInfo*> info = ops::FindOperator(node.spec.op());
  return info && (*info)->takes_rule;
}

std::string TextOf(const GraphNode& node) {
  std::string text = fmt::format("{} = {}({})", node.name, node.spec.op(), node.source);
  for (const auto& [name, value] : node.spec.attrs()) {
    text += fmt::format(" {}={}", name, JsonOf(value).dump());
  }
  if (node.spec.rule() != IndexRule::kAscend)
    text += fmt::format(" rule={}", NameOf(node.spec.rule()));
  return text;
}

std::string TapsText(const PlanFacts& plan) {
  if (plan.passes.empty()) return "a copy";
  std::vector<std::string> passes;
  for (const PassFacts& pass : plan.passes) {
    passes.push_back(fmt::format("{} taps along {}", fmt::join(pass.most_taps, "x"), pass.axes));
  }
  return fmt::format("at most {}", fmt::join(passes, ", then "));
}

std::string CostText(const StepFacts& step) {
  std::string text = fmt::format("     {}; {} multiply-adds; {} bytes read, {} written; ",
                                 TapsText(step.plan.Facts()), step.multiply_adds, step.bytes_read,
                                 step.bytes_written);
  text += step.offset < 0 ? "an output" : fmt::format("kept at offset {}", step.offset);
  return text + fmt::format("; {} bytes alive\n", step.live_bytes);
}

Json CostJson(const StepFacts& step) {
  Json json = {{"passes", Json::array()},
               {"multiply_adds", step.multiply_adds},
               {"bytes_read", step.bytes_read},
               {"bytes_written", step.bytes_written}};
  for (const PassFacts& pass : step.plan.Facts().passes) {
    json["passes"].push_back({{"axes", pass.axes}, {"most_taps", pass.most_taps}});
  }
  json["offset"] = step.offset < 0 ? Json(nullptr) : Json(step.offset);
  json["live_bytes"] = step.live_bytes;
  return json;
}

Json MemoryJson(const SessionFacts& facts) {
  return {{"peak_bytes", facts.peak_bytes},
          {"arena_bytes", facts.arena_bytes},
          {"workspace_bytes", facts.workspace_bytes}};
}

std::string MemoryText(const SessionFacts& facts) {
  return fmt::format(
      "memory: {} bytes of intermediates at the peak, in an arena of {}; {} with scratch\n",
      facts.peak_bytes, facts.arena_bytes, facts.workspace_bytes);
}

// The graph in the order in which it runs, with costs where all shapes are known.
class Report {
 public:
  Report(const Graph& graph, const Given& given, const std::vector<NamedHint>& shapes,
         const SessionFacts* facts)
      : graph_(graph), given_(given), shapes_(shapes), facts_(facts) {}

  [[nodiscard]] Json ToJson() const {
    Json json = {{"inputs", Json::array()}, {"nodes", Json::array()}, {"outputs", Json::array()}};
    for (size_t i = 0; i < given_.hints.size(); ++i) {
      Json& input = json["inputs"].emplace_back(Json{{"name", graph_.inputs()[i].name}});
      AddHint(given_.hints[i], input);
    }
    for (size_t i = 0; i < shapes_.size(); ++i) {
      const GraphNode& node = Node(shapes_[i].name);
      Json& entry = json["nodes"].emplace_back(
          Json{{"name", node.name}, {"op", node.spec.op()}, {"source", node.source}});
      entry["attrs"] = Json::object();
      for (const auto& [name, value] : node.spec.attrs()) entry["attrs"][name] = JsonOf(value);
      if (TakesRule(node)) entry["rule"] = NameOf(node.spec.rule());
      AddHint(shapes_[i].hint, entry);
      if (facts_ != nullptr) entry["cost"] = CostJson(facts_->steps[i]);
    }
    for (const GraphOutput& output : graph_.outputs()) {
      json["outputs"].push_back({{"name", output.name}, {"source", output.source}});
    }
    if (facts_ != nullptr) json["memory"] = MemoryJson(*facts_);
    return json;
  }

  [[nodiscard]] std::string ToText() const {
    std::string text;
    for (size_t i = 0; i < given_.hints.size(); ++i) {
      text += fmt::format("input {}: {}\n", graph_.inputs()[i].name, TextOf(given_.hints[i]));
    }
    for (size_t i = 0; i < shapes_.size(); ++i) {
      text += fmt::format("{:>3}. {}\n     gives {}\n", i + 1, TextOf(Node(shapes_[i].name)),
                          TextOf(shapes_[i].hint));
      if (facts_ != nullptr) text += CostText(facts_->steps[i]);
    }
    for (const GraphOutput& output : graph_.outputs()) {
      text += fmt::format("output {}: {}\n", output.name, output.source);
    }
    if (facts_ != nullptr) return text + MemoryText(*facts_);
    return text + "costs and memory: known once --input or --shape tells the open shapes\n";
  }

 private:
  [[nodiscard]] const GraphNode& Node(std::string_view name) const {
    return *std::ranges::find(graph_.nodes(), name, &GraphNode::name);
  }

  const Graph& graph_;
  const Given& given_;
  const std::vector<NamedHint>& shapes_;
  const SessionFacts* facts_;
};

// --- the subcommands
// ------------------------------------------------------------------------------

template <typename T>
T MustHave(const GraphOptions& options, Result<T> result) {
  if (result) return *std::move(result);
  const Status& status = result.error();
  if (status.code() == StatusCode::kOutOfMemory) throw WriteFailure("{}", status.message());
  throw InputFailure("{}: {}", options.file, status.message());
}

// What a run on dense tensors would be.
SessionFacts FactsFor(const Session& session, const GraphOptions& options,
                      const std::vector<TensorDesc>& inputs) {
  const std::vector<TensorDesc> outputs = MustHave(options, session.OutputsFor(inputs));
  return MustHave(options, session.Facts(inputs, outputs, options.common.threads));
}

Exit CheckGraph(const GraphOptions& options) {
  const Session session = ReadGraph(options.file);
  const Graph& graph = session.graph();
  const Given given = ReadGiven(graph, options);
  (void)MustHave(options, graph.InferShapes(given.hints));
  const auto descs = given.Descs();
  if (descs) (void)FactsFor(session, options, *descs);
  Print(
      options.common,
      {{"ok", true},
       {"inputs", NamesOf(graph.inputs())},
       {"nodes", NamesOf(graph.nodes())},
       {"outputs", NamesOf(graph.outputs())}},
      fmt::format("{}: ok: inputs {}; nodes {}; outputs {}", options.file,
                  fmt::join(NamesOf(graph.inputs()), ", "), fmt::join(NamesOf(graph.nodes()), ", "),
                  fmt::join(NamesOf(graph.outputs()), ", ")));
  return Exit::kOk;
}

Exit ShowGraph(const GraphOptions& options) {
  const Session session = ReadGraph(options.file);
  const Given given = ReadGiven(session.graph(), options);
  const std::vector<NamedHint> shapes = MustHave(options, session.graph().InferShapes(given.hints));
  std::optional<SessionFacts> facts;
  if (const auto descs = given.Descs()) facts = FactsFor(session, options, *descs);
  const Report report(session.graph(), given, shapes, facts ? &*facts : nullptr);
  Print(options.common, report.ToJson(), report.ToText());
  return Exit::kOk;
}

// The file of every output, in the order of the graph.
std::vector<std::string> OutputPaths(const Graph& graph, const GraphOptions& options) {
  const std::vector<std::string> names = NamesOf(graph.outputs());
  const std::vector<Binding> bindings = ReadBindings("output", options.outputs, names);
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(bindings, name, &Binding::name);
    if (found == bindings.end()) throw UsageFailure("--output {}=FILE is required", name);
    paths.push_back(found->value);
    (void)FormatOfOutput(paths.back());  // refused before work begins
  }
  return paths;
}

// Reads, runs and writes; the milliseconds of the run itself.
double RunOnFiles(const Session& session, const GraphOptions& options,
                  std::vector<GraphTensor>& files, std::vector<GraphResult>& results) {
  std::vector<Elements> memory;
  std::vector<ConstTensorView> inputs;
  for (GraphTensor& file : files) {
    memory.push_back(ReadElements(file));
    inputs.push_back({.desc = file.desc, .data = memory.back().get()});
  }
  std::vector<Elements> written;
  std::vector<TensorView> outputs;
  for (const GraphResult& result : results) {
    written.push_back(AllocateFor(result.desc));
    outputs.push_back({.desc = result.desc, .data = written.back().get()});
  }
  RunOptions run;
  run.threads = options.common.threads;
  const auto start = std::chrono::steady_clock::now();
  const Status status = session.Run(inputs, outputs, run);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  if (!status.ok()) throw WriteFailure("{}: {}", options.file, status.message());
  WriteTogether(results, written);
  return time.count();
}

Exit RunGraph(const GraphOptions& options) {
  const Session session = ReadGraph(options.file);
  const Graph& graph = session.graph();
  const std::vector<std::string> paths = OutputPaths(graph, options);
  const std::vector<Binding> bound = ReadBindings("input", options.inputs, NamesOf(graph.inputs()));
  for (const GraphInput& input : graph.inputs()) {
    if (std::ranges::count(bound, input.name, &Binding::name) == 0) {
      throw UsageFailure("--input {}=FILE is required", input.name);
    }
  }
  Given given = ReadGiven(graph, options);
  std::vector<TensorDesc> inputs;
  for (const GraphTensor& file : given.files) inputs.push_back(file.desc);
  // Before any output is begun: what is refused must not touch the disk.
  const SessionFacts facts = FactsFor(session, options, inputs);
  std::vector<GraphResult> results = CreateGraphOutputs(graph, given.files, facts, paths);
  const double milliseconds = RunOnFiles(session, options, given.files, results);

  Json json = {{"outputs", Json::array()}, {"milliseconds", milliseconds}};
  std::string text;
  for (const GraphTensor& input : given.files) NoteOrientation(options.common, input.file);
  for (const GraphResult& result : results) {
    json["outputs"].push_back({{"name", result.name},
                               {"file", result.file.path},
                               {"dtype", NameOf(result.desc.dtype)},
                               {"shape", ListOf(result.desc.shape)}});
    text += fmt::format("{}: {} {} written to {}\n", result.name, NameOf(result.desc.dtype),
                        ShapeText(result.desc.shape), result.file.path);
  }
  json["memory"] = MemoryJson(facts);
  Print(options.common, json,
        text + fmt::format("{} nodes in {:.3f} ms\n", facts.steps.size(), milliseconds));
  return Exit::kOk;
}

using RunSubcommand = Exit (*)(const GraphOptions&);

CLI::Option* AddNamed(CLI::App& app, const std::string& name, std::vector<std::string>& words,
                      const std::string& doc, const std::string& type) {
  return app.add_option(name, words, doc)->allow_extra_args(false)->type_name(type);
}

CLI::App* AddOne(CLI::App& parent, const std::string& name, const std::string& doc,
                 const std::shared_ptr<GraphOptions>& options, Action& action, RunSubcommand run) {
  CLI::App* sub = parent.add_subcommand(name, doc);
  sub->add_option("GRAPH", options->file, "a graph as JSON (docs/graph.md)")
      ->required()
      ->type_name("FILE");
  AddNamed(*sub, "--input", options->inputs,
           fmt::format("a file for the input of that name, once for each; {}", kFormats),
           "NAME=FILE");
  AddThreads(*sub, options->common);
  AddReportOptions(*sub, options->common);
  sub->callback([options, &action, run] { action = [options, run] { return run(*options); }; });
  return sub;
}

}  // namespace

void AddGraph(CLI::App& app, Action& action) {
  CLI::App* parent = app.add_subcommand("graph", "run operators as the nodes of a graph");
  parent->require_subcommand(1);
  const auto add = [&](const std::string& name, const std::string& doc, RunSubcommand run) {
    auto options = std::make_shared<GraphOptions>();
    CLI::App* sub = AddOne(*parent, name, doc, options, action, run);
    if (run == &RunGraph) {
      AddNamed(*sub, "--output", options->outputs,
               fmt::format("a file for the output of that name, once for each; {}", kFormats),
               "NAME=FILE");
    } else {
      AddNamed(*sub, "--shape", options->shapes,
               "instead of a file: a shape for the input of that name, float32 where the graph "
               "names no type",
               "NAME=LISTINT");
    }
  };
  add("check", "say whether a graph can run", &CheckGraph);
  add("run", "run a graph from files into files, all of which appear or none", &RunGraph);
  add("show", "show nodes, shapes, costs and memory of a graph", &ShowGraph);
}

}  // namespace opscv::cli
