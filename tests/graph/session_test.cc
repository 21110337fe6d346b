// SPDX-License-Identifier: Apache-2.0
// Graphs that run: the bits of direct calls, the memory they tell of, and what a refusal leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_upsample_nearest_exact3d_backward.h"
#include "opscv/graph.h"
#include "tests/support/problem.h"

namespace opscv::testing {
namespace {

using ::testing::HasSubstr;

constexpr auto kShrink = "UpsampleBicubic2dAA";
constexpr auto kShrinkGrad = "UpsampleBicubic2dAAGrad";
constexpr auto kNearest = "UpsampleNearestExact3d";
constexpr auto kNearestGrad = "UpsampleNearestExact3dGrad";

void MustBeOk(const Status& status) { ASSERT_TRUE(status.ok()) << status.message(); }

Session MustMake(const Graph& graph) {
  Result<Session> session = MakeSession(graph);
  EXPECT_TRUE(session.has_value()) << session.error().message();
  return *std::move(session);
}

SessionFacts MustTell(const Session& session, const std::vector<TensorDesc>& inputs,
                      const std::vector<TensorDesc>& outputs) {
  Result<SessionFacts> facts = session.Facts(inputs, outputs);
  EXPECT_TRUE(facts.has_value()) << facts.error().message();
  return *std::move(facts);
}

// --- random graphs
// --------------------------------------------------------------------------------

// A graph with everything that a run of it needs, and the answers of direct calls.
struct RandomGraph {
  Graph graph;
  std::vector<std::vector<int64_t>> input_shapes;  // N,C,spatial
  std::vector<std::vector<int64_t>> node_shapes;
  std::vector<int> sources;  // of each node: a node, or -1 - input
  std::vector<int> outputs;  // nodes
  DType dtype = DType::kFloat32;
  Layout layout = Layout::kChannelsFirst;
};

std::vector<int64_t> RandomExtents(size_t axes, Random& random) {
  std::vector<int64_t> extents(axes);
  for (int64_t& extent : extents) extent = random.Int(1, axes == 2 ? 24 : 9);
  return extents;
}

// A dimension, or -1 now and then; the shape itself may stay open too.
std::optional<Dims> RandomHint(const Dims& shape, Random& random) {
  if (random.Chance(0.3)) return std::nullopt;
  Dims hint = shape;
  for (int i = 0; i < hint.rank(); ++i) {
    if (random.Chance(0.4)) hint[i] = -1;
  }
  return hint;
}

Dims InLayout(const std::vector<int64_t>& shape, Layout layout) {
  return TestTensor(DType::kFloat32, shape,
                    layout == Layout::kChannelsLast ? Form::kChannelsLast : Form::kContiguous)
      .desc()
      .shape;
}

// A call that fits an input of that shape.
Spec RandomSpec(const std::vector<int64_t>& input, std::vector<int64_t>& output, Random& random) {
  const size_t axes = input.size() - 2;
  const bool volume = axes == 3;
  const bool backward = random.Chance(0.5);
  output = {input[0], input[1]};
  const std::vector<int64_t> extents = RandomExtents(axes, random);
  output.insert(output.end(), extents.begin(), extents.end());
  Spec spec(volume ? (backward ? kNearestGrad : kNearest) : (backward ? kShrinkGrad : kShrink));
  const IntList after(backward ? IntList(input.begin() + 2, input.end()) : extents);
  if (!(volume && backward && random.Chance(0.6))) spec.Set("output_size", after);
  if (backward) spec.Set("input_size", output);
  std::vector<double> scales;
  for (size_t i = 0; i < axes; ++i) {
    const auto before = static_cast<double>(backward ? extents[i] : input[i + 2]);
    scales.push_back(static_cast<double>(after[i]) / before);
  }
  if (volume && random.Chance(0.5)) spec.Set("scales", scales);
  if (volume && random.Chance(0.5)) spec.SetRule(IndexRule::kTorchCpu);
  if (!volume && random.Chance(0.3)) spec.Set("align_corners", true);
  if (!volume && random.Chance(0.3)) spec.Set("scales_h", scales[0]);
  if (!volume && random.Chance(0.3)) spec.Set("scales_w", scales[1]);
  return spec;
}

void AddInputs(RandomGraph& result, size_t axes, Random& random) {
  for (int64_t i = random.Int(1, 2); i > 0; --i) {
    std::vector<int64_t> shape = {random.Int(1, 2), random.Int(1, 3)};
    const std::vector<int64_t> extents = RandomExtents(axes, random);
    shape.insert(shape.end(), extents.begin(), extents.end());
    const std::string name = "in" + std::to_string(result.input_shapes.size());
    TensorHint hint;
    hint.layout = result.layout;
    hint.shape = RandomHint(InLayout(shape, result.layout), random);
    if (random.Chance(0.5)) hint.dtype = result.dtype;
    MustBeOk(result.graph.AddInput(name, hint));
    result.input_shapes.push_back(shape);
  }
}

RandomGraph Draw(Random& random) {
  RandomGraph result;
  const size_t axes = random.Chance(0.5) ? 2 : 3;
  result.dtype = random.Of({DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64});
  result.layout = random.Chance(0.3) ? Layout::kChannelsLast : Layout::kChannelsFirst;
  AddInputs(result, axes, random);
  const auto inputs = static_cast<int64_t>(result.input_shapes.size());
  const int64_t nodes = random.Int(inputs, 9);
  std::vector<bool> read(static_cast<size_t>(nodes), false);
  for (int64_t i = 0; i < nodes; ++i) {
    // The first nodes read every input once, so that none is left over.
    const int64_t from = i < inputs ? -1 - i : random.Int(-inputs, i - 1);
    result.sources.push_back(static_cast<int>(from));
    if (from >= 0) read[static_cast<size_t>(from)] = true;
    const auto& shape = from < 0 ? result.input_shapes[static_cast<size_t>(-1 - from)]
                                 : result.node_shapes[static_cast<size_t>(from)];
    std::vector<int64_t> output;
    const Spec spec = RandomSpec(shape, output, random);
    const std::string source =
        from < 0 ? "in" + std::to_string(-1 - from) : "n" + std::to_string(from);
    MustBeOk(result.graph.AddNode("n" + std::to_string(i), spec, source));
    result.node_shapes.push_back(output);
  }
  for (int64_t i = 0; i < nodes; ++i) {
    if (read[static_cast<size_t>(i)] && random.Chance(0.7)) continue;
    MustBeOk(result.graph.AddOutput("out" + std::to_string(i), "n" + std::to_string(i)));
    result.outputs.push_back(static_cast<int>(i));
  }
  return result;
}

Form RandomForm(const RandomGraph& drawn, Random& random) {
  if (drawn.layout == Layout::kChannelsLast) return Form::kChannelsLast;
  return random.Of({Form::kContiguous, Form::kChannelsLastView, Form::kReversedSpace,
                    Form::kNegative, Form::kStrided, Form::kPadded});
}

// The bits of every node, each by a direct call on contiguous tensors.
std::vector<std::vector<uint64_t>> Direct(const RandomGraph& drawn,
                                          const std::vector<TestTensor>& inputs) {
  std::vector<std::vector<uint64_t>> bits;
  for (size_t i = 0; i < drawn.node_shapes.size(); ++i) {
    const int from = drawn.sources[i];
    const auto number = static_cast<size_t>(from < 0 ? -1 - from : from);
    TestTensor input(drawn.dtype, from < 0 ? drawn.input_shapes[number] : drawn.node_shapes[number],
                     Form::kContiguous);
    input.FillBits(from < 0 ? inputs[number].Bits() : bits[number]);
    TestTensor output(drawn.dtype, drawn.node_shapes[i], Form::kContiguous);
    const Result<Plan> plan = MakePlan(drawn.graph.nodes()[i].spec, input.desc(), output.desc());
    EXPECT_TRUE(plan.has_value()) << plan.error().message();
    EXPECT_TRUE(plan->Run(input.data(), output.data(), {.threads = 1}).ok());
    bits.push_back(output.Bits());
  }
  return bits;
}

struct Tensors {
  std::vector<TestTensor> inputs;
  std::vector<TestTensor> outputs;

