// SPDX-License-Identifier: Apache-2.0
// Every check of the first stage: code, message, outputs left alone, and which of two faults wins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/capi/request.h"

namespace opscv::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int64_t kMaxExtent = int64_t{1} << 20;

struct Fault {
  std::string name;
  int code;
  std::string text;  // in the message
  std::function<void(Request&)> apply;
};

// All faults of an operator, in the order of the checks that find them.
class Faults {
 public:
  explicit Faults(Op op) : base_(op), in_(base_.InputName()), out_(base_.OutputName()) {
    Pointers();
    Handles();
    Types();
    Ranks();
    Formats();
    Lengths();
    Scales();
    Sizes();
    Shapes();
    if (IsVolume(op)) VolumeShrink();
    ScalesAgainstSizes();
    DeviceSize();
    Storage();
  }
  [[nodiscard]] const std::vector<Fault>& all() const { return all_; }

 private:
  void Add(std::string name, std::string text, std::function<void(Request&)> apply,
           int code = 161002) {
    all_.push_back({std::move(name), code, std::move(text), std::move(apply)});
  }

  void Pointers() {
    const auto null = [&](const std::string& name, std::function<void(Request&)> apply) {
      Add(name + " null", name + " must not be null.", std::move(apply), 161001);
    };
    null("workspaceSize", [](Request& r) { r.null_workspace_size = true; });
    null("executor", [](Request& r) { r.null_executor = true; });
    null(in_, [](Request& r) { r.input.state = HandleState::kNull; });
    null("outputSize", [](Request& r) { r.output_size.state = HandleState::kNull; });
    if (IsGrad(base_.op)) {
      null("inputSize", [](Request& r) { r.input_size.state = HandleState::kNull; });
    }
    null(out_, [](Request& r) { r.output.state = HandleState::kNull; });
  }

  void Handles() {
    const std::string gone = "of this process, got one that was destroyed or never created.";
    Add("input gone", in_ + " must be a tensor " + gone,
        [](Request& r) { r.input.state = HandleState::kDestroyed; });
    const auto output_size_gone = [&] {
      Add("outputSize gone", "outputSize must be an int array " + gone,
          [](Request& r) { r.output_size.state = HandleState::kDestroyed; });
    };
    // Arrays are read in the order of the graph's prototype.
    if (base_.op != Op::kNearestGrad) output_size_gone();
    if (IsGrad(base_.op)) {
      Add("inputSize gone", "inputSize must be an int array " + gone,
          [](Request& r) { r.input_size.state = HandleState::kDestroyed; });
    }
    if (base_.op == Op::kNearestGrad) output_size_gone();
    Add("output gone", out_ + " must be a tensor " + gone,
        [](Request& r) { r.output.state = HandleState::kDestroyed; });
  }

  void Types() {
    const std::string must = in_ + " must be of type ACL_FLOAT, ACL_FLOAT16, ACL_BF16, got ";
    for (const auto& [type, name] : {std::pair<int, const char*>{ACL_DOUBLE, "ACL_DOUBLE"},
                                     {ACL_INT32, "ACL_INT32"},
                                     {ACL_COMPLEX64, "ACL_COMPLEX64"},
                                     {ACL_DT_UNDEFINED, "ACL_DT_UNDEFINED"},
                                     {31, "aclDataType 31"}}) {
      Add(std::string("input ") + name, must + name,
          [type = type](Request& r) { r.input.dtype = type; });
    }
    for (const auto& [type, name] :
         {std::pair<int, const char*>{ACL_FLOAT16, "ACL_FLOAT16"}, {ACL_STRING, "ACL_STRING"}}) {
      Add(std::string("output ") + name,
          out_ + " must be of the same type as " + in_ + ", ACL_FLOAT, got " + name,
          [type = type](Request& r) { r.output.dtype = type; });
    }
  }

  void Ranks() {
    const int rank = IsVolume(base_.op) ? 5 : 4;
    const std::string must = " must have " + std::to_string(rank) + " dimensions, got ";
    Add("input rank", in_ + must + std::to_string(rank - 1), [](Request& r) {
      r.input.dims = r.InputDims();
      r.input.dims->pop_back();
    });
    Add("output rank", out_ + must + std::to_string(rank + 1), [](Request& r) {
      r.output.dims = r.OutputDims();
      r.output.dims->push_back(1);
    });
  }

