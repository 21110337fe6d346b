// SPDX-License-Identifier: Apache-2.0
#include "capi/chain_log.h"

#include <fmt/ranges.h>

#include <string>
#include <string_view>

#include "capi/dtypes.h"
#include "capi/log.h"

namespace opscv::capi {
namespace {

class ChainLog {
 public:
  explicit ChainLog(std::string_view function) : function_(function) {}

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

std::string PlanText(const plan::Plan& plan) {
  std::string text = plan.Describe();
  for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at)) {
    text.replace(at, 1, at + 1 == text.size() ? "" : " | ");
  }
  return text;
}

void LogBefore(const ChainLog& log, const Call& call) {
  log.Line("Contiguous", Named(call.input),
           IsContiguous(call.input.desc) ? "contiguous already" : "free: read in place");
  if (call.input.desc.layout == Layout::kChannelsLast) {
    log.Line("Transpose", fmt::format("{} N,D,H,W,C to N,C,D,H,W", call.input.name),
             "free: read in place");
  }
  if (SizeOf(call.input.desc.dtype) < 4) {
    log.Line("Cast", fmt::format("{} to ACL_FLOAT", DataTypeText(call.input_tensor->dtype)),
             "free: done while loading");
  }
}

void LogAfter(const ChainLog& log, const Call& call) {
  if (SizeOf(call.output.desc.dtype) < 4) {
    log.Line("Cast", fmt::format("ACL_FLOAT to {}", DataTypeText(call.output_tensor->dtype)),
             "free: done while storing");
  }
  if (call.output.desc.layout == Layout::kChannelsLast) {
    log.Line("Transpose", fmt::format("{} N,C,D,H,W to N,D,H,W,C", call.output.name),
             "free: written in place");
  }
  log.Line("ViewCopy", Named(call.output),
           IsContiguous(call.output.desc) ? "contiguous already" : "free: written in place");
}

}  // namespace

void LogChain(const Call& call, const plan::Plan* plan) {
  if (!Logs(LogLevel::kDebug)) return;
  const ChainLog log(call.op.info->aclnn_name);
  if (plan == nullptr) {
    log.Line("empty", Named(call.output), "nothing to run");
    return;
  }
  LogBefore(log, call);
  log.Line(call.op.info->name,
           fmt::format("{} to {}", Shape(call.input.desc.shape), Shape(call.output.desc.shape)),
           PlanText(*plan));
  LogAfter(log, call);
}

}  // namespace opscv::capi
