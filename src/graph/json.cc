// SPDX-License-Identifier: Apache-2.0
// The JSON form of graphs; docs/graph.md describes it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "graph/infer.h"
#include "graph/wiring.h"
#include "opscv/graph.h"

namespace opscv {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kVersion = 1;
constexpr std::string_view kVersionKey = "opscv_graph";
constexpr int kMostDepth = 8;  // the form itself has 5 levels
constexpr auto kDTypes =
    std::to_array({DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16,
                   DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16, DType::kInt32,
                   DType::kUInt32, DType::kInt64, DType::kUInt64, DType::kBool});
constexpr auto kRules =
    std::to_array({IndexRule::kAscend, IndexRule::kTorchCpu, IndexRule::kExact});
constexpr auto kLayouts = std::to_array({Layout::kChannelsFirst, Layout::kChannelsLast});

// Ends the reading; caught in FromJson alone.
struct Malformed {
  Status status;
};

template <typename... Args>
[[nodiscard]] Malformed Bad(fmt::format_string<Args...> format, Args&&... args) {
  return {InvalidArgument("graph JSON: {}", fmt::format(format, std::forward<Args>(args)...))};
}

void Must(const Status& status) {
  if (!status.ok()) throw Malformed{status};
}

// A value as messages show it, cut where it is long.
std::string Shown(const Json& value) {
  constexpr size_t kMost = 60;
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

// Refuses what a Json value would no longer show: keys that stand twice, and depths that no graph
// has.
class Watcher {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (depth > kMostDepth) throw Bad("must be at most {} levels deep.", kMostDepth);
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key) {
      const auto key = parsed.get<std::string>();
      if (!keys_.back().insert(key).second) {
        throw Bad("every key of an object must be there once, got {} twice.", Shown(parsed));
      }
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

Json Parse(std::string_view text) {
  try {
    return Json::parse(text.begin(), text.end(), Watcher());
  } catch (const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    std::string what = error.what();
    const size_t bracket = what.find("] ");
    if (bracket != std::string::npos) what.erase(0, bracket + 2);
    // It quotes the bytes that it met, which may be no text.
    std::ranges::replace_if(
        what, [](char c) { return c < ' ' || c > '~'; }, '?');
    throw Bad("{}.", what);
  }
}

// An object whose keys are all known; `where` is its place in the document.
class Object {
 public:
  Object(const Json& json, std::string where, std::vector<std::string_view> keys)
      : json_(json), where_(std::move(where)) {
    if (!json.is_object()) throw Bad("{} must be an object, got {}.", where_, Shown(json));
    for (const auto& [key, value] : json.items()) {
      if (std::ranges::find(keys, key) == keys.end()) {
        throw Bad("{} must have no keys but {}, got {}.", where_, fmt::join(keys, ", "),
                  Shown(Json(key)));
      }
    }
  }

  [[nodiscard]] std::string At(std::string_view key) const {
    return where_ == kWhole ? std::string(key) : fmt::format("{}.{}", where_, key);
  }
  // Null where the key is missing or null.
  [[nodiscard]] const Json* Find(std::string_view key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  [[nodiscard]] const Json& Get(std::string_view key) const {
    const Json* value = Find(key);
    if (value == nullptr) throw Bad("{} must have the key {}.", where_, key);
    return *value;
  }
  [[nodiscard]] std::string String(std::string_view key) const { return StringOf(key, Get(key)); }
  [[nodiscard]] std::string StringOf(std::string_view key, const Json& value) const {
    if (!value.is_string()) throw Bad("{} must be a string, got {}.", At(key), Shown(value));
    return value.get<std::string>();
  }
  // The elements of a list, each with its place.
  template <typename Read>
  void Each(std::string_view key, const Read& read) const {
    const Json& list = Get(key);
    if (!list.is_array()) throw Bad("{} must be a list, got {}.", At(key), Shown(list));
    for (size_t i = 0; i < list.size(); ++i) read(list[i], fmt::format("{}[{}]", At(key), i));
  }
  // The value of which `key` says the name; nothing where the key is missing.
  template <typename T, size_t n>
  [[nodiscard]] std::optional<T> Named(std::string_view key, const std::array<T, n>& all) const {
    using graph::NameOf;
    using opscv::NameOf;
    const Json* value = Find(key);
    if (value == nullptr) return std::nullopt;
    std::vector<std::string_view> names;
    for (const T one : all) {
      names.push_back(NameOf(one));
      if (value->is_string() && value->get_ref<const std::string&>() == names.back()) return one;
    }
    throw Bad("{} must be one of {}, got {}.", At(key), fmt::join(names, ", "), Shown(*value));
  }

  static constexpr std::string_view kWhole = "the document";

 private:
  const Json& json_;
  std::string where_;
};

int64_t WholeNumber(const std::string& where, const Json& value) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const bool fits =
      value.is_number_integer() && (!value.is_number_unsigned() || value.get<uint64_t>() <= kMost);
  if (!fits) {
    throw Bad("{} must be a whole number from -2^63 to 2^63 - 1, got {}.", where, Shown(value));
  }
  return value.get<int64_t>();
}

// A list of whole numbers alone is a list of integers; the prototype takes it for floats where it
// asks for them.
AttrValue ListOf(const std::string& where, const Json& list) {
  const bool whole =
      std::ranges::all_of(list, [](const Json& value) { return value.is_number_integer(); });
  IntList integers;
  FloatList floats;
  for (const Json& value : list) {
    if (!value.is_number()) {
      throw Bad("{} must be a list of numbers, got {}.", where, Shown(list));
    }
    if (whole) integers.push_back(WholeNumber(where, value));
    floats.push_back(value.get<double>());
  }
  if (whole) return integers;
  return floats;
}

AttrValue AttrOf(const std::string& where, const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_number()) return WholeNumber(where, value);
  if (value.is_array()) return ListOf(where, value);
  throw Bad("{} must be true, false, a number or a list of numbers, got {}.", where, Shown(value));
}

void ReadInput(const Json& json, const std::string& where, Graph& graph) {
  const Object object(json, where, {"name", "dtype", "shape", "layout"});
  TensorHint hint;
  hint.dtype = object.Named("dtype", kDTypes);
  hint.layout = object.Named("layout", kLayouts).value_or(Layout::kChannelsFirst);
  if (object.Find("shape") != nullptr) {
    std::vector<int64_t> extents;
    object.Each("shape", [&](const Json& value, const std::string& place) {
      extents.push_back(WholeNumber(place, value));
    });
    hint.shape = Dims(std::span<const int64_t>(extents));
  }
  Must(graph.AddInput(object.String("name"), hint));
}

void ReadNode(const Json& json, const std::string& where, Graph& graph) {
  const Object object(json, where, {"name", "op", "inputs", "attrs", "rule"});
  const std::string name = object.String("name");
  Must(graph.AddNode(name, Spec(object.String("op"))));
  const std::string inputs_at = object.At("inputs");
  const Json& inputs = object.Get("inputs");
  if (!inputs.is_object()) throw Bad("{} must be an object, got {}.", inputs_at, Shown(inputs));
  for (const auto& [input, source] : inputs.items()) {
    Must(graph.Connect(name, input, object.StringOf("inputs." + input, source)));
  }
  if (const Json* attrs = object.Find("attrs")) {
    const std::string at = object.At("attrs");
    if (!attrs->is_object()) throw Bad("{} must be an object, got {}.", at, Shown(*attrs));
    for (const auto& [attr, value] : attrs->items()) {
      Must(graph.Set(name, attr, AttrOf(fmt::format("{}.{}", at, attr), value)));
    }
  }
  if (const auto rule = object.Named("rule", kRules)) Must(graph.SetRule(name, *rule));
}

void ReadOutput(const Json& json, const std::string& where, Graph& graph) {
  const Object object(json, where, {"name", "source"});
  Must(graph.AddOutput(object.String("name"), object.String("source")));
}

Graph Read(const Json& json) {
  const Object object(json, std::string(Object::kWhole),
                      {kVersionKey, "inputs", "nodes", "outputs"});
  if (WholeNumber(std::string(kVersionKey), object.Get(kVersionKey)) != kVersion) {
    throw Bad("{} must be {}, the version of the form that this library reads, got {}.",
              kVersionKey, kVersion, Shown(object.Get(kVersionKey)));
  }
  Graph graph;
  const auto into = [&](const auto& read) {
    return [&graph, read](const Json& part, const std::string& where) { read(part, where, graph); };
  };
  object.Each("inputs", into(&ReadInput));
  object.Each("nodes", into(&ReadNode));
  object.Each("outputs", into(&ReadOutput));
  return graph;
}

// --- writing
// --------------------------------------------------------------------------------------

Json JsonOf(const GraphInput& input) {
  Json json = {{"name", input.name}};
  if (input.hint.dtype) json["dtype"] = NameOf(*input.hint.dtype);
  if (input.hint.shape) {
    const auto values = input.hint.shape->values();
    json["shape"] = std::vector<int64_t>(values.begin(), values.end());
  }
  if (input.hint.layout != Layout::kChannelsFirst)
    json["layout"] = graph::NameOf(input.hint.layout);
  return json;
}

// The source with the output's name where a node of that name is there.
std::string FullSource(const Graph& graph, const std::string& source) {
  const auto node = std::ranges::find(graph.nodes(), source, &GraphNode::name);
  if (node == graph.nodes().end()) return source;
  return fmt::format("{}.{}", source, graph::InfoOf(*node).output.name);
}

Json JsonOf(const Graph& graph, const GraphNode& node) {
  Json json = {{"name", node.name}, {"op", node.spec.op()}, {"inputs", Json::object()}};
  if (!node.source.empty()) {
    json["inputs"][std::string(graph::InfoOf(node).input.name)] = FullSource(graph, node.source);
  }
  if (!node.spec.attrs().empty()) json["attrs"] = Json::object();
  for (const auto& [name, value] : node.spec.attrs()) {
    json["attrs"][name] =
        std::visit([](const auto& alternative) { return Json(alternative); }, value);
  }
  if (node.spec.rule() != IndexRule::kAscend) json["rule"] = NameOf(node.spec.rule());
  return json;
}

Json JsonOf(const Graph& graph, const GraphOutput& output) {
  return {{"name", output.name}, {"source", FullSource(graph, output.source)}};
}

// One line for each part.
std::string Lines(std::string_view key, const std::vector<std::string>& parts) {
  if (parts.empty()) return fmt::format("  \"{}\": []", key);
  return fmt::format("  \"{}\": [\n    {}\n  ]", key, fmt::join(parts, ",\n    "));
}

std::string Line(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

}  // namespace

Result<Graph> Graph::FromJson(std::string_view text) {
  try {
    return Read(Parse(text));
  } catch (Malformed& malformed) {
    return Unexpected(std::move(malformed.status));
  }
}

std::string Graph::ToJson() const {
  std::vector<std::string> inputs;
  std::vector<std::string> nodes;
  std::vector<std::string> outputs;
  for (const GraphInput& input : inputs_) inputs.push_back(Line(JsonOf(input)));
  for (const GraphNode& node : nodes_) nodes.push_back(Line(JsonOf(*this, node)));
  for (const GraphOutput& output : outputs_) outputs.push_back(Line(JsonOf(*this, output)));
  return fmt::format("{{\n  \"{}\": {},\n{},\n{},\n{}\n}}\n", kVersionKey, kVersion,
                     Lines("inputs", inputs), Lines("nodes", nodes), Lines("outputs", outputs));
}

}  // namespace opscv