  void Formats() {
    if (IsVolume(base_.op)) {
      Add("formats differ",
          out_ + " must have the format of " + in_ +
              ", read as ACL_FORMAT_NCDHW, got one read as ACL_FORMAT_NDHWC",
          [](Request& r) { r.output.format = ACL_FORMAT_NDHWC; });
      return;
    }
    for (const auto& [format, name] :
         {std::pair<int, const char*>{ACL_FORMAT_NHWC, "ACL_FORMAT_NHWC"},
          {ACL_FORMAT_NCDHW, "ACL_FORMAT_NCDHW"},
          {50, "aclFormat 50"}}) {
      Add(std::string("input ") + name,
          in_ + " must have the format ACL_FORMAT_NCHW or ACL_FORMAT_ND, got " + name,
          [format = format](Request& r) { r.input.format = format; });
    }
    Add("formats differ",
        out_ + " must have the format of " + in_ + ", ACL_FORMAT_ND, got ACL_FORMAT_NCHW",
        [](Request& r) { r.output.format = ACL_FORMAT_NCHW; });
  }

  void Lengths() {
    const int axes = IsVolume(base_.op) ? 3 : 2;
    Add("outputSize length",
        "outputSize must have " + std::to_string(axes) + " elements, got " +
            std::to_string(axes + 1),
        [](Request& r) {
          r.output_size.values = r.out;
          r.output_size.values->push_back(1);
        });
    if (!IsGrad(base_.op)) return;
    Add("inputSize length", "inputSize must have " + std::to_string(axes + 2) + " elements, got 1",
        [](Request& r) { r.input_size.values = Shape{1}; });
  }

  void Scales() {
    static const char* const kNames[] = {"scalesD", "scalesH", "scalesW"};
    for (int axis = IsVolume(base_.op) ? 0 : 1; axis < 3; ++axis) {
      const std::string name = kNames[axis];
      for (const double value : {kNan, kInf, -kInf}) {
        Add(name + " " + std::to_string(value), name + " must be finite, got ",
            [axis, value](Request& r) { r.scales[axis] = value; });
      }
      if (IsVolume(base_.op)) continue;
      Add(name + " negative", name + " must be >= 0, got -1.",
          [axis](Request& r) { r.scales[axis] = -1.0; });
    }
  }

  void Sizes() {
    for (const int64_t value : {int64_t{0}, int64_t{-3}}) {
      Add("outputSize element", "outputSize[1] must be > 0, got " + std::to_string(value),
          [value](Request& r) {
            r.output_size.values = r.out;
            (*r.output_size.values)[1] = value;
          });
    }
    // A forward operator's tensor cannot have negative dims.
    const auto bad_size = [&](int element, int64_t value, const std::string& must) {
      Add("inputSize element",
          base_.InputSizeName(element) + " must be " + must + ", got " + std::to_string(value),
          [element, value](Request& r) {
            Shape size = r.InputSize();
            size[static_cast<size_t>(element)] = value;
            (IsGrad(r.op) ? r.input_size.values : r.input.dims) = size;
          });
    };
    bad_size(2, 0, "> 0");
    if (IsGrad(base_.op)) bad_size(3, -2, "> 0");
    if (!IsVolume(base_.op)) bad_size(0, 0, "> 0");
    if (!IsVolume(base_.op)) bad_size(1, 0, "> 0");
    if (IsVolume(base_.op) && IsGrad(base_.op)) bad_size(1, -1, ">= 0");
  }

  void Shapes() {
    const auto wrong_dim = [&](bool of_input, int dim) {
      const std::string& name = of_input ? in_ : out_;
      Add(name + " dim " + std::to_string(dim), name + " must have the shape given by ",
          [of_input, dim](Request& r) {
            TensorArg& tensor = of_input ? r.input : r.output;
            tensor.dims = of_input ? r.InputDims() : r.OutputDims();
            (*tensor.dims)[static_cast<size_t>(dim)] += 1;
          });
    };
    // A forward operator's input says its own size.
    for (const int dim : {0, 1, 2, static_cast<int>(base_.in.size()) + 1}) {
      if (IsGrad(base_.op)) wrong_dim(/*of_input=*/true, dim);
    }
    for (const int dim : {0, 1, 2, static_cast<int>(base_.in.size()) + 1}) {
      wrong_dim(/*of_input=*/false, dim);
    }
  }