  Tensors(const RandomGraph& drawn, Random& random) {
    for (const auto& shape : drawn.input_shapes) {
      inputs.emplace_back(drawn.dtype, shape, RandomForm(drawn, random));
      inputs.back().Fill(RandomValues(drawn.dtype, inputs.back().size(), random));
    }
    for (const int node : drawn.outputs) {
      outputs.emplace_back(drawn.dtype, drawn.node_shapes[static_cast<size_t>(node)],
                           RandomForm(drawn, random));
    }
  }
  [[nodiscard]] std::vector<ConstTensorView> InputViews() const {
    std::vector<ConstTensorView> views;
    for (const TestTensor& tensor : inputs) views.push_back({tensor.desc(), tensor.data()});
    return views;
  }
  std::vector<TensorView> OutputViews() {
    std::vector<TensorView> views;
    for (TestTensor& tensor : outputs) views.push_back({tensor.desc(), tensor.data()});
    return views;
  }
  [[nodiscard]] std::vector<TensorDesc> InputDescs() const {
    std::vector<TensorDesc> descs;
    for (const TestTensor& tensor : inputs) descs.push_back(tensor.desc());
    return descs;
  }
  [[nodiscard]] std::vector<TensorDesc> OutputDescs() const {
    std::vector<TensorDesc> descs;
    for (const TestTensor& tensor : outputs) descs.push_back(tensor.desc());
    return descs;
  }
};

class RandomGraphs : public ::testing::Test {
 protected:
  void SetUp() override { trace_.emplace(__FILE__, __LINE__, SeedTrace()); }

