// SPDX-License-Identifier: Apache-2.0
// The ordered checks of a resizing call. The first failure wins; its sentence names the argument,
// the value got and what was expected. The order is part of the interface (docs/checks.md).
#ifndef OPSCV_OPS_CHECK_RULES_H_
#define OPSCV_OPS_CHECK_RULES_H_

#include "base/status.h"
#include "ops/resize_call.h"

namespace opscv::ops {

// What one door asks for beyond the common checks, each asked at its place in the order. The base
// class is a door without wishes of its own: native C++, the command, Python, graphs.
class DoorChecks {
 public:
  virtual ~DoorChecks() = default;
  [[nodiscard]] virtual NameStyle names() const { return NameStyle::kGraph; }
  // Whether OpInfo::cpu_dtypes are taken too.
  [[nodiscard]] virtual bool takes_cpu_dtypes() const { return true; }
  // Whether N and C may be 0 although the operator's device refuses it.
  [[nodiscard]] virtual bool takes_empty_batch() const { return true; }
  // How the door writes a type.
  [[nodiscard]] virtual std::string_view DTypeName(DType dtype) const { return NameOf(dtype); }
  // After the ranks: what the door knows of formats.
  [[nodiscard]] virtual Status CheckFormats(const ResizeCall& /*call*/) const { return {}; }
  // After the shapes, before the scales: how strongly the device may shrink.
  [[nodiscard]] virtual Status CheckShrink(const ResizeCall& /*call*/) const { return {}; }
  // After the scales: extents and memory of the device.
  [[nodiscard]] virtual Status CheckDeviceSize(const ResizeCall& /*call*/) const { return {}; }
  // Whether the output's elements may meet, since whoever runs the plan sees to it.
  [[nodiscard]] virtual bool takes_self_overlap() const { return false; }
  // Last: storage behind the views.
  [[nodiscard]] virtual Status CheckStorage(const ResizeCall& /*call*/) const { return {}; }
};

// All checks of a resizing operator in their order. `empty_batch_is_fine`: the device takes N or C
// of 0, and then nothing after the shapes is checked.
[[nodiscard]] Status CheckResize(const ResizeCall& call, const DoorChecks& door,
                                 bool empty_batch_is_fine);

// Single checks, for tests and for doors that know more.
[[nodiscard]] Status CheckScalesMatchSizes(const ResizeCall& call);
[[nodiscard]] Status CheckAddressable(std::string_view name, const TensorDesc& tensor);
[[nodiscard]] Status CheckNoSelfOverlap(std::string_view name, const TensorDesc& tensor);

// The bytes below and above the first element's address that a view reaches: its elements lie in
// [address - below, address + above). Both 0 for an empty view. The view is addressable.
struct Reach {
  int64_t below = 0;
  int64_t above = 0;
};
[[nodiscard]] Reach ReachOf(const TensorDesc& tensor);

// Whether two views, their first elements at these addresses, share a byte that both address.
// Ranges that meet are told apart by their strides where both step through memory alike; where that
// is not certain the answer is that they meet.
[[nodiscard]] bool MayMeet(const TensorDesc& a, const void* a_data, const TensorDesc& b,
                           const void* b_data);

}  // namespace opscv::ops

#endif  // OPSCV_OPS_CHECK_RULES_H_