  void VolumeShrink() {
    Add("shrink by 51",
        "outputSize[2] must be <= 50 * " + base_.InputSizeName(4) + " on Ascend950, got 51 for 1",
        [](Request& r) {
          r.in[2] = 1;
          r.out[2] = 51;
        });
    Add("scale of 51", "scalesW must be <= 50 on Ascend950, got 51", [](Request& r) {
      r.in = {2, 2, 2};
      r.out = {100, 100, 100};
      r.scales[0] = r.scales[1] = 50.0;
      r.scales[2] = 51.0;
    });
  }

  void ScalesAgainstSizes() {
    const int element = IsVolume(base_.op) ? 1 : 0;
    Add("floor", "outputSize[" + std::to_string(element) + "] must be floor(", [](Request& r) {
      const Request fresh(r.op);
      r.in = fresh.in;
      r.out = fresh.out;
      r.scales[0] = 2.0;
      r.scales[1] = 0.4;  // floor(8 * 0.4) = 3, not 4
      r.scales[2] = 0.5;
    });
  }

  void DeviceSize() {
    Add("extent of N", in_ + ".shape[0] must be <= 2^20 (1048576), got 1048577",
        [](Request& r) { r.n = kMaxExtent + 1; });
    const int height = IsVolume(base_.op) ? 3 : 2;
    Add("extent of H",
        "shape[" + std::to_string(height) + "] must be <= 2^20 (1048576), got 1048577",
        [](Request& r) {
          r.in[r.last() - 1] = kMaxExtent + 1;
          r.out[r.last() - 1] = kMaxExtent;
        });
    Add("60 GiB", "must be < 60 GiB (64424509440), got 7", [](Request& r) {
      r.n = r.c = 1;
      r.in.assign(r.in.size(), 1);
      r.out.assign(r.out.size(), 1);
      r.in[r.last() - 1] = r.in[r.last()] = 4096;
      r.out[r.last() - 1] = r.out[r.last()] = 131072;
    });
    const std::string planes = IsVolume(base_.op) ? "N*C*oD*oH" : "N*C*oH";
    Add("N*C*oH",
        planes + " of " + out_ + " and outputSize must be < 2^31 (2147483648), got 2147483648.",
        [](Request& r) {
          r.n = 65536;
          r.c = 32768;
          r.in.assign(r.in.size(), 1);
          r.out.assign(r.out.size(), 1);
        });
    if (!IsVolume(base_.op)) return;
    const std::string& sized = IsGrad(base_.op) ? out_ : in_;
    Add("iW*iH", "iW*iH of " + sized + " must be < 2^31 (2147483648), got 2147483648.",
        [](Request& r) {
          r.n = r.c = 1;
          r.in = {1, 65536, 32768};
          r.out = {1, 1, 1};
        });
  }

  void Storage() {
    const auto outside = [&](bool of_input, const std::string& how,
                             std::function<void(TensorArg&, const Shape&)> change) {
      const std::string& name = of_input ? in_ : out_;
      Add(name + " " + how, name + " must address only its storage of ",
          [of_input, change = std::move(change)](Request& r) {
            change(of_input ? r.input : r.output, of_input ? r.InputDims() : r.OutputDims());
          });
    };
    for (const bool of_input : {true, false}) {
      outside(of_input, "offset", [](TensorArg& t, const Shape&) { t.offset = 1; });
      outside(of_input, "negative offset", [](TensorArg& t, const Shape&) { t.offset = -1; });
      outside(of_input, "huge offset",
              [](TensorArg& t, const Shape&) { t.offset = std::numeric_limits<int64_t>::max(); });
      outside(of_input, "strides", [](TensorArg& t, const Shape& dims) {
        t.strides = Dense(dims).strides;
        t.strides->front() += 1;
      });
      outside(of_input, "negative strides",
              [](TensorArg& t, const Shape& dims) { t.strides = Reversed(dims).strides; });
      outside(of_input, "storage", [](TensorArg& t, const Shape&) { t.storage = Shape{1}; });
    }
    Add("output overlaps itself", out_ + " must not overlap itself", [](Request& r) {
      r.output.strides = Dense(r.OutputDims()).strides;
      (*r.output.strides)[0] = 0;
      r.output.storage = Shape{Dense(r.OutputDims()).size() / r.n};
    });
    Add("ranges meet", out_ + " must share no memory with " + in_, [](Request& r) {
      static std::vector<float> memory(100000);
      r.input.data = memory.data();
      r.output.data = memory.data() + 8;
    });
  }

