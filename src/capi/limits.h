// SPDX-License-Identifier: Apache-2.0
// What the device's operator library asks for beyond the meaning of an operator: formats, shrink
// limits, extents, memory, storage behind views. Other doors have none of these limits.
#ifndef OPSCV_CAPI_LIMITS_H_
#define OPSCV_CAPI_LIMITS_H_

#include "capi/stage_one.h"
#include "ops/check_rules.h"

namespace opscv::capi {

class DeviceDoor : public ops::DoorChecks {
 public:
  // The call outlives the door.
  explicit DeviceDoor(const Call& call) : call_(call) {}

  [[nodiscard]] ops::NameStyle names() const override { return ops::NameStyle::kAclnn; }
  [[nodiscard]] bool takes_cpu_dtypes() const override { return false; }
  [[nodiscard]] bool takes_empty_batch() const override { return false; }
  [[nodiscard]] Status CheckFormats(const ops::ResizeCall& call) const override;
  [[nodiscard]] Status CheckShrink(const ops::ResizeCall& call) const override;
  [[nodiscard]] Status CheckDeviceSize(const ops::ResizeCall& call) const override;
  [[nodiscard]] Status CheckStorage(const ops::ResizeCall& call) const override;

 private:
  const Call& call_;
};

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_LIMITS_H_