 private:
  std::optional<::testing::ScopedTrace> trace_;
};

TEST_F(RandomGraphs, HaveTheBitsOfDirectCalls) {
  Random random(81);
  for (int round = 0; round < 150 && !HasFailure(); ++round) {
    const RandomGraph drawn = Draw(random);
    SCOPED_TRACE(drawn.graph.ToJson());
    const Session session = MustMake(drawn.graph);
    for (int run = 0; run < 2; ++run) {
      Tensors tensors(drawn, random);
      RunOptions options;
      options.threads = static_cast<int>(random.Int(0, 3));
      MustBeOk(session.Run(tensors.InputViews(), tensors.OutputViews(), options));
      const auto expected = Direct(drawn, tensors.inputs);
      for (size_t i = 0; i < drawn.outputs.size(); ++i) {
        ASSERT_EQ(tensors.outputs[i].Bits(), expected[static_cast<size_t>(drawn.outputs[i])])
            << drawn.graph.outputs()[i].name;
        ASSERT_TRUE(tensors.outputs[i].GapsUntouched());
      }
    }
  }
}

TEST_F(RandomGraphs, RunWithTheShapesThatWereInferred) {
  Random random(82);
  for (int round = 0; round < 100 && !HasFailure(); ++round) {
    const RandomGraph drawn = Draw(random);
    SCOPED_TRACE(drawn.graph.ToJson());
    const Session session = MustMake(drawn.graph);
    const Tensors tensors(drawn, random);
    const SessionFacts facts = MustTell(session, tensors.InputDescs(), tensors.OutputDescs());

    std::vector<TensorHint> hints;
    for (const TensorDesc& input : tensors.InputDescs()) {
      hints.push_back({.dtype = input.dtype, .shape = input.shape, .layout = input.layout});
    }
    const auto known = drawn.graph.InferShapes(hints);
    const auto partial = drawn.graph.InferShapes();
    ASSERT_TRUE(known.has_value()) << known.error().message();
    ASSERT_TRUE(partial.has_value()) << partial.error().message();
    ASSERT_EQ(facts.steps.size(), known->size());
    for (size_t i = 0; i < facts.steps.size(); ++i) {
      const TensorDesc& result = facts.steps[i].plan.output();
      ASSERT_EQ(facts.steps[i].node, (*known)[i].name);
      ASSERT_EQ((*known)[i].hint, (TensorHint{result.dtype, result.shape, result.layout}));
      const Dims& inferred = *(*partial)[i].hint.shape;
      for (int dim = 0; dim < inferred.rank(); ++dim) {
        if (inferred[dim] != -1) {
          ASSERT_EQ(inferred[dim], result.shape[dim]);
        }
      }
    }
    const auto outputs = session.OutputsFor(tensors.InputDescs());
    ASSERT_TRUE(outputs.has_value());
    for (size_t i = 0; i < outputs->size(); ++i) {
      ASSERT_EQ((*outputs)[i].shape, tensors.OutputDescs()[i].shape);
    }
  }
}

TEST_F(RandomGraphs, TellTheLargestSumOfLiveBytesInTheirOrder) {
  Random random(83);
  for (int round = 0; round < 100 && !HasFailure(); ++round) {
    const RandomGraph drawn = Draw(random);
    SCOPED_TRACE(drawn.graph.ToJson());
    const Tensors tensors(drawn, random);
    const SessionFacts facts =
        MustTell(MustMake(drawn.graph), tensors.InputDescs(), tensors.OutputDescs());
    std::map<std::string, size_t> step_of;
    for (size_t i = 0; i < facts.steps.size(); ++i) step_of[facts.steps[i].node] = i;
    std::vector<int64_t> live(facts.steps.size(), 0);
    for (size_t i = 0; i < drawn.node_shapes.size(); ++i) {
      if (std::count(drawn.outputs.begin(), drawn.outputs.end(), static_cast<int>(i)) > 0) continue;
      const size_t first = step_of["n" + std::to_string(i)];
      size_t last = first;
      for (size_t k = 0; k < drawn.sources.size(); ++k) {
        if (drawn.sources[k] != static_cast<int>(i)) continue;
        last = std::max(last, step_of["n" + std::to_string(k)]);
      }
      int64_t bytes = SizeOf(drawn.dtype);
      for (const int64_t extent : drawn.node_shapes[i]) bytes *= extent;
      for (size_t step = first; step <= last; ++step) live[step] += bytes;
    }
    for (size_t i = 0; i < live.size(); ++i) ASSERT_EQ(facts.steps[i].live_bytes, live[i]);
    ASSERT_EQ(facts.peak_bytes, *std::max_element(live.begin(), live.end()));
    ASSERT_GE(facts.arena_bytes, facts.peak_bytes);
    ASSERT_GE(facts.workspace_bytes, facts.arena_bytes);
  }
}

// --- one pair
// -------------------------------------------------------------------------------------

// x -> grow -> back on volumes of any size, where only `back` is shown.
Graph Volumes() {
  Graph graph;
  MustBeOk(graph.AddInput("x"));
  MustBeOk(graph.AddNode("grow", Spec(kNearest).Set("output_size", {4, 4, 4}), "x"));
  MustBeOk(graph.AddNode("back", Spec(kNearestGrad).Set("input_size", {1, 2, 2, 2, 2}), "grow"));
  MustBeOk(graph.AddOutput("y", "back"));
  return graph;
}

class OneRun : public ::testing::Test {
 protected:
  OneRun() {
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  }
  // Expects a refusal, and an output that nobody has touched.
  void ExpectRefused(const Status& status, StatusCode code, const std::vector<std::string>& parts) {
    EXPECT_EQ(status.code(), code) << status.message();
    for (const std::string& part : parts) EXPECT_THAT(status.message(), HasSubstr(part));
    EXPECT_EQ(out, std::vector<float>(out.size(), -7.0f));
  }
  void ExpectInvalid(const Status& status, const std::vector<std::string>& parts) {
    ExpectRefused(status, StatusCode::kInvalidArgument, parts);
  }