  Request base_;
  std::string in_;
  std::string out_;
  std::vector<Fault> all_;
};

class Checks : public ::testing::TestWithParam<Op> {
 protected:
  void SetUp() override { aclFinalize(); }
  void TearDown() override { aclFinalize(); }
};
INSTANTIATE_TEST_SUITE_P(All, Checks, ::testing::ValuesIn(kOps),
                         [](const auto& info) { return std::string(FunctionName(info.param)); });

void ExpectFault(const Request& request, const Fault& fault) {
  const Outcome outcome = Try(request);
  EXPECT_EQ(outcome.code, fault.code) << outcome.message;
  EXPECT_THAT(outcome.message, StartsWith(std::string("EZ1001: ") + FunctionName(request.op) +
                                          "GetWorkspaceSize: "));
  EXPECT_THAT(outcome.message, HasSubstr(fault.text));
  EXPECT_TRUE(outcome.untouched);
}

TEST_P(Checks, TheUnbrokenCallIsAccepted) {
  const Outcome outcome = Try(Request(GetParam()));
  EXPECT_EQ(outcome.code, 0) << outcome.message;
  EXPECT_FALSE(outcome.untouched);
}

TEST_P(Checks, EveryFaultIsTold) {
  const Faults faults(GetParam());
  for (const Fault& fault : faults.all()) {
    SCOPED_TRACE(fault.name);
    Request request(GetParam());
    fault.apply(request);
    ExpectFault(request, fault);
  }
}

TEST_P(Checks, OfTwoFaultsTheEarlierIsTold) {
  const Faults faults(GetParam());
  for (size_t later = 1; later < faults.all().size(); ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier) {
      SCOPED_TRACE(faults.all()[earlier].name + " and " + faults.all()[later].name);
      Request request(GetParam());
      faults.all()[later].apply(request);
      faults.all()[earlier].apply(request);
      ExpectFault(request, faults.all()[earlier]);
    }
  }
}

TEST_P(Checks, UnsupportedProductsAreRefusedRightAfterTheNullChecks) {
  for (const char* soc : {"Ascend310B", "Ascend310P", "Ascend910"}) {
    const ScopedSetting product("OPSCV_SOC", soc);
    const Fault refusal = {soc, 161002,
                           std::string(FunctionName(GetParam())) + " is not supported on " + soc,
                           nullptr};
    const Faults faults(GetParam());
    for (const Fault& fault : faults.all()) {
      SCOPED_TRACE(fault.name);
      Request request(GetParam());
      fault.apply(request);
      ExpectFault(request, fault.code == 161001 ? fault : refusal);
    }
    ExpectFault(Request(GetParam()), refusal);
  }
}

TEST_P(Checks, AnUnknownProductIsRefused) {
  const ScopedSetting product("OPSCV_SOC", "Ascend1");
  ExpectFault(Request(GetParam()), {"", 161002, "OPSCV_SOC must be one of Ascend950, ", nullptr});
}

TEST_P(Checks, ShrinkLimitsOfTheProducts) {
  Request limit(GetParam());
  limit.in[limit.last()] = 2;
  limit.out[limit.last()] = 100;
  Request beyond = limit;
  beyond.out[beyond.last()] = 101;
  Request scale(GetParam());  // a scale above the limit between sizes below it
  scale.in = Shape(scale.in.size(), 2);
  scale.out = Shape(scale.in.size(), 100);
  for (double& value : scale.scales) value = 50.4;
  for (const char* soc : {"Ascend950", "Ascend910_93", "Ascend910B"}) {
    SCOPED_TRACE(soc);
    const ScopedSetting product("OPSCV_SOC", soc);
    const bool limited = IsVolume(GetParam()) || std::string(soc) != "Ascend950";
    EXPECT_EQ(Try(limit).code, 0) << Message();
    if (!limited) {
      EXPECT_EQ(Try(beyond).code, 0) << Message();
      EXPECT_EQ(Try(scale).code, 0) << Message();
      continue;
    }
    ExpectFault(beyond, {"", 161002, std::string(" on ") + soc + ", got 101 for 2", nullptr});
    ExpectFault(scale,
                {"", 161002, std::string("must be <= 50 on ") + soc + ", got 50.4", nullptr});
    scale.align_corners = true;  // then no scale is used
    EXPECT_EQ(Try(scale).code, IsVolume(GetParam()) ? 161002 : 0) << Message();
    scale.align_corners = false;
  }
}

