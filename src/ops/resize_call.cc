// SPDX-License-Identifier: Apache-2.0
#include "ops/resize_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace opscv::ops {
namespace {

constexpr std::array<std::string_view, kMaxAxes> kAxisLetters = {"d", "h", "w"};

int FindAttr(const OpInfo& info, std::string_view name) {
  for (size_t i = 0; i < info.attrs.size(); ++i) {
    if (info.attrs[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// The attribute's value, or `fallback` where the operator has no attribute of that name.
template <typename T>
T AttrOr(const OpCall& call, std::string_view name, T fallback) {
  const int i = FindAttr(*call.info, name);
  if (i < 0) return fallback;
  return std::get<T>(call.attrs[static_cast<size_t>(i)]);
}

std::string ScaleAttrName(int axis, int axes) {
  return fmt::format("scales_{}", kAxisLetters[static_cast<size_t>(axis + kMaxAxes - axes)]);
}

void ReadScales(const OpCall& call, ResizeCall& result) {
  const auto list = AttrOr<FloatList>(call, "scales", {});
  for (int axis = 0; axis < result.axes; ++axis) {
    const auto i = static_cast<size_t>(axis);
    result.scales[i] =
        i < list.size() ? list[i] : AttrOr<double>(call, ScaleAttrName(axis, result.axes), 0.0);
  }
}

// Extents of the spatial axes, the forward operator's view of them.
IntList SpatialShape(const TensorDesc& tensor) {
  const Dims shape = ChannelsFirst(tensor.shape, tensor.layout);
  const std::span<const int64_t> values = shape.values();
  if (values.size() < 3) return {};
  return {values.begin() + 2, values.end()};
}

plan::Tensor5 ToTensor5(const TensorDesc& tensor) {
  const Dims shape = ChannelsFirst(tensor.shape, tensor.layout);
  const Dims strides = ChannelsFirst(tensor.strides, tensor.layout);
  plan::Tensor5 result;
  result.shape = {1, 1, 1, 1, 1};
  const int lift = plan::kRank - shape.rank();
  const bool empty = std::ranges::count(shape.values(), 0) > 0;
  for (int i = 0; i < shape.rank(); ++i) {
    const int dim = i < 2 ? i : i + lift;
    result.shape[static_cast<size_t>(dim)] = shape[i];
    // Strides of an empty tensor are never followed and may be absurd.
    if (shape[i] > 1 && !empty) {
      result.stride_bytes[static_cast<size_t>(dim)] = strides[i] * SizeOf(tensor.dtype);
    }
  }
  return result;
}

}  // namespace

std::string_view ResizeCall::InputName() const {
  const TensorInfo& tensor = call->info->input;
  return names == NameStyle::kAclnn ? tensor.aclnn_name : tensor.name;
}

std::string_view ResizeCall::OutputName() const {
  const TensorInfo& tensor = call->info->output;
  return names == NameStyle::kAclnn ? tensor.aclnn_name : tensor.name;
}

std::string ResizeCall::AttrName(std::string_view attr) const {
  const int i = FindAttr(*call->info, attr);
  if (names == NameStyle::kGraph || i < 0) return std::string(attr);
  return std::string(call->info->attrs[static_cast<size_t>(i)].aclnn_names.front());
}

std::string ResizeCall::ElementName(std::string_view attr, int element) const {
  return fmt::format("{}[{}]", AttrName(attr), element);
}

std::string ResizeCall::ScaleName(int axis) const {
  const int list = FindAttr(*call->info, "scales");
  if (list < 0) return AttrName(ScaleAttrName(axis, axes));
  if (names == NameStyle::kGraph) return ElementName("scales", axis);
  return std::string(
      call->info->attrs[static_cast<size_t>(list)].aclnn_names[static_cast<size_t>(axis)]);
}

std::string ResizeCall::InputSizeName(int element) const {
  if (backward()) return ElementName("input_size", element);
  return fmt::format("{}.shape[{}]", InputName(), element);
}

double ResizeCall::UsedScale(int axis) const {
  if (align_corners) return 0.0;
  const double scale = scales[static_cast<size_t>(axis)];
  const bool all_or_none = negative_scale_is_none && call->rule != IndexRule::kTorchCpu;
  const bool all =
      std::all_of(scales.begin(), scales.begin() + axes, [](double value) { return value > 0.0; });
  return scale > 0.0 && (all || !all_or_none) ? scale : 0.0;
}

Dims ChannelsFirst(const Dims& dims, Layout layout) {
  if (layout == Layout::kChannelsFirst || dims.rank() < 3 || dims.rank() > kMaxRank) return dims;
  Dims result = dims;
  result[1] = dims[dims.rank() - 1];
  for (int i = 2; i < dims.rank(); ++i) result[i] = dims[i - 1];
  return result;
}

ResizeCall ReadResizeCall(const OpCall& call, NameStyle names) {
  ResizeCall result;
  result.call = &call;
  result.names = names;
  result.axes = call.info->rank - 2;
  result.align_corners = AttrOr<bool>(call, "align_corners", false);
  ReadScales(call, result);
  result.output_size = AttrOr<IntList>(call, "output_size", {});
  if (result.backward()) {
    result.input_size = AttrOr<IntList>(call, "input_size", {});
  } else {
    const Dims shape = ChannelsFirst(call.input.shape, call.input.layout);
    result.input_size.assign(shape.values().begin(), shape.values().end());
  }
  // Graphs leave output_size out of a gradient by giving its default, zeros: the sizes decide.
  const bool optional_size =
      names == NameStyle::kGraph && result.backward() &&
      !call.info->attrs[static_cast<size_t>(FindAttr(*call.info, "output_size"))].required;
  if (optional_size && std::all_of(result.output_size.begin(), result.output_size.end(),
                                   [](int64_t extent) { return extent == 0; })) {
    result.output_size = SpatialShape(call.input);
  }
  return result;
}

plan::ResampleSpec ResizeSpec(const ResizeCall& call, plan::Method method) {
  plan::ResampleSpec spec;
  spec.method = method;
  spec.direction = call.call->info->direction;
  spec.rule = call.call->rule;
  spec.dtype = call.call->input.dtype;
  spec.input = ToTensor5(call.call->input);
  spec.output = ToTensor5(call.call->output);
  const int lift = plan::kSpatial - call.axes;
  for (int axis = 0; axis < call.axes; ++axis) {
    const auto i = static_cast<size_t>(axis);
    spec.axes[i + static_cast<size_t>(lift)] = {.in = call.input_size[i + 2],
                                                .out = call.output_size[i],
                                                .align_corners = call.align_corners,
                                                .multiplier = call.UsedScale(axis)};
  }
  return spec;
}

}  // namespace opscv::ops