  Graph graph = Volumes();
  Session session = MustMake(graph);
  TensorDesc in_desc = Contiguous(DType::kFloat32, {1, 2, 2, 2, 2});
  TensorDesc out_desc = Contiguous(DType::kFloat32, {1, 2, 2, 2, 2});
  std::vector<float> in = std::vector<float>(16);
  std::vector<float> out = std::vector<float>(16, -7.0f);
};

TEST_F(OneRun, DoublesAndSumsUp) {
  MustBeOk(session.Run({{in_desc, in.data()}}, {{out_desc, out.data()}}));
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], 8.0f * in[i]);
}

TEST_F(OneRun, PlansOnceForEveryShape) {
  for (int i = 0; i < 3; ++i) {
    MustBeOk(session.Run({{in_desc, in.data()}}, {{out_desc, out.data()}}));
  }
  EXPECT_EQ(session.times_planned(), 1);
  const Session copy = session;
  const TensorDesc other = Contiguous(DType::kFloat32, {1, 2, 2, 1, 1});
  MustBeOk(copy.Run({{other, in.data()}}, {{out_desc, out.data()}}));
  MustBeOk(copy.Run({{in_desc, in.data()}}, {{out_desc, out.data()}}));
  EXPECT_EQ(session.times_planned(), 2);
}