TEST_P(Checks, ScalesThatMissAWholeNumberByARoundingFitBoth) {
  Request request(GetParam());
  for (int64_t& extent : request.in) extent = 88;
  for (double& scale : request.scales) scale = 120.0 / 88.0;  // 88 * this is 119.99999999999999
  for (const int64_t out : {119, 120}) {
    for (int64_t& extent : request.out) extent = out;
    EXPECT_EQ(Try(request).code, 0) << out << ": " << Message();
  }
  for (int64_t& extent : request.out) extent = 121;
  EXPECT_EQ(Try(request).code, 161002);
}

TEST_P(Checks, ScalesThatAreNotUsedAreNotHeldToSizes) {
  Request request(GetParam());
  if (IsVolume(GetParam())) {
    request.scales[0] = 3.0;
    request.scales[1] = 7.0;  // scalesW is missing: none counts
    EXPECT_EQ(Try(request).code, 0) << Message();
    request.scales[2] = -1.0;
    EXPECT_EQ(Try(request).code, 0) << Message();
    return;
  }
  request.align_corners = true;
  request.scales[1] = 3.0;
  EXPECT_EQ(Try(request).code, 0) << Message();
  request.align_corners = false;
  request.scales[1] = 0.0;
  request.scales[2] = 0.5;  // each axis for itself
  EXPECT_EQ(Try(request).code, 0) << Message();
}

TEST_P(Checks, ExtentsUpToTheLimitAreFine) {
  Request request(GetParam());
  request.n = request.c = 1;
  request.in.assign(request.in.size(), 1);
  request.out.assign(request.out.size(), 1);
  request.in[request.last()] = kMaxExtent;
  request.out[request.last()] = kMaxExtent;
  EXPECT_EQ(Try(request).code, 0) << Message();
}

TEST_P(Checks, ExpandedInputsAndInterleavedViewsAreFine) {
  static std::vector<float> memory(100000);
  Request request(GetParam());
  request.input.strides = Shape(request.InputDims().size(), 0);
  request.input.storage = Shape{1};
  EXPECT_EQ(Try(request).code, 0) << Message();

  // Input and output take turns in one block, N by N.
  Request turns(GetParam());
  const int64_t input_part = Dense(turns.InputDims()).size() / turns.n;
  const int64_t output_part = Dense(turns.OutputDims()).size() / turns.n;
  for (TensorArg* tensor : {&turns.input, &turns.output}) {
    const bool is_input = tensor == &turns.input;
    tensor->strides = Dense(is_input ? turns.InputDims() : turns.OutputDims()).strides;
    (*tensor->strides)[0] = input_part + output_part;
    tensor->storage = Shape{100000};
    tensor->data = memory.data();
    tensor->offset = is_input ? 0 : input_part;
  }
  EXPECT_EQ(Try(turns).code, 0) << Message();
  turns.output.offset -= 1;
  EXPECT_EQ(Try(turns).code, 161002);
}

// Batches of nothing are success for volumes, and nothing after the shapes is checked.
TEST_P(Checks, EmptyBatches) {
  Request request(GetParam());
  request.n = 0;
  if (!IsVolume(GetParam())) {
    ExpectFault(request, {"", 161002, request.InputSizeName(0) + " must be > 0, got 0", nullptr});
    return;
  }
  request.in[2] = 1;
  request.out[2] = kMaxExtent * 100;
  request.output.offset = -5;
  const Outcome outcome = Try(request);
  EXPECT_EQ(outcome.code, 0) << outcome.message;
  EXPECT_EQ(outcome.workspace, 0u);
  request.scales[0] = kNan;
  EXPECT_EQ(Try(request).code, 161002);
}

}  // namespace
}  // namespace opscv::testing
