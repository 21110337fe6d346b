// SPDX-License-Identifier: Apache-2.0
// opscv check: the engine against the float64 reference on the user's own data.
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/checked_math.h"
#include "cli/operation.h"
#include "cli/operator_command.h"
#include "cli/progress.h"
#include "cli/reference_plane.h"

namespace opscv::cli {
namespace {

struct CheckOptions {
  OperatorOptions op;
  CommonOptions common;
  std::string input;
};

struct Worst {
  double fraction = -1.0;
  double value = 0.0;
  double expected = 0.0;
  Dims at;  // in the output's order of dimensions
};

// The dimension that holds the channels.
int ChannelDim(const Operation& operation) {
  const int rank = operation.output.shape.rank();
  return operation.job.layout == Layout::kChannelsLast ? rank - 1 : 1;
}

// The whole of batch item n.
Box ItemBox(const Dims& shape, int64_t n) {
  Box box{.begin = Dims::Filled(shape.rank(), 0), .end = shape};
  box.begin[0] = n;
  box.end[0] = n + 1;
  return box;
}

// One batch item in memory, in the order of the file.
struct Item {
  Dims shape;  // N is 1
  Dims strides;
  std::unique_ptr<char[]> elements;  // not touched before data come: a header may promise too much

  Item(const Storage& storage, DType dtype) : shape(storage.shape) {
    shape[0] = 1;
    strides = DenseStridesLike(shape, storage.strides);
    // The call has been planned, so this is a number unless the batch is empty.
    const int64_t bytes = CheckedProduct(shape.values()).value_or(0) * SizeOf(dtype);
    strides[0] = std::max<int64_t>(bytes, 1);  // beyond all others: items never seem to meet
    elements = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(bytes));
  }
};

// Coordinates of element number `element` of plane (n, c), counted in the order of the dimensions.
Dims At(const Dims& shape, int channel_dim, int64_t n, int64_t c, int64_t element) {
  Dims at = shape;
  for (int i = at.rank() - 1; i > 0; --i) {
    if (i == channel_dim) continue;
    at[i] = element % shape[i];
    element /= shape[i];
  }
  at[0] = n;
  at[channel_dim] = c;
  return at;
}

std::vector<double> PlaneOf(const Item& item, DType dtype, int channel_dim, int64_t c) {
  int64_t count = 1;
  for (int i = 1; i < item.shape.rank(); ++i) count *= i == channel_dim ? 1 : item.shape[i];
  std::vector<double> values(static_cast<size_t>(count));
  for (int64_t element = 0; element < count; ++element) {
    const Dims at = At(item.shape, channel_dim, 0, c, element);
    int64_t offset = 0;
    for (int i = 0; i < at.rank(); ++i) offset += at[i] * item.strides[i];
    values[static_cast<size_t>(element)] = ToDouble(dtype, &item.elements[offset * SizeOf(dtype)]);
  }
  return values;
}

class Checker {
 public:
  Checker(Operation& operation, bool quiet)
      : operation_(operation),
        bar_("check", quiet),
        dtype_(operation.job.dtype),
        // Judges the whole call before anything is allocated by its sizes.
        plan_(PlanJob(operation.job, operation.input.storage, operation.output)),
        in_(operation.input.storage, dtype_),
        out_(operation.output, dtype_) {
    Storage input = operation.input.storage;
    Storage output = operation.output;
    input.strides = in_.strides;
    output.strides = out_.strides;
    plan_ = PlanJob(operation.job, input, output);
  }

  void Run() {
    for (int64_t n = 0; n < operation_.output.shape[0]; ++n) CheckItem(n);
    operation_.input.bytes->Finish();
  }

  [[nodiscard]] const Worst& worst() const { return worst_; }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  void CheckItem(int64_t n) {
    const Box from = ItemBox(operation_.input.storage.shape, n);
    ReadBox(operation_.input, from, dtype_, in_.strides, in_.elements.get());
    seconds_ += RunBoxTimed(plan_, operation_.job, ItemBox(operation_.output.shape, n),
                            in_.elements.get(), from.begin, out_.elements.get());
    const int channel_dim = ChannelDim(operation_);
    for (int64_t c = 0; c < out_.shape[channel_dim]; ++c) {
      const auto planes = static_cast<double>(out_.shape[channel_dim]);
      bar_.Show((static_cast<double>(n) + static_cast<double>(c) / planes) /
                static_cast<double>(operation_.output.shape[0]));
      Compare(ReferencePlane(operation_, PlaneOf(in_, dtype_, channel_dim, c)),
              PlaneOf(out_, dtype_, channel_dim, c), n, c);
    }
  }

  void Compare(const reference::Answer& answer, const std::vector<double>& actual, int64_t n,
               int64_t c) {
    for (size_t i = 0; i < actual.size(); ++i) {
      const auto element = static_cast<int64_t>(i);
      const double fraction = reference::ErrorFraction(dtype_, actual[i], answer.value[i],
                                                       answer.magnitude[i], answer.TapsOf(element));
      if (fraction <= worst_.fraction) continue;
      worst_ = {.fraction = fraction,
                .value = actual[i],
                .expected = answer.value[i],
                .at = At(operation_.output.shape, ChannelDim(operation_), n, c, element)};
    }
  }

  Operation& operation_;
  ProgressBar bar_;
  DType dtype_;
  Plan plan_;
  Item in_;
  Item out_;
  Worst worst_;
  double seconds_ = 0.0;
};

Exit Check(const CheckOptions& options) {
  Operation operation = Prepare(options.op, options.common, options.input);
  Worst worst;
  double seconds = 0.0;
  {
    Checker checker(operation, options.common.quiet);
    checker.Run();
    worst = checker.worst();
    seconds = checker.seconds();
  }
  const double fraction = std::max(worst.fraction, 0.0);
  const bool kept = fraction <= 1.0;
  const double rate = seconds > 0.0 ? BytesMoved(operation) / seconds / 1e9 : 0.0;

  Json json = DescribeJson(operation);
  json["milliseconds"] = seconds * 1e3;
  json["gigabytes_per_second"] = rate;
  json["bound_kept"] = kept;
  std::string text =
      fmt::format("{}  {:.3f} ms  {:.2f} GB/s\n", DescribeText(operation), seconds * 1e3, rate);
  if (worst.fraction < 0.0) {
    text += "nothing to check: the output is empty";
  } else {
    json["error_over_bound"] = std::isfinite(fraction) ? Json(fraction) : Json("infinite");
    json["worst_at"] = std::vector<int64_t>(worst.at.values().begin(), worst.at.values().end());
    json["value"] = worst.value;
    json["reference"] = worst.expected;
    text +=
        fmt::format("largest error: {:.4f} of the bound, at {}: got {}, reference {}: {}", fraction,
                    ShapeText(worst.at), worst.value, worst.expected, kept ? "kept" : "BROKEN");
  }
  Print(options.common, json, text);
  return kept ? Exit::kOk : Exit::kFailedCheck;
}

}  // namespace

void AddCheck(CLI::App& app, Action& action) {
  AddPerOperator<CheckOptions>(
      app, "check", "compare an operator with the float64 reference on your data", action,
      [](CLI::App& sub, const ops::OpInfo& info, CheckOptions& options) {
        AddFile(sub, "--input", info.input, options.input);
      },
      &Check);
}

}  // namespace opscv::cli