TEST_F(OneRun, ForgetsTheShapesThatWereUsedLeastRecently) {
  std::vector<float> many(2 * 32);
  const auto run = [&](int64_t width) {
    const TensorDesc desc = Contiguous(DType::kFloat32, {1, 2, 1, 1, width});
    MustBeOk(session.Run({{desc, many.data()}}, {{out_desc, out.data()}}));
  };
  const auto kept = static_cast<int64_t>(Session::kPlannedShapes);
  for (int64_t width = 1; width <= kept + 1; ++width) run(width);
  EXPECT_EQ(session.times_planned(), kept + 1);
  run(kept + 1);
  run(2);
  EXPECT_EQ(session.times_planned(), kept + 1);
  run(1);
  EXPECT_EQ(session.times_planned(), kept + 2);
}

TEST_F(OneRun, ARefusalTouchesNothing) {
  const auto run = [&](const TensorDesc& from, const void* data, const TensorDesc& to,
                       void* result) {
    return session.Run({{from, data}}, {{to, result}});
  };
  // What fits the first node and not the second: the graph as a whole runs or does not.
  ExpectInvalid(run(Contiguous(DType::kInt32, {1, 2, 2, 2, 2}), in.data(), out_desc, out.data()),
                {"'back'", "int32"});
  ExpectInvalid(run(Contiguous(DType::kFloat32, {2, 1, 2, 2, 2}), in.data(), out_desc, out.data()),
                {"'back'", "grad_output", "(1, 2, 4, 4, 4)", "(2, 1, 4, 4, 4)"});
  ExpectInvalid(run(Contiguous(DType::kFloat32, {1, 2, 2, 8}), in.data(), out_desc, out.data()),
                {"'grow'", "5 dimensions", "4"});
  ExpectInvalid(run(Contiguous(DType::kFloat32, {1, 2, -1, 2, 2}), in.data(), out_desc, out.data()),
                {"'x'", "-1"});
  ExpectInvalid(run(in_desc, in.data(), Contiguous(DType::kFloat32, {1, 2, 2, 2, 1}), out.data()),
                {"output 'y'", "(1, 2, 2, 2, 2)", "(1, 2, 2, 2, 1)"});
  ExpectInvalid(run(in_desc, in.data(), Contiguous(DType::kFloat64, {1, 2, 2, 2, 2}), out.data()),
                {"output 'y'", "float32", "float64"});
  TensorDesc overlapping = out_desc;
  overlapping.strides[4] = 0;
  ExpectInvalid(run(in_desc, in.data(), overlapping, out.data()), {"'back'", "overlap itself"});
  ExpectInvalid(run(in_desc, out.data() + 1, out_desc, out.data()), {"'y'", "'x'", "meet"});
  ExpectInvalid(run(in_desc, reinterpret_cast<const char*>(in.data()) + 1, out_desc, out.data()),
                {"input 'x'", "aligned"});
  ExpectRefused(run(in_desc, nullptr, out_desc, out.data()), StatusCode::kNullPointer,
                {"input 'x'"});
  ExpectRefused(run(in_desc, in.data(), out_desc, nullptr), StatusCode::kNullPointer,
                {"output 'y'"});
  ExpectInvalid(session.Run({}, {{out_desc, out.data()}}), {"inputs", "1", "0"});
  ExpectInvalid(session.Run({{in_desc, in.data()}}, {}), {"outputs", "1", "0"});
  RunOptions options;
  options.workspace = reinterpret_cast<char*>(in.data()) + 4;
  ExpectInvalid(session.Run({{in_desc, in.data()}}, {{out_desc, out.data()}}, options),
                {"workspace", "64"});
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they end the process instead
TEST_F(OneRun, MemoryThatIsNotThereTouchesNothing) {
  // 2^58 elements in between: planned, but no memory holds them.
  Graph large;
  const int64_t side = int64_t{1} << 20;
  MustBeOk(large.AddInput("x"));
  MustBeOk(large.AddNode("grow", Spec(kNearest).Set("output_size", {side, side, side / 8}), "x"));
  MustBeOk(large.AddNode("back", Spec(kNearestGrad).Set("input_size", {1, 2, 2, 2, 2}), "grow"));
  MustBeOk(large.AddOutput("y", "back"));
  const TensorDesc bytes = Contiguous(DType::kFloat16, {1, 2, 2, 2, 2});
  ExpectRefused(MustMake(large).Run({{bytes, in.data()}}, {{bytes, out.data()}}),
                StatusCode::kOutOfMemory, {"bytes"});
}
#endif

TEST_F(OneRun, OutputsKeepApart) {
  MustBeOk(graph.AddOutput("z", "grow"));
  const Session both = MustMake(graph);
  const TensorDesc large = Contiguous(DType::kFloat32, {1, 2, 4, 4, 4});
  std::vector<float> shared(128, -7.0f);
  const Status status =
      both.Run({{in_desc, in.data()}}, {{out_desc, shared.data()}, {large, shared.data()}});
  ExpectInvalid(status, {"'z'", "'y'", "meet"});
  EXPECT_EQ(shared, std::vector<float>(128, -7.0f));
  // The result of one node is read by the next where the caller keeps it.
  MustBeOk(both.Run({{in_desc, in.data()}}, {{out_desc, out.data()}, {large, shared.data()}}));
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], 8.0f * in[i]);
  EXPECT_EQ(MustTell(both, {in_desc}, {out_desc, large}).peak_bytes, 0);
}

