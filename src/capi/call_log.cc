// SPDX-License-Identifier: Apache-2.0
#include "capi/call_log.h"

#include <fmt/ranges.h>

#include <string>
#include <string_view>

#include "capi/dtypes.h"
#include "capi/log.h"

namespace opscv::capi {
namespace {

class Chain {
 public:
  explicit Chain(std::string_view function) : function_(function) {}

  void Line(std::string_view step, const std::string& what, std::string_view cost) const {
    Log(LogLevel::kDebug,
        fmt::format("{}GetWorkspaceSize: {}: {}; {}", function_, step, what, cost));
  }

 private:
  std::string_view function_;
};

std::string Shape(const Dims& shape) {
  return fmt::format("({})", fmt::join(shape.values(), ", "));
}

bool IsContiguous(const TensorDesc& desc) { return desc.strides == ContiguousStrides(desc.shape); }

std::string Named(const Operand& operand) {
  return fmt::format("{} {} strides {}", operand.name, Shape(operand.desc.shape),
                     Shape(operand.desc.strides));
}

std::string TypeText(const Operand& operand) {
  return DataTypeText(ToAclDataType(operand.desc.dtype));
}

std::string PlanText(const plan::Plan& plan) {
  std::string text = plan.Describe();
  for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at)) {
    text.replace(at, 1, at + 1 == text.size() ? "" : " | ");
  }
  return text;
}

void LogBefore(const Chain& log, const PlannedCall& call) {
  log.Line("Contiguous", Named(call.input),
           IsContiguous(call.input.desc) ? "contiguous already" : "free: read in place");
  if (call.input.desc.layout == Layout::kChannelsLast) {
    log.Line("Transpose", fmt::format("{} N,D,H,W,C to N,C,D,H,W", call.input.name),
             "free: read in place");
  }
  if (SizeOf(call.input.desc.dtype) < 4) {
    log.Line("Cast", fmt::format("{} to ACL_FLOAT", TypeText(call.input)),
             "free: done while loading");
  }
}

void LogAfter(const Chain& log, const PlannedCall& call) {
  if (SizeOf(call.output.desc.dtype) < 4) {
    log.Line("Cast", fmt::format("ACL_FLOAT to {}", TypeText(call.output)),
             "free: done while storing");
  }
  if (call.output.desc.layout == Layout::kChannelsLast) {
    log.Line("Transpose", fmt::format("{} N,C,D,H,W to N,D,H,W,C", call.output.name),
             "free: written in place");
  }
  log.Line("ViewCopy", Named(call.output),
           IsContiguous(call.output.desc) ? "contiguous already" : "free: written in place");
}

void LogChain(const PlannedCall& call) {
  const Chain log(call.info->aclnn_name);
  if (call.plan == nullptr) {
    log.Line("empty", Named(call.output), "nothing to run");
    return;
  }
  LogBefore(log, call);
  log.Line(call.info->name,
           fmt::format("{} to {}", Shape(call.input.desc.shape), Shape(call.output.desc.shape)),
           PlanText(*call.plan));
  LogAfter(log, call);
}

void LogSummary(const PlannedCall& call) {
  const std::string rule =
      call.info->takes_rule ? fmt::format("rule {}, ", NameOf(call.rule)) : std::string();
  Log(LogLevel::kInfo,
      fmt::format("{}GetWorkspaceSize: {} {} to {} {}, {}, {}workspace {} bytes, threads {}",
                  call.info->aclnn_name, call.input.name, Shape(call.input.desc.shape),
                  call.output.name, Shape(call.output.desc.shape), TypeText(call.input), rule,
                  call.workspace_bytes, call.threads));
}

}  // namespace

void LogCall(const PlannedCall& call) {
  if (!Logs(LogLevel::kInfo)) return;
  LogSummary(call);
  if (Logs(LogLevel::kDebug)) LogChain(call);
}

}  // namespace opscv::capi
