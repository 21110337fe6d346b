// SPDX-License-Identifier: Apache-2.0
#include "ops/check_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/checked_math.h"

namespace opscv::ops {
namespace {

std::string ShapeText(std::span<const int64_t> shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

Status CheckDTypes(const ResizeCall& call, const DoorChecks& door) {
  const OpInfo& info = *call.call->info;
  std::vector<DType> allowed = info.dtypes;
  if (door.takes_cpu_dtypes()) {
    allowed.insert(allowed.end(), info.cpu_dtypes.begin(), info.cpu_dtypes.end());
  }
  const DType input = call.call->input.dtype;
  if (std::find(allowed.begin(), allowed.end(), input) == allowed.end()) {
    std::vector<std::string_view> names;
    for (const DType dtype : allowed) names.push_back(door.DTypeName(dtype));
    return InvalidArgument("{} must be of type {}, got {}.", call.InputName(),
                           fmt::join(names, ", "), door.DTypeName(input));
  }
  const DType output = call.call->output.dtype;
  if (output != input) {
    return InvalidArgument("{} must be of the same type as {}, {}, got {}.", call.OutputName(),
                           call.InputName(), door.DTypeName(input), door.DTypeName(output));
  }
  return {};
}

Status CheckRank(std::string_view name, const TensorDesc& tensor, int rank) {
  if (tensor.shape.rank() != rank) {
    return InvalidArgument("{} must have {} dimensions, got {}.", name, rank, tensor.shape.rank());
  }
  if (tensor.strides.rank() != rank) {
    return InvalidArgument("{} must have {} strides, one per dimension, got {}.", name, rank,
                           tensor.strides.rank());
  }
  return {};
}

Status CheckRanks(const ResizeCall& call, const DoorChecks& door) {
  const int rank = call.axes + 2;
  OPSCV_RETURN_IF_ERROR(CheckRank(call.InputName(), call.call->input, rank));
  OPSCV_RETURN_IF_ERROR(CheckRank(call.OutputName(), call.call->output, rank));
  OPSCV_RETURN_IF_ERROR(door.CheckFormats(call));
  if (call.call->input.layout != call.call->output.layout) {
    return InvalidArgument("{} must have the layout of {}, got the other one.", call.OutputName(),
                           call.InputName());
  }
  if (call.output_size.size() != static_cast<size_t>(call.axes)) {
    return InvalidArgument("{} must have {} elements, got {}.", call.AttrName("output_size"),
                           call.axes, call.output_size.size());
  }
  if (call.input_size.size() != static_cast<size_t>(rank)) {
    return InvalidArgument("{} must have {} elements, got {}.", call.AttrName("input_size"), rank,
                           call.input_size.size());
  }
  return {};
}

// A list of scales has as many elements as there are axes; a longer or shorter one is no scale.
Status CheckScaleCount(const ResizeCall& call) {
  for (size_t i = 0; i < call.call->info->attrs.size(); ++i) {
    const auto* list = std::get_if<FloatList>(&call.call->attrs[i]);
    if (list != nullptr && list->size() != static_cast<size_t>(call.axes)) {
      return InvalidArgument("{} must have {} elements, got {}.", call.call->info->attrs[i].name,
                             call.axes, list->size());
    }
  }
  return {};
}

Status CheckScaleValues(const ResizeCall& call) {
  OPSCV_RETURN_IF_ERROR(CheckScaleCount(call));
  for (int axis = 0; axis < call.axes; ++axis) {
    const double scale = call.scales[static_cast<size_t>(axis)];
    if (!std::isfinite(scale)) {
      return InvalidArgument("{} must be finite, got {}.", call.ScaleName(axis), scale);
    }
    if (scale < 0.0 && !call.negative_scale_is_none) {
      return InvalidArgument("{} must be >= 0, got {}.", call.ScaleName(axis), scale);
    }
  }
  return {};
}

Status CheckSizes(const ResizeCall& call, bool empty_batch) {
  for (int axis = 0; axis < call.axes; ++axis) {
    const int64_t extent = call.output_size[static_cast<size_t>(axis)];
    if (extent <= 0) {
      return InvalidArgument("{} must be > 0, got {}.", call.ElementName("output_size", axis),
                             extent);
    }
  }
  for (int i = 0; i < call.axes + 2; ++i) {
    const int64_t extent = call.input_size[static_cast<size_t>(i)];
    const bool may_be_zero = i < 2 && empty_batch;
    if (extent < 0 || (extent == 0 && !may_be_zero)) {
      return InvalidArgument("{} must be {} 0, got {}.", call.InputSizeName(i),
                             may_be_zero ? ">=" : ">", extent);
    }
  }
  return {};
}

// The shape that a tensor must have, told dimension by dimension where one is wrong.
Status CheckShape(const ResizeCall& call, std::string_view name, const TensorDesc& tensor,
                  bool is_after_resize) {
  const Dims shape = ChannelsFirst(tensor.shape, tensor.layout);
  IntList expected(call.input_size.begin(), call.input_size.begin() + 2);
  const IntList& spatial = is_after_resize ? call.output_size : call.input_size;
  expected.insert(expected.end(), spatial.end() - call.axes, spatial.end());
  if (std::equal(expected.begin(), expected.end(), shape.values().begin())) return {};
  const std::string size_name =
      call.backward() ? call.AttrName("input_size") : std::string(call.InputName());
  const std::string sources = is_after_resize ? fmt::format("N, C of {} and then {}", size_name,
                                                            call.AttrName("output_size"))
                                              : size_name;
  return InvalidArgument("{} must have the shape given by {}, {}, got {}.", name, sources,
                         ShapeText(expected), ShapeText(shape.values()));
}

Status CheckShapes(const ResizeCall& call) {
  const bool backward = call.backward();
  OPSCV_RETURN_IF_ERROR(CheckShape(call, call.InputName(), call.call->input, backward));
  return CheckShape(call, call.OutputName(), call.call->output, !backward);
}

bool IsEmptyBatch(const ResizeCall& call) {
  return call.input_size[0] == 0 || call.input_size[1] == 0;
}

// A dimension of a view that takes more than one step, by size of step.
struct Step {
  int64_t stride;  // > 0
  int64_t extent;  // > 1
};

std::vector<Step> StepsOf(const TensorDesc& tensor) {
  std::vector<Step> steps;
  for (int i = 0; i < tensor.shape.rank(); ++i) {
    if (tensor.shape[i] > 1) steps.push_back({std::abs(tensor.strides[i]), tensor.shape[i]});
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.stride < b.stride; });
  return steps;
}

// Whether every step is longer than all the ground that the smaller ones cover: then no two
// elements meet. The view is addressable, so nothing overflows.
bool StepsNest(const std::vector<Step>& steps) {
  int64_t covered = 0;
  for (const Step& step : steps) {
    if (step.stride <= covered) return false;
    covered += (step.extent - 1) * step.stride;
  }
  return true;
}

// Element numbers of all elements, in no order.
std::vector<int64_t> AllOffsets(const std::vector<Step>& steps) {
  std::vector<int64_t> offsets = {0};
  for (const Step& step : steps) {
    const size_t before = offsets.size();
    offsets.reserve(before * static_cast<size_t>(step.extent));
    for (int64_t k = 1; k < step.extent; ++k) {
      for (size_t i = 0; i < before; ++i) offsets.push_back(offsets[i] + k * step.stride);
    }
  }
  return offsets;
}

// Up to this many elements a self-overlap that strides leave open is decided by counting.
constexpr int64_t kMaxCountedElements = int64_t{1} << 20;

}  // namespace

Status CheckScalesMatchSizes(const ResizeCall& call) {
  const bool takes_no_scale = call.call->info->takes_rule && call.call->rule == IndexRule::kExact;
  for (int axis = 0; axis < call.axes; ++axis) {
    if (const double given = call.scales[static_cast<size_t>(axis)];
        takes_no_scale && given > 0.0) {
      return InvalidArgument("{} must not be given with the rule exact, got {}.",
                             call.ScaleName(axis), given);
    }
    const double scale = call.UsedScale(axis);
    if (scale == 0.0) continue;
    const auto in = static_cast<double>(call.input_size[static_cast<size_t>(axis) + 2]);
    const auto out = static_cast<double>(call.output_size[static_cast<size_t>(axis)]);
    const double product = in * scale;
    const double above = std::ceil(product);
    // Scales pass through float on the way, so a product that is meant to be whole can fall short
    // of it by a rounding of float.
    const bool nearly_whole = above - product <= 0x1p-23 * above;
    if (out != std::floor(product) && !(nearly_whole && out == above)) {
      return InvalidArgument("{} must be floor({} * {}) = floor({} * {}) = {}, got {}.",
                             call.ElementName("output_size", axis), call.InputSizeName(axis + 2),
                             call.ScaleName(axis), in, scale, std::floor(product), out);
    }
  }
  return {};
}

Status CheckAddressable(std::string_view name, const TensorDesc& tensor) {
  const int64_t element = SizeOf(tensor.dtype);
  const auto too_large = [&] {
    return InvalidArgument("{} must span less than 2^63 bytes, got shape {} with strides {}.", name,
                           ShapeText(tensor.shape.values()), ShapeText(tensor.strides.values()));
  };
  const std::optional<int64_t> count = CheckedProduct(tensor.shape.values());
  if (!count || !CheckedMul(*count, element)) return too_large();
  int64_t below = 0;
  int64_t above = element;
  for (int i = 0; i < tensor.shape.rank() && *count > 0; ++i) {
    if (tensor.shape[i] <= 1) continue;
    const std::optional<int64_t> step = CheckedMul(tensor.strides[i], element);
    const std::optional<int64_t> reach =
        step ? CheckedMul(tensor.shape[i] - 1, *step) : std::nullopt;
    if (!reach) return too_large();
    const std::optional<int64_t> sum = CheckedAdd(*reach < 0 ? below : above, *reach);
    if (!sum) return too_large();
    (*reach < 0 ? below : above) = *sum;
  }
  // Both ends must fit in one range of addresses.
  if (!CheckedAdd(above, -(below + 1))) return too_large();
  return {};
}

Status CheckNoSelfOverlap(std::string_view name, const TensorDesc& tensor) {
  const std::optional<int64_t> count = CheckedProduct(tensor.shape.values());
  if (count == 0) return {};
  const std::vector<Step> steps = StepsOf(tensor);
  if (StepsNest(steps)) return {};
  if (steps.front().stride != 0 && count <= kMaxCountedElements) {
    std::vector<int64_t> offsets = AllOffsets(steps);
    std::sort(offsets.begin(), offsets.end());
    if (std::adjacent_find(offsets.begin(), offsets.end()) == offsets.end()) return {};
  }
  return InvalidArgument(
      "{} must not overlap itself: no two elements may share an address, got shape {} with "
      "strides {}.",
      name, ShapeText(tensor.shape.values()), ShapeText(tensor.strides.values()));
}

Reach ReachOf(const TensorDesc& tensor) {
  Reach reach{0, SizeOf(tensor.dtype)};
  for (int i = 0; i < tensor.shape.rank(); ++i) {
    if (tensor.shape[i] == 0) return {};
    const int64_t span = (tensor.shape[i] - 1) * tensor.strides[i] * SizeOf(tensor.dtype);
    (span < 0 ? reach.below : reach.above) += std::abs(span);
  }
  return reach;
}

namespace {

// Bytes that a view covers within one step of `period` bytes: its smaller steps and an element. -1
// where a larger step is no multiple of the period, so that the view does not repeat with it.
int64_t RunWithin(const TensorDesc& tensor, const std::vector<Step>& steps, int64_t period) {
  int64_t run = SizeOf(tensor.dtype);
  for (const Step& step : steps) {
    const int64_t bytes = step.stride * SizeOf(tensor.dtype);
    if (bytes >= period && bytes % period != 0) return -1;
    if (bytes < period) run += (step.extent - 1) * bytes;
  }
  return run;
}

// Whether two views that both repeat with `period` bytes keep to different parts of it; `ahead` is
// how far b begins after a.
bool ApartWithin(int64_t a_run, int64_t b_run, uintptr_t a_low, uintptr_t b_low, int64_t period) {
  if (a_run < 0 || b_run < 0) return false;
  const auto length = static_cast<uintptr_t>(period);
  const auto ahead = static_cast<int64_t>(
      b_low >= a_low ? (b_low - a_low) % length : (length - (a_low - b_low) % length) % length);
  return a_run <= ahead && ahead + b_run <= period;
}

}  // namespace

bool MayMeet(const TensorDesc& a, const void* a_data, const TensorDesc& b, const void* b_data) {
  const Reach a_reach = ReachOf(a);
  const Reach b_reach = ReachOf(b);
  if (a_reach.above == 0 || b_reach.above == 0) return false;
  const uintptr_t a_low =
      reinterpret_cast<uintptr_t>(a_data) - static_cast<uintptr_t>(a_reach.below);
  const uintptr_t b_low =
      reinterpret_cast<uintptr_t>(b_data) - static_cast<uintptr_t>(b_reach.below);
  const uintptr_t a_high = a_low + static_cast<uintptr_t>(a_reach.below + a_reach.above);
  const uintptr_t b_high = b_low + static_cast<uintptr_t>(b_reach.below + b_reach.above);
  if (a_high <= b_low || b_high <= a_low) return false;
  const std::vector<Step> a_steps = StepsOf(a);
  const std::vector<Step> b_steps = StepsOf(b);
  return std::none_of(a_steps.begin(), a_steps.end(), [&](const Step& step) {
    const int64_t period = step.stride * SizeOf(a.dtype);
    return period > 0 && ApartWithin(RunWithin(a, a_steps, period), RunWithin(b, b_steps, period),
                                     a_low, b_low, period);
  });
}

namespace {

// Types, ranks, values and shapes: what a call says of itself.
Status CheckArguments(const ResizeCall& call, const DoorChecks& door, bool empty_batch) {
  OPSCV_RETURN_IF_ERROR(CheckDTypes(call, door));
  OPSCV_RETURN_IF_ERROR(CheckRanks(call, door));
  OPSCV_RETURN_IF_ERROR(CheckScaleValues(call));
  OPSCV_RETURN_IF_ERROR(CheckSizes(call, empty_batch));
  return CheckShapes(call);
}

// Views and the storage behind them.
Status CheckMemory(const ResizeCall& call, const DoorChecks& door) {
  OPSCV_RETURN_IF_ERROR(CheckAddressable(call.InputName(), call.call->input));
  OPSCV_RETURN_IF_ERROR(CheckAddressable(call.OutputName(), call.call->output));
  OPSCV_RETURN_IF_ERROR(door.CheckStorage(call));
  if (door.takes_self_overlap()) return {};
  return CheckNoSelfOverlap(call.OutputName(), call.call->output);
}

}  // namespace

Status CheckResize(const ResizeCall& call, const DoorChecks& door, bool empty_batch_is_fine) {
  const bool empty_batch = empty_batch_is_fine || door.takes_empty_batch();
  OPSCV_RETURN_IF_ERROR(CheckArguments(call, door, empty_batch));
  if (IsEmptyBatch(call)) return {};
  OPSCV_RETURN_IF_ERROR(door.CheckShrink(call));
  OPSCV_RETURN_IF_ERROR(CheckScalesMatchSizes(call));
  OPSCV_RETURN_IF_ERROR(door.CheckDeviceSize(call));
  return CheckMemory(call, door);
}

}  // namespace opscv::ops
