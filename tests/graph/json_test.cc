// SPDX-License-Identifier: Apache-2.0
// The JSON form: what is read, what is written, and what is refused with which words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "opscv/graph.h"
#include "tests/support/random.h"

namespace opscv {
namespace {

using ::testing::HasSubstr;

constexpr auto kText = R"({
  "opscv_graph": 1,
  "inputs": [
    {"name":"x","dtype":"float16","shape":[1,-1,4,4,4],"layout":"channels_last"},
    {"name":"any"}
  ],
  "nodes": [
    {"name":"back","op":"UpsampleNearestExact3dGrad","inputs":{"grad_output":"grow.out"},"attrs":{"input_size":[1,4,2,4,4],"scales":[2.0,0.5,1e-30]},"rule":"torch_cpu"},
    {"name":"grow","op":"UpsampleNearestExact3d","inputs":{"self":"x"},"attrs":{"output_size":[8,8,8],"scales":[0,0,0]}},
    {"name":"flat","op":"UpsampleBicubic2dAA","inputs":{"self":"any"},"attrs":{"output_size":[3,3],"align_corners":true,"scales_h":0.1}}
  ],
  "outputs": [
    {"name":"y","source":"back.y"},
    {"name":"z","source":"flat.out"}
  ]
}
)";

Graph Read(const std::string& text) {
  Result<Graph> graph = Graph::FromJson(text);
  EXPECT_TRUE(graph.has_value()) << graph.error().message();
  return graph.value_or(Graph());
}

TEST(GraphJson, WritingGivesBackWhatWasRead) { EXPECT_EQ(Read(kText).ToJson(), kText); }

std::string FileText(const std::string& path) {
  std::ifstream file(std::string(OPSCV_SOURCE_DIR) + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(GraphJson, TheDocumentedGraphsCanRun) {
  const std::string page = FileText("/docs/graph.md");
  const std::string fence = "```json\n";
  const size_t begin = page.find(fence);
  ASSERT_NE(begin, std::string::npos);
  const size_t end = page.find("```", begin + fence.size());
  for (const std::string& text : {page.substr(begin + fence.size(), end - begin - fence.size()),
                                  FileText("/examples/graphs/photo_pair.json")}) {
    const Status status = Read(text).Check();
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

TEST(GraphJson, EveryPartIsRead) {
  const Graph graph = Read(kText);
  EXPECT_EQ(graph.inputs()[0].hint, (TensorHint{.dtype = DType::kFloat16,
                                                .shape = Dims{1, -1, 4, 4, 4},
                                                .layout = Layout::kChannelsLast}));
  EXPECT_EQ(graph.inputs()[1].hint, TensorHint());
  const GraphNode& back = graph.nodes()[0];
  EXPECT_EQ(back.spec.op(), "UpsampleNearestExact3dGrad");
  EXPECT_EQ(back.spec.rule(), IndexRule::kTorchCpu);
  EXPECT_EQ(back.source, "grow.out");
  EXPECT_EQ(back.spec.attrs()[1].second, AttrValue(FloatList{2.0, 0.5, 1e-30}));
  EXPECT_EQ(graph.nodes()[2].spec.attrs()[1].second, AttrValue(true));
  EXPECT_EQ(graph.outputs()[1].source, "flat.out");
}

TEST(GraphJson, NullAndMissingAreTheSame) {
  const std::string text = R"({"opscv_graph": 1, "inputs": [{"name": "x", "shape": null,
    "dtype": null, "layout": null}], "nodes": [], "outputs": []})";
  EXPECT_EQ(Read(text).inputs()[0].hint, TensorHint());
}

TEST(GraphJson, ANodeMayBeNamedWithoutItsOutput) {
  const std::string text = R"({"opscv_graph": 1, "inputs": [{"name": "x"}], "nodes": [
    {"name": "n", "op": "upsamplebicubic2daa", "inputs": {"self": "x"},
     "attrs": {"output_size": [2, 2]}}], "outputs": [{"name": "n", "source": "n"}]})";
  EXPECT_TRUE(Read(text).Check().ok());
  EXPECT_THAT(Read(text).ToJson(), HasSubstr(R"("source":"n.out")"));
  EXPECT_THAT(Read(text).ToJson(), HasSubstr(R"("op":"UpsampleBicubic2dAA")"));
}

struct Refusal {
  std::string text;
  std::vector<std::string> says;
};

void ExpectRefused(const Refusal& refusal) {
  SCOPED_TRACE(refusal.text);
  const Result<Graph> graph = Graph::FromJson(refusal.text);
  ASSERT_FALSE(graph.has_value());
  for (const char c : graph.error().message()) ASSERT_TRUE(c >= ' ' && c <= '~');
  for (const std::string& part : refusal.says) {
    EXPECT_THAT(graph.error().message(), HasSubstr(part));
  }
}

TEST(GraphJson, MalformedTextIsToldWithItsPosition) {
  for (const Refusal& refusal : std::vector<Refusal>{
           {"", {"graph JSON", "line 1, column 1"}},
           {"{\n  \"opscv_graph\": 1,\n  x\n}", {"line 3, column 3"}},
           {"{\"opscv_graph\": 1", {"line 1, column 18"}},
           {"{\"opscv_graph\": 1} {}", {"line 1, column 20", "expected end of input"}},
           {"{\"a\": \"\xFF\"}", {"line 1, column 8", "UTF-8"}},
           {"{\"opscv_graph\": 1e999}", {"graph JSON", "1e999"}}}) {
    ExpectRefused(refusal);
  }
}

