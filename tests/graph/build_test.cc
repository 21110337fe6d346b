// SPDX-License-Identifier: Apache-2.0
// What a graph refuses, when, and with which words; what it infers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "ops/registry.h"
#include "opscv/graph.h"

namespace opscv {
namespace {

using ::testing::HasSubstr;

constexpr auto kShrink = "UpsampleBicubic2dAA";
constexpr auto kShrinkGrad = "UpsampleBicubic2dAAGrad";
constexpr auto kNearest = "UpsampleNearestExact3d";
constexpr auto kNearestGrad = "UpsampleNearestExact3dGrad";

// Expects a refusal whose sentence holds all parts.
void ExpectRefused(const Status& status, StatusCode code, const std::vector<std::string>& parts) {
  EXPECT_EQ(status.code(), code) << status.message();
  for (const std::string& part : parts) EXPECT_THAT(status.message(), HasSubstr(part));
}
void ExpectInvalid(const Status& status, const std::vector<std::string>& parts) {
  ExpectRefused(status, StatusCode::kInvalidArgument, parts);
}

void MustBeOk(const Status& status) { ASSERT_TRUE(status.ok()) << status.message(); }

// image -> shrink -> back, whose results are both shown.
Graph Pair() {
  Graph graph;
  MustBeOk(graph.AddInput("image", {.dtype = DType::kFloat32, .shape = Dims{1, 3, 8, 10}}));
  MustBeOk(graph.AddNode("shrink", Spec(kShrink).Set("output_size", {4, 5}), "image"));
  MustBeOk(graph.AddNode(
      "back", Spec(kShrinkGrad).Set("output_size", {4, 5}).Set("input_size", {1, 3, 8, 10}),
      "shrink.out"));
  MustBeOk(graph.AddOutput("small", "shrink"));
  MustBeOk(graph.AddOutput("grad", "back.grad_input"));
  return graph;
}

TEST(GraphBuild, APairIsAccepted) { MustBeOk(Pair().Check()); }

TEST(GraphBuild, AttributesAreCheckedByNameAndTypeAtOnce) {
  Graph graph = Pair();
  ExpectRefused(graph.Set("back", "sizes", int64_t{3}), StatusCode::kNotFound,
                {"'back'", "sizes = 3", "output_size, input_size, align_corners"});
  ExpectInvalid(graph.Set("back", "input_size", 0.5),
                {"'back'", "input_size = 0.5", "LISTINT", "a float"});
  ExpectInvalid(graph.Set("back", "align_corners", int64_t{1}),
                {"'back'", "align_corners = 1", "BOOL", "an integer"});
  ExpectInvalid(graph.Set("back", "scales_h", IntList{1, 2}),
                {"'back'", "scales_h = [1, 2]", "FLOAT", "a list of integers"});
  ExpectInvalid(graph.Set("back", "output_size", FloatList{4.0, 5.5}),
                {"'back'", "output_size = [4, 5.5]", "LISTINT", "a list of floats"});
  ExpectInvalid(graph.Set("back", "scales_w", std::numeric_limits<double>::quiet_NaN()),
                {"'back'", "scales_w", "finite", "nan"});
  ExpectRefused(graph.Set("nobody", "scales_h", 1.0), StatusCode::kNotFound,
                {"shrink, back", "'nobody'"});
  ExpectInvalid(graph.SetRule("back", IndexRule::kExact), {"'back'", "rule", "exact"});
  MustBeOk(graph.Check());                              // what was refused has changed nothing
  MustBeOk(graph.Set("back", "scales_h", int64_t{0}));  // whole numbers are floats too
  MustBeOk(graph.Check());
}

TEST(GraphBuild, EveryAttributeOfEveryOperatorTakesItsDefaultAndNoText) {
  for (const ops::OpPair* pair : ops::AllPairs()) {
    for (const ops::OpInfo* info : {&pair->forward, &pair->backward}) {
      Graph graph;
      MustBeOk(graph.AddNode("n", Spec(info->name)));
      for (const ops::AttrInfo& attr : info->attrs) {
        MustBeOk(graph.Set("n", attr.name, attr.default_value));
        const AttrValue wrong =
            attr.type == ops::AttrType::kBool ? AttrValue(1.5) : AttrValue(true);
        ExpectInvalid(graph.Set("n", attr.name, wrong),
                      {"'n'", std::string(attr.name), std::string(NameOf(attr.type))});
      }
    }
  }
}

TEST(GraphBuild, ANodeIsCheckedWhenItIsAdded) {
  Graph graph;
  ExpectRefused(graph.AddNode("n", Spec("Upsample")), StatusCode::kNotFound,
                {"'n'", kNearestGrad, "'Upsample'"});
  ExpectInvalid(graph.AddNode("n", Spec(kShrink).Set("output_size", 3)),
                {"'n'", "output_size = 3", "LISTINT"});
  ExpectInvalid(graph.AddNode("n", Spec(kShrink).SetRule(IndexRule::kTorchCpu)), {"'n'", "rule"});
  EXPECT_TRUE(graph.nodes().empty());
  MustBeOk(graph.AddNode("n", Spec("UPSAMPLENEARESTEXACT3DGRAD")));
  EXPECT_EQ(graph.nodes()[0].spec.op(), kNearestGrad);
}

TEST(GraphBuild, NamesAreNewAndPlain) {
  Graph graph = Pair();
  ExpectInvalid(graph.AddInput("image"), {"'image' again"});
  ExpectInvalid(graph.AddNode("image", Spec(kShrink)), {"'image' again"});
  ExpectInvalid(graph.AddInput("back"), {"'back' again"});
  ExpectInvalid(graph.AddOutput("small", "back"), {"'small' again"});
  for (const char* name : {"", "a.b", "a=b", "a b", "\xC3\xA4"}) {
    ExpectInvalid(graph.AddInput(name), {"letters, digits", std::string("'") + name + "'"});
  }
  ExpectInvalid(graph.AddInput("x", {.shape = Dims{1, -2}}), {"'x'", "(1, -2)"});
  ExpectInvalid(graph.AddInput("x", {.shape = Dims::Filled(9, 1)}), {"'x'", "8", "9"});
}

TEST(GraphBuild, ConnectNamesTheInputOfThePrototype) {
  Graph graph = Pair();
  ExpectRefused(graph.Connect("back", "self", "image"), StatusCode::kNotFound,
                {"'back'", "'self'", "grad_output"});
  MustBeOk(graph.Connect("back", "grad_output", "shrink"));
  MustBeOk(graph.Check());
}

TEST(GraphCheck, SourcesExist) {
  Graph graph = Pair();
  MustBeOk(graph.Connect("back", "grad_output", "shrunk.out"));
  ExpectInvalid(graph.Check(), {"'back'", "grad_output", "'shrunk.out'"});
  MustBeOk(graph.Connect("back", "grad_output", "shrink.y"));
  ExpectInvalid(graph.Check(), {"'back'", "'shrink.out'", "'shrink.y'"});
  MustBeOk(graph.Connect("back", "grad_output", "image.out"));
  ExpectInvalid(graph.Check(), {"'back'", "an input has no outputs", "'image.out'"});
  MustBeOk(graph.Connect("back", "grad_output", ""));
  ExpectInvalid(graph.Check(), {"'back'", "grad_output", "connected"});

  graph = Pair();
  MustBeOk(graph.AddOutput("more", "nobody"));
  ExpectInvalid(graph.Check(), {"output 'more'", "'nobody'"});
  graph = Pair();
  MustBeOk(graph.AddOutput("more", "image"));
  ExpectInvalid(graph.Check(), {"output 'more'", "result of a node", "'image'"});
  graph = Pair();
  MustBeOk(graph.AddOutput("more", "back"));
  ExpectInvalid(graph.Check(), {"output 'more'", "'back'", "'grad'"});
}

TEST(GraphCheck, CyclesAreFound) {
  Graph graph = Pair();
  MustBeOk(graph.Connect("shrink", "self", "back"));
  ExpectInvalid(graph.Check(), {"cycle", "shrink -> back -> shrink"});
  MustBeOk(graph.Connect("shrink", "self", "shrink.out"));
  ExpectInvalid(graph.Check(), {"node 'shrink'", "shrink -> shrink"});
}

TEST(GraphCheck, NothingIsUnused) {
  Graph graph = Pair();
  MustBeOk(graph.AddNode("extra", Spec(kShrink).Set("output_size", {2, 2}), "image"));
  ExpectInvalid(graph.Check(), {"'extra'", "output of the graph"});
  graph = Pair();
  MustBeOk(graph.AddInput("spare"));
  ExpectInvalid(graph.Check(), {"input 'spare'", "read by a node"});
  ExpectInvalid(Graph().Check(), {"an output"});
}

TEST(GraphCheck, RequiredAttributesAreThere) {
  Graph graph;
  MustBeOk(graph.AddInput("x"));
  MustBeOk(graph.AddNode("grow", Spec(kNearest), "x"));
  MustBeOk(graph.AddOutput("y", "grow"));
  ExpectInvalid(graph.Check(), {"'grow'", "output_size", "must be given"});
}

TEST(GraphCheck, ValuesAreJudgedByTheOperator) {
  const auto check = [](std::string_view attr, const AttrValue& value) {
    Graph graph = Pair();
    MustBeOk(graph.Set("back", attr, value));
    return graph.Check();
  };
  ExpectInvalid(check("input_size", IntList{1, 3, 0, 10}), {"'back'", "input_size[2]", "> 0", "0"});
  ExpectInvalid(check("input_size", IntList{1, 3, 8}), {"'back'", "input_size", "4 elements", "3"});
  ExpectInvalid(check("input_size", IntList{2, 3, 8, 10}),
                {"'back'", "grad_output", "(2, 3, 4, 5)", "(1, 3, 4, 5)"});
  ExpectInvalid(check("input_size", IntList{1, 4, 8, 10}),
                {"'back'", "grad_output", "(1, 4, 4, 5)"});
  ExpectInvalid(check("output_size", IntList{4, 6}), {"'back'", "grad_output", "(1, 3, 4, 6)"});
  ExpectInvalid(check("scales_h", -0.5), {"'back'", "scales_h", ">= 0", "-0.5"});
  ExpectInvalid(check("scales_h", 0.75), {"'back'", "output_size[0]", "0.75"});
  MustBeOk(check("scales_h", 0.5));
}

TEST(GraphCheck, TypesAndRanksThatAreKnownFit) {
  Graph graph;
  MustBeOk(graph.AddInput("x", {.dtype = DType::kInt32, .shape = Dims{1, 1, 4, 4, 4}}));
  MustBeOk(graph.AddNode("grow", Spec(kNearest).Set("output_size", {8, 8, 8}), "x"));
  MustBeOk(graph.AddNode("back", Spec(kNearestGrad).Set("input_size", {1, 1, 4, 4, 4}), "grow"));
  MustBeOk(graph.AddOutput("y", "back"));
  ExpectInvalid(graph.Check(), {"'back'", "grad_output", "float32", "int32"});

  Graph flat;
  MustBeOk(flat.AddInput("x", {.shape = Dims{1, 1, 4, 4}}));
  MustBeOk(flat.AddNode("grow", Spec(kNearest).Set("output_size", {8, 8, 8}), "x"));
  MustBeOk(flat.AddOutput("y", "grow"));
  ExpectInvalid(flat.Check(), {"'grow'", "self", "5 dimensions", "4"});
}

std::vector<NamedHint> Infer(const Graph& graph) {
  const Result<std::vector<NamedHint>> shapes = graph.InferShapes();
  EXPECT_TRUE(shapes.has_value()) << shapes.error().message();
  return shapes.value_or(std::vector<NamedHint>());
}

TEST(GraphInfer, WhatIsUnknownStaysUnknown) {
  Graph graph;
  MustBeOk(graph.AddInput("x"));  // neither type nor rank
  MustBeOk(graph.AddNode("grow", Spec(kNearest).Set("output_size", {8, 9, 10}), "x"));
  MustBeOk(graph.AddNode("back", Spec(kNearestGrad).Set("input_size", {2, 3, 4, 5, 6}), "grow"));
  MustBeOk(graph.AddOutput("y", "back.y"));
  const std::vector<NamedHint> shapes = Infer(graph);
  ASSERT_EQ(shapes.size(), 2U);
  EXPECT_EQ(shapes[0].name, "grow");
  EXPECT_EQ(shapes[0].hint, (TensorHint{.dtype = {}, .shape = Dims{-1, -1, 8, 9, 10}}));
  EXPECT_EQ(shapes[1].hint, (TensorHint{.dtype = {}, .shape = Dims{2, 3, 4, 5, 6}}));

  const std::vector<TensorHint> given = {{.dtype = DType::kFloat16, .shape = Dims{2, 3, -1, 5, 6}}};
  const auto more = graph.InferShapes(given);
  ASSERT_TRUE(more.has_value()) << more.error().message();
  EXPECT_EQ((*more)[0].hint, (TensorHint{.dtype = DType::kFloat16, .shape = Dims{2, 3, 8, 9, 10}}));
  const std::vector<TensorHint> wrong = {{.shape = Dims{1, 3, -1, 5, 6}}};
  ExpectInvalid(graph.InferShapes(wrong).error(),
                {"'back'", "(2, 3, 8, 9, 10)", "(1, 3, 8, 9, 10)"});
  ExpectInvalid(graph.InferShapes({}).error(), {"inputs", "1", "0"});
}

TEST(GraphInfer, ScalesWaitForTheSizesTheyNeed) {
  Graph graph;
  MustBeOk(graph.AddInput("x", {.shape = Dims{1, 1, -1, -1}}));
  MustBeOk(graph.AddNode(
      "grow", Spec(kShrink).Set("output_size", {9, 9}).Set("scales_h", 1.5).Set("scales_w", 1.5),
      "x"));
  MustBeOk(graph.AddOutput("y", "grow"));
  MustBeOk(graph.Check());
  const std::vector<TensorHint> fits = {{.shape = Dims{1, 1, 6, 6}}};
  EXPECT_TRUE(graph.InferShapes(fits).has_value());
  const std::vector<TensorHint> wrong = {{.shape = Dims{1, 1, 6, 8}}};
  ExpectInvalid(graph.InferShapes(wrong).error(), {"'grow'", "output_size[1]", "12", "9"});
  MustBeOk(graph.Set("grow", "scales_h", -1.0));
  ExpectInvalid(graph.Check(), {"'grow'", "scales_h", ">= 0"});
}

TEST(GraphInfer, ChannelsLastKeepsTheOrderOfDimensions) {
  Graph graph;
  MustBeOk(graph.AddInput("x", {.shape = Dims{2, -1, -1, 3}, .layout = Layout::kChannelsLast}));
  MustBeOk(graph.AddNode("grow", Spec(kShrink).Set("output_size", {9, 7}), "x"));
  MustBeOk(graph.AddNode(
      "back", Spec(kShrinkGrad).Set("output_size", {9, 7}).Set("input_size", {2, 3, 5, 4}),
      "grow"));
  MustBeOk(graph.AddOutput("y", "back"));
  const std::vector<NamedHint> shapes = Infer(graph);
  EXPECT_EQ(shapes[0].hint.shape, (Dims{2, 9, 7, 3}));
  EXPECT_EQ(shapes[1].hint.shape, (Dims{2, 5, 4, 3}));
  EXPECT_EQ(shapes[1].hint.layout, Layout::kChannelsLast);
}

TEST(GraphInfer, NodesRunInTheOrderInWhichTheyWereAddedWhereTheyCan) {
  Graph graph;
  MustBeOk(graph.AddInput("x"));
  const auto add = [&](std::string_view name, std::string_view source) {
    MustBeOk(graph.AddNode(name, Spec(kShrink).Set("output_size", {2, 2}), source));
  };
  add("d", "c");
  add("a", "x");
  add("c", "b");
  add("b", "x");
  MustBeOk(graph.AddOutput("1", "a"));
  MustBeOk(graph.AddOutput("2", "d"));
  std::string order;
  for (const NamedHint& value : Infer(graph)) order += value.name;
  EXPECT_EQ(order, "abcd");
}

}  // namespace
}  // namespace opscv
