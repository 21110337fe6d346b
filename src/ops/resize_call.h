// SPDX-License-Identifier: Apache-2.0
// What every resizing operator's call comes down to, whatever its attributes are called: the form
// in which check_rules.h judges it.
#ifndef OPSCV_OPS_RESIZE_CALL_H_
#define OPSCV_OPS_RESIZE_CALL_H_

#include <array>
#include <cstdint>
#include <string>

#include "ops/op_info.h"

namespace opscv::ops {

// Whose names a message uses: the graph's (command, native, Python) or the C function's parameters.
enum class NameStyle : uint8_t { kGraph, kAclnn };

inline constexpr int kMaxAxes = 3;

struct ResizeCall {
  const OpCall* call = nullptr;
  NameStyle names = NameStyle::kGraph;
  int axes = 2;  // spatial axes
  IntList output_size;
  IntList input_size;  // a forward operator's is the shape of its input
  bool align_corners = false;
  std::array<double, kMaxAxes> scales{};  // as given; 0: not given
  // Nearest operators take a scale <= 0 for one that is not given; others refuse it when negative.
  bool negative_scale_is_none = false;

  [[nodiscard]] bool backward() const {
    return call->info->direction == plan::Direction::kBackward;
  }
  [[nodiscard]] std::string_view InputName() const;
  [[nodiscard]] std::string_view OutputName() const;
  // The name of an attribute, by its graph name; `element` names one element of a list.
  [[nodiscard]] std::string AttrName(std::string_view attr) const;
  [[nodiscard]] std::string ElementName(std::string_view attr, int element) const;
  [[nodiscard]] std::string ScaleName(int axis) const;
  // How messages name input_size, which forward operators do not have.
  [[nodiscard]] std::string InputSizeName(int element) const;

  // The multiplier in use along an axis: 0 where the sizes decide. Nearest operators use scales
  // only when all are given, except under the rule torch_cpu, which takes each axis for itself.
  [[nodiscard]] double UsedScale(int axis) const;
};

// The dimensions of a tensor in the order N,C,spatial, whatever its layout; rank must be 3 or more.
[[nodiscard]] Dims ChannelsFirst(const Dims& dims, Layout layout);

// Reads a call whose attributes are named as those of the resizing operators: output_size,
// input_size (gradients), align_corners, and scales_h, scales_w or scales.
[[nodiscard]] ResizeCall ReadResizeCall(const OpCall& call, NameStyle names);

// The call as the engine's spec; it has passed CheckResize.
[[nodiscard]] plan::ResampleSpec ResizeSpec(const ResizeCall& call, plan::Method method);

}  // namespace opscv::ops

#endif  // OPSCV_OPS_RESIZE_CALL_H_