// The document with one part in its place.
std::string With(const std::string& input, const std::string& node, const std::string& output) {
  return R"({"opscv_graph": 1, "inputs": [)" + input + R"(], "nodes": [)" + node +
         R"(], "outputs": [)" + output + "]}";
}

TEST(GraphJson, WhatIsNoGraphIsToldWithItsPlace) {
  for (const Refusal& refusal : std::vector<Refusal>{
           {"[]", {"the document", "object", "[]"}},
           {"{}", {"the document", "opscv_graph"}},
           {R"({"opscv_graph": 2})", {"opscv_graph must be 1", "got 2"}},
           {R"({"opscv_graph": "1"})", {"opscv_graph", "whole number"}},
           {R"({"opscv_graph": 1, "inputs": 3})", {"inputs must be a list", "3"}},
           {R"({"opscv_graph": 1, "inputs": []})", {"nodes"}},
           {R"({"opscv_graph": 1, "node": []})", {"opscv_graph, inputs, nodes, outputs", "node"}},
           {R"({"opscv_graph": 1, "opscv_graph": 1})", {"opscv_graph", "twice"}},
           {With("3", "", ""), {"inputs[0] must be an object", "3"}},
           {With(R"({"dtype": "float32"})", "", ""), {"inputs[0] must have the key name"}},
           {With(R"({"name": 3})", "", ""), {"inputs[0].name must be a string"}},
           {With(R"({"name": "x", "dtype": "f4"})", "", ""), {"inputs[0].dtype", "float32", "f4"}},
           {With(R"({"name": "x", "layout": "NHWC"})", "", ""),
            {"inputs[0].layout", "channels_last", "NHWC"}},
           {With(R"({"name": "x", "shape": [1, 2.5]})", "", ""),
            {"inputs[0].shape[1]", "whole number", "2.5"}},
           {With(R"({"name": "x", "shape": [9223372036854775808]})", "", ""),
            {"inputs[0].shape[0]", "2^63"}},
           {With(R"({"name": "x", "shape": [1,1,1,1,1,1,1,1,1]})", "", ""), {"'x'", "8", "9"}},
           {With(R"({"name": "x"}, {"name": "x"})", "", ""), {"'x' again"}},
           {With("", R"({"name": "n", "op": "Resize", "inputs": {}})", ""), {"'n'", "'Resize'"}},
           {With("", R"({"name": "n", "op": "UpsampleBicubic2dAA"})", ""),
            {"nodes[0] must have the key inputs"}},
           {With("", R"({"name": "n", "op": "UpsampleBicubic2dAA", "inputs": {"x": "y"}})", ""),
            {"'n'", "no input 'x'", "self"}},
           {With("",
                 R"({"name": "n", "op": "UpsampleBicubic2dAA", "inputs": {},
                     "attrs": {"output_size": "2,2"}})",
                 ""),
            {"nodes[0].attrs.output_size", "list of numbers", "2,2"}},
           {With("",
                 R"({"name": "n", "op": "UpsampleBicubic2dAA", "inputs": {},
                     "attrs": {"output_size": [2, "2"]}})",
                 ""),
            {"nodes[0].attrs.output_size", "list of numbers"}},
           {With("",
                 R"({"name": "n", "op": "UpsampleBicubic2dAA", "inputs": {},
                     "attrs": {"output_size": [2.5, 2]}})",
                 ""),
            {"'n'", "output_size = [2.5, 2]", "LISTINT"}},
           {With("",
                 R"({"name": "n", "op": "UpsampleBicubic2dAA", "inputs": {},
                     "attrs": {"size": [2]}})",
                 ""),
            {"'n'", "'size'", "output_size"}},
           {With("",
                 R"({"name": "n", "op": "UpsampleNearestExact3d", "inputs": {},
                     "rule": "torch"})",
                 ""),
            {"nodes[0].rule", "ascend, torch_cpu, exact", "torch"}},
           {With("",
                 R"({"name": "n", "op": "UpsampleBicubic2dAA", "inputs": {},
                     "rule": "exact"})",
                 ""),
            {"'n'", "rule", "exact"}},
           {With("", "", R"({"name": "o"})"), {"outputs[0] must have the key source"}},
           {std::string(100000, '['), {"8 levels"}}}) {
    ExpectRefused(refusal);
  }
}

TEST(GraphJson, ADamagedDocumentIsReadOrRefusedButNeverMore) {
  testing::Random random(72);
  SCOPED_TRACE(testing::SeedTrace());
  int read = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = kText;
    for (int64_t change = random.Int(1, 4); change > 0; --change) {
      const auto at = static_cast<size_t>(random.Int(0, static_cast<int64_t>(text.size()) - 1));
      switch (random.Int(0, 3)) {
        case 0:
          text[at] = static_cast<char>(random.Int(0, 255));
          break;
        case 1:
          text.erase(at, static_cast<size_t>(random.Int(1, 20)));
          break;
        case 2:
          text.insert(at, text.substr(static_cast<size_t>(random.Int(0, 300)), 30));
          break;
        default:
          text[at] = "[]{}\",:0123456789-e.tfn"[random.Int(0, 21)];
      }
      if (text.empty()) break;
    }
    const Result<Graph> graph = Graph::FromJson(text);
    if (!graph) {
      ASSERT_FALSE(graph.error().message().empty()) << text;
      continue;
    }
    ++read;
    (void)graph->Check();  // whatever it says
    const std::string written = graph->ToJson();
    const Result<Graph> again = Graph::FromJson(written);
    ASSERT_TRUE(again.has_value()) << again.error().message() << "\n" << text << "\n" << written;
    ASSERT_EQ(again->ToJson(), written) << text;
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace opscv