TEST_F(OneRun, TheWorkspaceMayBeTheCallersOwn) {
  const SessionFacts facts = MustTell(session, {in_desc}, {out_desc});
  EXPECT_EQ(facts.peak_bytes, 512);
  EXPECT_EQ(facts.arena_bytes, 512);
  std::vector<char> memory(static_cast<size_t>(facts.workspace_bytes) + 64, 'w');
  RunOptions options;
  options.workspace = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
  MustBeOk(session.Run({{in_desc, in.data()}}, {{out_desc, out.data()}}, options));
  EXPECT_EQ(out[3], 24.0f);
  EXPECT_NE(std::count(memory.begin(), memory.end(), 'w'), static_cast<int64_t>(memory.size()));
}

TEST_F(OneRun, ACancelledRunSaysSo) {
  const std::atomic<bool> stop = true;
  RunOptions options;
  options.stop = &stop;
  const Status status = session.Run({{in_desc, in.data()}}, {{out_desc, out.data()}}, options);
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
}

TEST_F(OneRun, EmptyBatchesRun) {
  Graph empty;
  MustBeOk(empty.AddInput("x"));
  MustBeOk(empty.AddNode("grow", Spec(kNearest).Set("output_size", {4, 4, 4}), "x"));
  MustBeOk(empty.AddNode("back", Spec(kNearestGrad).Set("input_size", {0, 2, 2, 2, 2}), "grow"));
  MustBeOk(empty.AddOutput("y", "back"));
  const TensorDesc none = Contiguous(DType::kFloat32, {0, 2, 2, 2, 2});
  MustBeOk(MustMake(empty).Run({{none, nullptr}}, {{none, nullptr}}));
}

