// SPDX-License-Identifier: Apache-2.0
// The regression cases of cases.json through the native interface, one test a kind of fault.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/npy.h"
#include "tests/support/problem.h"

namespace opscv::testing {
namespace {

using Json = nlohmann::json;

const std::string kFolder = OPSCV_SOURCE_DIR "/tests/cases/";

const Json& AllCases() {
  static const Json cases = Json::parse(std::ifstream(kFolder + "cases.json"));
  return cases;
}

DType ParseDType(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(DType::kBool); ++i) {
    if (NameOf(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  }
  throw std::runtime_error("no dtype " + name);
}

using Shape = std::vector<int64_t>;

// The strides of a layout that a case names, for a shape N,C,spatial.
Shape StridesOf(const Json& test, const std::string& key, const Shape& shape) {
  const std::string layout = test.value(key, "contiguous");
  if (layout == "strides") return test.at("strides").get<Shape>();
  std::vector<size_t> order(shape.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (layout == "channels_last_3d") {
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  } else if (layout == "permuted w,h,d" || layout == "transposed h,w") {
    std::reverse(order.begin() + 2, order.end());
  } else if (layout != "contiguous") {
    throw std::runtime_error("no layout " + layout);
  }
  Shape strides(shape.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= std::max<int64_t>(shape[order[i]], 1);
  }
  return strides;
}

// What a case asks of the native interface.
struct Call {
  Problem problem;
  TensorDesc input;
  TensorDesc output;
  Spec spec{""};
};

Call ReadCall(const Json& test) {
  Call call;
  const Result<const ops::OpInfo*> info = ops::FindOperator(test.at("op").get<std::string>());
  if (!info) throw std::runtime_error(info.error().message());
  Problem& p = call.problem;
  p.info = *info;
  p.dtype = ParseDType(test.at("dtype"));
  p.rule = p.info->takes_rule ? IndexRule::kTorchCpu : IndexRule::kAscend;
  const Shape in_shape = test.at("grad_output_shape").get<Shape>();
  const Shape input_size = test.at("input_size").get<Shape>();
  const Shape out_shape =
      test.contains("out_shape") ? test.at("out_shape").get<Shape>() : input_size;
  p.n = input_size[0];
  p.c = input_size[1];
  p.in.assign(input_size.begin() + 2, input_size.end());
  if (!test.at("output_size").is_null()) p.out = test.at("output_size").get<Shape>();
  for (const Json& scale : test.at("scales"))
    p.scales.push_back(scale.is_null() ? 0.0 : scale.get<double>());
  p.align_corners = test.at("align_corners").is_boolean() && test.at("align_corners").get<bool>();
  call.spec = p.ToSpec();
  call.spec.Set("input_size", input_size);
  if (p.out.empty()) call.spec = Spec(p.info->name).Set("input_size", input_size);
  const DType out_dtype = test.contains("out_dtype") ? ParseDType(test.at("out_dtype")) : p.dtype;
  call.input = {.dtype = p.dtype,
                .shape = Dims(in_shape),
                .strides = Dims(StridesOf(test, "layout", in_shape))};
  call.output = {.dtype = out_dtype,
                 .shape = Dims(out_shape),
                 .strides = Dims(StridesOf(test, "out_layout", out_shape))};
  return call;
}

int64_t SpanOf(const TensorDesc& tensor) {
  int64_t last = 0;
  for (int i = 0; i < tensor.shape.rank(); ++i) last += (tensor.shape[i] - 1) * tensor.strides[i];
  return last + 1;
}

// A dense array of bytes spread over the tensor's strides.
std::vector<char> Spread(const TensorDesc& tensor, const std::vector<char>& dense) {
  const int64_t element = SizeOf(tensor.dtype);
  std::vector<char> storage(static_cast<size_t>(SpanOf(tensor) * element), '\xFF');  // NaN
  for (int64_t i = 0; i * element < static_cast<int64_t>(dense.size()); ++i) {
    std::memcpy(storage.data() + OffsetOf(tensor, i) * element, dense.data() + i * element,
                static_cast<size_t>(element));
  }
  return storage;
}

std::vector<double> ReadBack(const TensorDesc& tensor, const std::vector<char>& storage,
                             int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, storage.data() + OffsetOf(tensor, i) * SizeOf(tensor.dtype),
                static_cast<size_t>(SizeOf(tensor.dtype)));
    values[static_cast<size_t>(i)] = FromBits(tensor.dtype, bits);
  }
  return values;
}

// The tolerance that the cases' README sets, which the bound of the library comes on top of.
double Tolerance(const Json& test, double expected, double largest) {
  const double relative = 1e-5 * largest;
  const std::string dtype = test.at("dtype");
  const bool half = dtype == "float16" || dtype == "bfloat16";
  if (test.at("expect") == "exact") return 0.0;
  if (!half) return relative;
  int exponent = 0;
  std::frexp(expected, &exponent);
  const int digits = dtype == "float16" ? 11 : 8;
  const int lowest = dtype == "float16" ? -24 : -133;
  return std::max(std::ldexp(1.0, std::max(exponent - digits, lowest)), relative);
}

void ExpectValues(const Json& test, const std::vector<double>& actual,
                  const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  double largest = 0.0;
  for (const double value : expected) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    if (!std::isfinite(expected[i])) {
      ASSERT_FALSE(std::isfinite(actual[i])) << "element " << i << " is " << actual[i];
    } else {
      ASSERT_LE(std::abs(actual[i] - expected[i]), Tolerance(test, expected[i], largest))
          << "element " << i << " is " << actual[i] << ", expected " << expected[i];
    }
  }
}

const std::string kDataFolder = OPSCV_BINARY_DIR "/tests/cases/data/";

// The storage of the output, from any number of threads the same.
void Compute(const Call& call, const std::vector<char>& grad, std::vector<char>& storage) {
  const Result<Plan> plan = MakePlan(call.spec, call.input, call.output);
  ASSERT_TRUE(plan.has_value()) << plan.error().message();
  const std::vector<char> input = Spread(call.input, grad);
  for (const int threads : {1, 2, 5}) {
    std::vector<char> output(static_cast<size_t>(SpanOf(call.output) * SizeOf(call.output.dtype)),
                             '\xFF');
    RunOptions options;
    options.threads = threads;
    const Status status = plan->Run(input.data(), output.data(), options);
    ASSERT_TRUE(status.ok()) << status.message();
    if (storage.empty()) storage = output;
    ASSERT_EQ(storage, output) << threads << " threads";
  }
}

void RunCase(const Json& test, const Call& call) {
  const std::string folder = kDataFolder + test.at("id").get<std::string>();
  const Npy grad = ReadNpy(folder + "/grad_output.npy");
  const Npy answer = ReadNpy(folder + "/expected.npy");
  ASSERT_EQ(Dims(grad.shape), call.input.shape);
  std::vector<double> expected(answer.bytes.size() / sizeof(double));
  std::memcpy(expected.data(), answer.bytes.data(), answer.bytes.size());

  std::vector<char> storage;
  ASSERT_NO_FATAL_FAILURE(Compute(call, grad.bytes, storage));
  const std::vector<double> actual =
      ReadBack(call.output, storage, static_cast<int64_t>(expected.size()));
  ExpectValues(test, actual, expected);

  std::vector<double> values =
      ReadBack({.dtype = call.input.dtype,
                .shape = call.input.shape,
                .strides = ContiguousStrides(call.input.shape)},
               grad.bytes, static_cast<int64_t>(grad.bytes.size()) / SizeOf(call.input.dtype));
  const Worst worst = WorstError(call.problem, Reference(call.problem, values), actual);
  EXPECT_LE(worst.fraction, 1.0) << "element " << worst.element << " is " << worst.actual
                                 << ", the reference says " << worst.expected;
}

void RunRefusal(const Call& call) {
  const Result<Plan> plan = MakePlan(call.spec, call.input, call.output);
  ASSERT_FALSE(plan.has_value());
  EXPECT_FALSE(plan.error().message().empty());
}

void RunEmpty(const Call& call) {
  const Result<Plan> plan = MakePlan(call.spec, call.input, call.output);
  ASSERT_TRUE(plan.has_value()) << plan.error().message();
  EXPECT_TRUE(plan->Run(nullptr, nullptr).ok());
}

enum class Kind { kRefused, kEmpty, kComputed };

// A negative scale of operator A is documented as refused (docs/checks.md).
Kind KindOf(const Json& test) {
  const std::string expect = test.at("expect");
  if (test.at("id") == "B15f") return Kind::kRefused;
  if (expect.starts_with("error") && !test.contains("python_expect")) return Kind::kRefused;
  return expect == "empty" ? Kind::kEmpty : Kind::kComputed;
}

class Cases : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Cases, ::testing::Range(1, 16),
                         [](const auto& info) { return fmt::format("B{:02}", info.param); });

TEST_P(Cases, PassThroughTheNativeInterface) {
  const std::string kind = fmt::format("B{:02}", GetParam());
  std::vector<Json> tests;
  std::string with_data;
  for (const Json& test : AllCases()) {
    const std::string id = test.at("id");
    if (!id.starts_with(kind)) continue;
    tests.push_back(test);
    if (KindOf(test) == Kind::kComputed) with_data += " " + id;
  }
  ASSERT_FALSE(tests.empty());
  if (!with_data.empty()) {
    const std::string command = "/usr/bin/python3 " + kFolder + "make_data.py " + kDataFolder +
                                " --only" + with_data + " >&2";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  for (const Json& test : tests) {
    SCOPED_TRACE(test.at("id").get<std::string>() + ": " + test.at("note").get<std::string>());
    const Call call = ReadCall(test);
    switch (KindOf(test)) {
      case Kind::kRefused:
        RunRefusal(call);
        break;
      case Kind::kEmpty:
        RunEmpty(call);
        break;
      case Kind::kComputed:
        RunCase(test, call);
        break;
    }
  }
}

}  // namespace
}  // namespace opscv::testing
