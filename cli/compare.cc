// SPDX-License-Identifier: Apache-2.0
// opscv compare: two tensors, element by element.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/boxes.h"
#include "cli/command.h"
#include "cli/operation.h"
#include "cli/progress.h"
#include "cli/tensor_file.h"
#include "cli/words.h"

namespace opscv::cli {
namespace {

struct CompareOptions {
  CommonOptions common;
  std::string a;
  std::string b;
  std::string dtype;
  double atol = 0.0;
  double rtol = 0.0;
};

constexpr int64_t kElementsAtOnce = 1 << 20;

// What is known of the elements seen so far.
struct Worst {
  double excess = -1.0;  // |a - b| / (atol + rtol |b|); infinity where only equality would do
  double difference = 0.0;
  double a = 0.0;
  double b = 0.0;
  Dims at;
  int64_t beyond = 0;
  int64_t count = 0;
};

TensorInput Open(const std::string& path, std::optional<DType> raw) {
  constexpr int kVolume = 5;
  return OpenTensor({.path = path, .rank = kVolume, .layout = Layout::kChannelsFirst, .raw = raw});
}

// The type in which a file's elements are compared: their own where they stand for themselves.
DType TypeFor(const TensorInput& input) {
  return input.storage.encoding.scaled() ? DType::kFloat64 : input.storage.encoding.dtype;
}

bool IsWideInteger(DType dtype) { return dtype == DType::kInt64 || dtype == DType::kUInt64; }

// |a - b|, exactly where two integers of 64 bits would look equal as doubles. NaN equals NaN.
double DifferenceOf(DType dtype, const char* a, const char* b, double a_value, double b_value) {
  if (IsWideInteger(dtype) && a_value == b_value) {
    return std::equal(a, a + sizeof(int64_t), b) ? 0.0 : 1.0;
  }
  if (a_value == b_value || (std::isnan(a_value) && std::isnan(b_value))) return 0.0;
  const double difference = std::fabs(a_value - b_value);
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

Dims StepFor(const Dims& shape, const Dims& strides) {
  Dims step = shape;
  for (const int dim : OuterToInner(strides)) {
    while (ElementsOf(WholeOf(step)) > kElementsAtOnce && step[dim] > 1) {
      step[dim] = (step[dim] + 1) / 2;
    }
  }
  return step;
}

class Comparer {
 public:
  explicit Comparer(const CompareOptions& options) : options_(options) {}

  Worst Run(TensorInput& a, TensorInput& b) {
    // A file that is read forward only decides the order.
    const Storage& leader = b.bytes->sequential() ? b.storage : a.storage;
    const Dims& shape = leader.shape;
    const auto total = static_cast<double>(ElementsOf(WholeOf(shape)));
    ProgressBar bar("compare", options_.common.quiet);
    for (Boxes boxes(shape, StepFor(shape, leader.strides), leader.strides); !boxes.done();
         boxes.Next()) {
      CompareBox(a, b, boxes.box());
      bar.Show(static_cast<double>(worst_.count) / total);
    }
    a.bytes->Finish();
    b.bytes->Finish();
    return worst_;
  }

 private:
  void CompareBox(TensorInput& a, TensorInput& b, const Box& box) {
    const DType a_type = TypeFor(a);
    const DType b_type = TypeFor(b);
    Dims extent = box.end;
    for (int i = 0; i < extent.rank(); ++i) extent[i] -= box.begin[i];
    const Dims strides = ContiguousStrides(extent);
    const int64_t count = ElementsOf(box);
    a_.resize(static_cast<size_t>(count * SizeOf(a_type)));
    b_.resize(static_cast<size_t>(count * SizeOf(b_type)));
    ReadBox(a, box, a_type, strides, a_.data());
    ReadBox(b, box, b_type, strides, b_.data());
    for (int64_t i = 0; i < count; ++i) {
      const char* a_element = &a_[static_cast<size_t>(i * SizeOf(a_type))];
      const char* b_element = &b_[static_cast<size_t>(i * SizeOf(b_type))];
      const double a_value = ToDouble(a_type, a_element);
      const double b_value = ToDouble(b_type, b_element);
      const DType same = a_type == b_type ? a_type : DType::kFloat64;
      Note(DifferenceOf(same, a_element, b_element, a_value, b_value), a_value, b_value, box,
           strides, i);
    }
  }

  void Note(double difference, double a, double b, const Box& box, const Dims& strides,
            int64_t element) {
    const double allowed = options_.atol + options_.rtol * std::fabs(b);
    double excess = 0.0;
    if (difference > 0.0) {
      excess = allowed > 0.0 ? difference / allowed : std::numeric_limits<double>::infinity();
    }
    ++worst_.count;
    if (excess > 1.0) ++worst_.beyond;
    if (excess < worst_.excess || (excess == worst_.excess && difference <= worst_.difference)) {
      return;
    }
    worst_.excess = excess;
    worst_.difference = difference;
    worst_.a = a;
    worst_.b = b;
    worst_.at = box.begin;
    for (int i = 0; i < strides.rank(); ++i) {
      worst_.at[i] += element / strides[i];
      element %= strides[i];
    }
  }

  const CompareOptions& options_;
  std::vector<char> a_;
  std::vector<char> b_;
  Worst worst_;
};

std::optional<DType> RawType(const CompareOptions& options) {
  if (options.dtype.empty()) return std::nullopt;
  if (options.dtype == NameOf(DType::kBFloat16)) return DType::kBFloat16;
  throw UsageFailure("--dtype must be bfloat16, got '{}'", options.dtype);
}

Json NumberJson(double value) {
  return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}

Exit Compare(const CompareOptions& options) {
  TensorInput a = Open(options.a, RawType(options));
  TensorInput b = Open(options.b, RawType(options));
  if (!(a.storage.shape == b.storage.shape)) {
    throw InputFailure("{}: has the shape {}, expected that of {}, {}", options.b,
                       ShapeText(b.storage.shape), options.a, ShapeText(a.storage.shape));
  }
  const Worst worst = Comparer(options).Run(a, b);
  Json json = {{"elements", worst.count}, {"beyond_tolerance", worst.beyond}};
  std::string text = fmt::format("{} elements, {} beyond the tolerance", worst.count, worst.beyond);
  if (worst.excess >= 0.0) {
    json["worst_at"] = std::vector<int64_t>(worst.at.values().begin(), worst.at.values().end());
    json["difference"] = NumberJson(worst.difference);
    json["a"] = NumberJson(worst.a);
    json["b"] = NumberJson(worst.b);
    if (worst.difference > 0.0) {
      text += fmt::format("\nworst at {}: {} and {}, difference {}", ShapeText(worst.at), worst.a,
                          worst.b, worst.difference);
    }
  }
  Print(options.common, json, text);
  return worst.beyond == 0 ? Exit::kOk : Exit::kFailedCheck;
}

}  // namespace

void AddCompare(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand(
      "compare", "compare two tensors: |A - B| <= atol + rtol * |B|, NaN being equal to NaN");
  auto options = std::make_shared<CompareOptions>();
  const std::string formats(kFormats);
  sub->add_option("A", options->a, "a file: " + formats)->required()->type_name("FILE");
  sub->add_option("B", options->b, "another of the same shape")->required()->type_name("FILE");
  const auto add_tolerance = [&](const std::string& name, const std::string& kind, double& value) {
    AddWord(*sub, "--" + name, "X", kind + " tolerance (default: 0)",
            [name, &value](const std::string& word) {
              value = ReadNumberWithin<double>(name, "a finite number from 0", word, 0.0,
                                               std::numeric_limits<double>::max());
            });
  };
  add_tolerance("atol", "absolute", options->atol);
  add_tolerance("rtol", "relative", options->rtol);
  sub->add_option("--dtype", options->dtype, "bfloat16: V2 data of a .npy are that")
      ->type_name("TYPE");
  AddReportOptions(*sub, options->common);
  sub->callback([options, &action] { action = [options] { return Compare(*options); }; });
}

}  // namespace opscv::cli