TEST_F(OneRun, ThreadsShareASession) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      const auto width = static_cast<int64_t>(t % 2) + 1;
      const TensorDesc desc = Contiguous(DType::kFloat32, {1, 2, 1, 1, width});
      const std::vector<float> mine(static_cast<size_t>(2 * width), static_cast<float>(t));
      for (int i = 0; i < 200; ++i) {
        std::vector<float> result(16);
        const Status status = session.Run({{desc, mine.data()}}, {{out_desc, result.data()}});
        const std::vector<float> expected(16, 8.0f * static_cast<float>(t));
        if (!status.ok() || result != expected) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

// --- the rules of graph mode
// ----------------------------------------------------------------------

// Handles of the C interface that end with the object.
struct CTensor {
  CTensor(const Dims& shape, const float* data)
      : handle(aclCreateTensor(shape.values().data(), shape.values().size(), ACL_FLOAT, nullptr, 0,
                               ACL_FORMAT_NCDHW, shape.values().data(), shape.values().size(),
                               const_cast<float*>(data))) {}
  CTensor(const CTensor&) = delete;
  CTensor& operator=(const CTensor&) = delete;
  ~CTensor() { aclDestroyTensor(handle); }
  aclTensor* handle;
};
struct CArray {
  explicit CArray(std::span<const int64_t> values)
      : handle(aclCreateIntArray(values.data(), values.size())) {}
  CArray(const CArray&) = delete;
  CArray& operator=(const CArray&) = delete;
  ~CArray() { aclDestroyIntArray(handle); }
  aclIntArray* handle;
};

// What the C function answers with those output sizes and scales of 0.
std::vector<float> CCall(const Dims& grad_shape, const Dims& input_size,
                         const std::vector<float>& grad, size_t results) {
  std::vector<float> result(results);
  const CTensor in(grad_shape, grad.data());
  const CTensor out(input_size, result.data());
  const CArray sizes(grad_shape.values().subspan(2));
  const CArray input_sizes(input_size.values());
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  const aclnnStatus planned = aclnnUpsampleNearestExact3dBackwardGetWorkspaceSize(
      in.handle, sizes.handle, input_sizes.handle, 0.0, 0.0, 0.0, out.handle, &bytes, &executor);
  EXPECT_EQ(planned, 0) << aclGetRecentErrMsg();
  void* workspace = nullptr;
  const aclError made = bytes > 0 ? aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST) : 0;
  const aclnnStatus queued =
      aclnnUpsampleNearestExact3dBackward(workspace, bytes, executor, nullptr);
  const aclError done = aclrtSynchronizeStream(nullptr);
  EXPECT_EQ((std::vector{made, queued, done}), (std::vector{0, 0, 0}));
  if (workspace != nullptr) aclrtFree(workspace);
  return result;
}

// A node with those attributes, run on values.
std::vector<float> RunNode(const Spec& spec, const Dims& from, const Dims& to,
                           const std::vector<float>& values, size_t results) {
  Graph graph;
  MustBeOk(graph.AddInput("grad"));
  MustBeOk(graph.AddNode("back", spec, "grad"));
  MustBeOk(graph.AddOutput("y", "back.y"));
  std::vector<float> result(results);
  MustBeOk(MustMake(graph).Run({{Contiguous(DType::kFloat32, from), values.data()}},
                               {{Contiguous(DType::kFloat32, to), result.data()}}));
  return result;
}

