// SPDX-License-Identifier: Apache-2.0
// The regression cases of tests/cases through the C interface, at its default index rule: what its
// types and limits admit is computed and judged, the rest refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/capi/request.h"
#include "tests/support/npy.h"
#include "tests/support/problem.h"

namespace opscv::testing {
namespace {

using Json = nlohmann::json;

const std::string kFolder = OPSCV_SOURCE_DIR "/tests/cases/";
const std::string kDataFolder = OPSCV_BINARY_DIR "/tests/capi/data/";

// Ties, and lone scales, that the device's rule resolves otherwise than PyTorch: the reference
// alone judges these.
const std::set<std::string> kJudgedByReference = {"B02b", "B02c", "B02d", "B02e", "B03e", "B08b"};
// Beyond the device's limits: an extent above 2^20.
const std::set<std::string> kBeyondLimits = {"B03f"};

const Json& AllCases() {
  static const Json cases = Json::parse(std::ifstream(kFolder + "cases.json"));
  return cases;
}

bool ComputedOutside(const Json& test) {
  const std::string expect = test.at("expect");
  return !expect.starts_with("error") && expect != "empty";
}

bool IsRefused(const Json& test) {
  const std::string expect = test.at("expect");
  return expect.starts_with("error") || test.contains("c_api_expect") ||
         kBeyondLimits.contains(test.at("id"));
}

DType ParseDType(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(DType::kBool); ++i) {
    if (NameOf(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  }
  throw std::runtime_error("no dtype " + name);
}

Shape StridesOf(const Json& test, const std::string& key, const Shape& dims) {
  const std::string layout = test.value(key, "contiguous");
  if (layout == "strides") return test.at("strides").get<Shape>();
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(dims.size()); ++i) order.push_back(i);
  if (layout == "channels_last_3d") {
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  } else if (layout == "permuted w,h,d" || layout == "transposed h,w") {
    std::reverse(order.begin() + 2, order.end());
  } else if (layout != "contiguous") {
    throw std::runtime_error("no layout " + layout);
  }
  return Permuted(dims, order, 1, 0).strides;
}

View ViewOf(const Json& test, const std::string& key, const Shape& dims) {
  View view{.dims = dims, .strides = StridesOf(test, key, dims), .offset = 0, .storage = 1};
  for (size_t i = 0; i < dims.size(); ++i) view.storage += (dims[i] - 1) * view.strides[i];
  return view;
}

Shape OutputShape(const Json& test) {
  return test.contains("out_shape") ? test.at("out_shape").get<Shape>()
                                    : test.at("input_size").get<Shape>();
}

Op OpOf(const Json& test) {
  return test.at("op") == "UpsampleBicubic2dAAGrad" ? Op::kBicubicGrad : Op::kNearestGrad;
}

void ReadScales(const Json& test, double (&scales)[3]) {
  const Json& given = test.at("scales");
  for (size_t i = 0; i < given.size(); ++i) {
    scales[3 - given.size() + i] = given[i].is_null() ? 0.0 : given[i].get<double>();
  }
}

bool AlignsCorners(const Json& test) {
  return test.at("align_corners").is_boolean() && test.at("align_corners").get<bool>();
}

// The call without data; absurd sizes lie in one element behind zero strides.
Outcome TryWithoutData(const Json& test) {
  Request request(OpOf(test));
  const auto tensor = [&](TensorArg& arg, const Shape& dims, const std::string& type) {
    arg.dims = dims;
    for (int64_t& extent : *arg.dims) extent = std::abs(extent);  // no tensor has negative ones
    arg.dtype = AclType(ParseDType(type));
    arg.format = dims.size() == 5 ? ACL_FORMAT_NCDHW : ACL_FORMAT_NCHW;
    const bool absurd =
        std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d > 4000000; });
    if (absurd) arg.strides = Shape(dims.size(), 0);
  };
  tensor(request.input, test.at("grad_output_shape").get<Shape>(), test.at("dtype"));
  tensor(request.output, OutputShape(test), test.value("out_dtype", test.at("dtype")));
  request.input_size.values = test.at("input_size").get<Shape>();
  if (test.at("output_size").is_null()) {
    request.output_size.state = HandleState::kNull;
  } else {
    request.output_size.values = test.at("output_size").get<Shape>();
  }
  ReadScales(test, request.scales);
  request.align_corners = AlignsCorners(test);
  return Try(request);
}

int RefusalCode(const Json& test) {
  const std::string expect = test.value("c_api_expect", test.at("expect"));
  return expect.starts_with("error ") ? std::stoi(expect.substr(6)) : 161002;
}

void RunRefusal(const Json& test) {
  const Outcome outcome = TryWithoutData(test);
  EXPECT_EQ(outcome.code, RefusalCode(test)) << outcome.message;
  EXPECT_TRUE(outcome.untouched);
  EXPECT_FALSE(outcome.message.empty());
}

void RunEmpty(const Json& test) {
  const Outcome outcome = TryWithoutData(test);
  EXPECT_EQ(outcome.code, 0) << outcome.message;
  EXPECT_EQ(outcome.workspace, 0u);
}

