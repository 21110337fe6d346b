// SPDX-License-Identifier: Apache-2.0
#include "capi/planned_call.h"

namespace opscv::capi {
namespace {

struct Bytes {
  uintptr_t begin;
  uintptr_t end;
};

Bytes BytesOf(const Operand& operand, const void* first) {
  const auto at = reinterpret_cast<uintptr_t>(first);
  return {at - static_cast<uintptr_t>(operand.reach.below),
          at + static_cast<uintptr_t>(operand.reach.above)};
}

}  // namespace

Status CheckDisjoint(const PlannedCall& call, void* input, void* output) {
  const void* const from = call.input.FirstElement(input);
  const void* const to = call.output.FirstElement(output);
  const Bytes read = BytesOf(call.input, from);
  const Bytes written = BytesOf(call.output, to);
  if (read.end <= written.begin || written.end <= read.begin) return {};
  if (!ops::MayMeet(call.input.desc, from, call.output.desc, to)) return {};
  return InvalidArgument("{} must share no memory with {}, got ranges that meet, from {} and {}.",
                         call.output.name, call.input.name, to, from);
}

uint64_t TableBytes(const plan::Plan& plan) {
  constexpr int64_t kSample = 20;  // where its row begins and ends, its bounds or its source
  constexpr int64_t kTap = 12;
  int64_t bytes = 0;
  for (const taps::Axis& axis : plan.spec().axes) {
    if (!taps::IsIdentity(axis)) bytes += (axis.in + axis.out) * kSample;
  }
  for (const plan::Pass& pass : plan.Passes()) {
    for (const plan::Pass::Axis& axis : pass.axes) {
      const int64_t rows = plan.spec().output.shape[static_cast<size_t>(plan::kD + axis.axis)];
      bytes += rows * axis.most_taps * kTap;
    }
  }
  return static_cast<uint64_t>(bytes);
}

}  // namespace opscv::capi