TEST(GraphMode, InputSizeAloneHasTheBitsOfTheCCallWithSizesAndNoScales) {
  Random random(84);
  SCOPED_TRACE(SeedTrace());
  for (int round = 0; round < 40; ++round) {
    Dims from = {random.Int(1, 2), random.Int(1, 3), 0, 0, 0};
    Dims to = from;
    size_t in_count = static_cast<size_t>(from[0] * from[1]);
    size_t out_count = in_count;
    for (int i = 2; i < 5; ++i) {
      // The C function refuses to shrink by more than 50.
      from[i] = random.Int(1, 40);
      to[i] = random.Int(1, 40);
      in_count *= static_cast<size_t>(from[i]);
      out_count *= static_cast<size_t>(to[i]);
    }
    std::vector<float> grad(in_count);
    for (float& value : grad) value = static_cast<float>(random.Normal());
    const std::vector<float> expected = CCall(from, to, grad, out_count);
    const IntList input_size(to.values().begin(), to.values().end());
    const Spec bare = Spec(kNearestGrad).Set("input_size", input_size);
    Spec zeros = bare;
    zeros.Set("output_size", {0, 0, 0}).Set("scales", {0.0, 0.0, 0.0});
    for (const Spec& spec : {bare, zeros}) {
      ASSERT_EQ(RunNode(spec, from, to, grad, out_count), expected);
    }
  }
  aclFinalize();
}

TEST(GraphMode, TheExampleOfTheDocuments) {
  std::vector<float> grad(32);
  std::iota(grad.begin(), grad.end(), 1.0f);
  EXPECT_EQ(RunNode(Spec(kNearestGrad).Set("input_size", {2, 2, 1, 1, 1}), {2, 2, 2, 2, 2},
                    {2, 2, 1, 1, 1}, grad, 4),
            (std::vector<float>{36.0f, 100.0f, 164.0f, 228.0f}));
}

TEST(GraphMode, BatchAndChannelsOfInputSizeAreThoseOfTheGradient) {
  for (const auto& [input_size, expected] : std::vector<std::pair<IntList, std::string>>{
           {{1, 2, 1, 1, 1}, "(1, 2, 2, 2, 2)"}, {{2, 3, 1, 1, 1}, "(2, 3, 2, 2, 2)"}}) {
    Graph graph;
    MustBeOk(graph.AddInput("grad", {.dtype = DType::kFloat32, .shape = Dims{2, 2, 2, 2, 2}}));
    MustBeOk(graph.AddNode("back", Spec(kNearestGrad).Set("input_size", input_size), "grad"));
    MustBeOk(graph.AddOutput("y", "back.y"));
    const Status status = graph.Check();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    for (const std::string& part :
         {std::string("'back'"), std::string("grad_output"), std::string("input_size"), expected,
          std::string("(2, 2, 2, 2, 2)")}) {
      EXPECT_THAT(status.message(), HasSubstr(part));
    }
  }
}

TEST(GraphMode, CostsAreWhatThePassesSay) {
  Graph graph;
  MustBeOk(graph.AddInput("image"));
  MustBeOk(graph.AddNode("shrink", Spec(kShrink).Set("output_size", {8, 10}), "image"));
  MustBeOk(graph.AddOutput("small", "shrink"));
  const TensorDesc in = Contiguous(DType::kFloat32, {2, 3, 16, 10});
  const TensorDesc out = Contiguous(DType::kFloat32, {2, 3, 8, 10});
  const SessionFacts facts = MustTell(MustMake(graph), {in}, {out});
  ASSERT_EQ(facts.steps.size(), 1U);
  // Only H is resampled: of 8 taps, twice the 4 of the filter, none is lost in the middle.
  EXPECT_EQ(facts.steps[0].multiply_adds, 2 * 3 * 8 * 10 * 8);
  EXPECT_EQ(facts.steps[0].bytes_read, 2 * 3 * 16 * 10 * 4);
  EXPECT_EQ(facts.steps[0].bytes_written, 2 * 3 * 8 * 10 * 4);
  EXPECT_EQ(facts.steps[0].offset, -1);
  EXPECT_EQ(facts.peak_bytes, 0);
}

}  // namespace
}  // namespace opscv::testing