Problem ProblemOf(const Json& test) {
  Problem problem;
  problem.info = *ops::FindOperator(test.at("op").get<std::string>());
  problem.dtype = ParseDType(test.at("dtype"));
  const Shape size = test.at("input_size").get<Shape>();
  problem.n = size[0];
  problem.c = size[1];
  problem.in.assign(size.begin() + 2, size.end());
  problem.out = test.at("output_size").get<Shape>();
  problem.align_corners = AlignsCorners(test);
  for (const Json& scale : test.at("scales")) {
    problem.scales.push_back(scale.is_null() ? 0.0 : scale.get<double>());
  }
  return problem;
}

std::vector<uint64_t> Bits(const Npy& array, DType dtype) {
  const auto element = static_cast<size_t>(SizeOf(dtype));
  std::vector<uint64_t> bits(array.bytes.size() / element);
  for (size_t i = 0; i < bits.size(); ++i) {
    std::memcpy(&bits[i], array.bytes.data() + i * element, element);
  }
  return bits;
}

std::vector<double> Values(const std::vector<uint64_t>& bits, DType dtype) {
  std::vector<double> values;
  for (const uint64_t each : bits) values.push_back(FromBits(dtype, each));
  return values;
}

// float64 answers of PyTorch; the tolerance of the cases' README, coarse beside the library's own
// bound, which the reference holds results to.
void ExpectAnswer(const Json& test, const std::string& path, const std::vector<double>& actual) {
  const Npy file = ReadNpy(path);
  std::vector<double> expected(actual.size());
  ASSERT_EQ(file.bytes.size(), expected.size() * sizeof(double));
  std::memcpy(expected.data(), file.bytes.data(), file.bytes.size());
  double largest = 0.0;
  for (const double value : expected) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  const double half_step = test.at("dtype") == "float32"   ? 0.0
                           : test.at("dtype") == "float16" ? 0x1p-11
                                                           : 0x1p-8;
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(std::isfinite(actual[i]), std::isfinite(expected[i])) << "element " << i;
    if (!std::isfinite(expected[i])) continue;
    const double tolerance =
        std::max({1e-5 * largest, 2 * half_step * std::abs(expected[i]), half_step * 0x1p-13});
    ASSERT_LE(std::abs(actual[i] - expected[i]), tolerance)
        << "element " << i << " is " << actual[i] << ", expected " << expected[i];
  }
}

void RunValues(const Json& test) {
  const std::string id = test.at("id");
  const Problem problem = ProblemOf(test);
  const Op op = OpOf(test);
  const aclFormat format = IsVolume(op) ? ACL_FORMAT_NCDHW : ACL_FORMAT_NCHW;
  const auto bits = Bits(ReadNpy(kDataFolder + id + "/grad_output.npy"), problem.dtype);
  DeviceTensor input(ViewOf(test, "layout", test.at("grad_output_shape").get<Shape>()),
                     problem.dtype, format);
  DeviceTensor output(ViewOf(test, "out_layout", OutputShape(test)), problem.dtype, format);
  input.Write(bits);
  const Ints output_size(problem.out);
  const Ints input_size(test.at("input_size").get<Shape>());
  StageOne args = {.input = input.handle(),
                   .output_size = output_size.get(),
                   .input_size = input_size.get(),
                   .align_corners = problem.align_corners,
                   .output = output.handle()};
  ReadScales(test, args.scales);
  ASSERT_EQ(RunAll(op, args), 0) << Message();
  const std::vector<double> actual = Values(output.Read(), problem.dtype);
  const Worst worst = WorstError(problem, Reference(problem, Values(bits, problem.dtype)), actual);
  EXPECT_LE(worst.fraction, 1.0) << "element " << worst.element << " is " << worst.actual
                                 << ", the reference says " << worst.expected;
  if (!kJudgedByReference.contains(id)) {
    ExpectAnswer(test, kDataFolder + id + "/expected.npy", actual);
  }
}

class CasesThroughC : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Kinds, CasesThroughC, ::testing::Range(1, 16),
                         [](const auto& info) { return fmt::format("B{:02}", info.param); });

void MakeData(const std::vector<Json>& tests) {
  std::string ids;
  for (const Json& test : tests) {
    if (ComputedOutside(test) && !IsRefused(test)) ids += " " + test.at("id").get<std::string>();
  }
  if (ids.empty()) return;
  const std::string command =
      "/usr/bin/python3 " + kFolder + "make_data.py " + kDataFolder + " --only" + ids + " >&2";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

TEST_P(CasesThroughC, PassOrAreRefused) {
  const std::string kind = fmt::format("B{:02}", GetParam());
  std::vector<Json> tests;
  for (const Json& test : AllCases()) {
    if (test.at("id").get<std::string>().starts_with(kind)) tests.push_back(test);
  }
  ASSERT_FALSE(tests.empty());
  MakeData(tests);
  for (const Json& test : tests) {
    SCOPED_TRACE(test.at("id").get<std::string>() + ": " + test.at("note").get<std::string>());
    if (IsRefused(test)) {
      RunRefusal(test);
    } else if (test.at("expect") == "empty") {
      RunEmpty(test);
    } else {
      RunValues(test);
    }
  }
  aclFinalize();
}

}  // namespace
}  // namespace opscv::testing
