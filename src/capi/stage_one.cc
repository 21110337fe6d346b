// SPDX-License-Identifier: Apache-2.0
#include "capi/stage_one.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/checked_math.h"
#include "base/parallel.h"
#include "capi/chain_log.h"
#include "capi/dtypes.h"
#include "capi/limits.h"
#include "capi/runtime.h"

namespace opscv::capi {
namespace {

constexpr int64_t kWorkspaceUnit = 64;

std::string SupportedProducts(const ops::OpInfo& info) {
  std::vector<std::string_view> names;
  for (const ProductProfile& profile : AllProfiles()) {
    if (Supports(info, profile)) names.emplace_back(profile.soc);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// The type is judged by the program's own number, because not every one is a DType.
Status CheckTypes(const ops::OpInfo& info, const Tensor& input, const Tensor& output) {
  std::vector<std::string> allowed;
  for (const DType dtype : info.dtypes) allowed.push_back(DataTypeText(ToAclDataType(dtype)));
  const std::string type = DataTypeText(input.dtype);
  if (std::find(allowed.begin(), allowed.end(), type) == allowed.end()) {
    return InvalidArgument("{} must be of type {}, got {}.", info.input.aclnn_name,
                           fmt::join(allowed, ", "), type);
  }
  if (output.dtype != input.dtype) {
    return InvalidArgument("{} must be of the same type as {}, {}, got {}.", info.output.aclnn_name,
                           info.input.aclnn_name, type, DataTypeText(output.dtype));
  }
  return {};
}

Operand ReadOperand(const ops::OpInfo& info, std::string_view name, const Tensor& tensor) {
  const bool channels_last = info.rank == 5 && tensor.format == ACL_FORMAT_NDHWC;
  return {.name = name,
          .desc = {.dtype = ToDType(tensor.dtype).value_or(DType::kBool),
                   .shape = tensor.shape,
                   .strides = tensor.strides,
                   .layout = channels_last ? Layout::kChannelsLast : Layout::kChannelsFirst},
          .offset = tensor.offset,
          .data = tensor.data};
}

Status ReadAttr(const ops::AttrInfo& info, const AttrArg& arg, AttrValue& value) {
  if (const auto* handle = std::get_if<const aclIntArray*>(&arg)) {
    OPSCV_ASSIGN_OR_RETURN(const std::shared_ptr<const IntArray> array,
                           FindIntArray(*handle, info.aclnn_names.front()));
    value = *array;
  } else if (const auto* flag = std::get_if<bool>(&arg)) {
    value = *flag;
  } else if (const auto* number = std::get_if<double>(&arg)) {
    value = *number;
  } else {
    value = std::get<FloatList>(arg);
  }
  return {};
}

}  // namespace

bool Call::Empty() const {
  const std::span<const int64_t> shape = output.desc.shape.values();
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

Status CheckPointers(const uint64_t* workspace_size, aclOpExecutor* const* executor,
                     std::initializer_list<NamedHandle> handles) {
  const auto null = [](std::string_view name) -> Status {
    return {StatusCode::kNullPointer, fmt::format("{} must not be null.", name)};
  };
  if (workspace_size == nullptr) return null("workspaceSize");
  if (executor == nullptr) return null("executor");
  for (const NamedHandle& each : handles) {
    if (each.handle == nullptr) return null(each.name);
  }
  return {};
}

Status CheckProduct(const ops::OpInfo& info) {
  const std::shared_ptr<const Settings> settings = Runtime::Get().settings();
  if (!settings->profile) return settings->profile.error();
  const ProductProfile& profile = **settings->profile;
  if (!Supports(info, profile)) {
    return InvalidArgument("{} is not supported on {} ({}); OPSCV_SOC must be one of {}.",
                           info.aclnn_name, profile.soc, profile.title, SupportedProducts(info));
  }
  if (info.takes_rule && !settings->rule) return settings->rule.error();
  return CheckThreadsVariable();
}

Status ReadCall(const ops::OpInfo& info, const aclTensor* input, const aclTensor* output,
                std::initializer_list<AttrArg> attrs, Call& call) {
  OPSCV_ASSIGN_OR_RETURN(call.input_tensor, FindTensor(input, info.input.aclnn_name));
  std::vector<AttrValue> values;
  for (const AttrArg& arg : attrs) {
    const ops::AttrInfo& attr = info.attrs[values.size()];
    OPSCV_RETURN_IF_ERROR(ReadAttr(attr, arg, values.emplace_back()));
  }
  OPSCV_ASSIGN_OR_RETURN(call.output_tensor, FindTensor(output, info.output.aclnn_name));
  call.input = ReadOperand(info, info.input.aclnn_name, *call.input_tensor);
  call.output = ReadOperand(info, info.output.aclnn_name, *call.output_tensor);
  const std::shared_ptr<const Settings> settings = Runtime::Get().settings();
  OPSCV_ASSIGN_OR_RETURN(call.profile, Result<const ProductProfile*>(settings->profile));
  call.op = {
      .info = &info,
      .input = call.input.desc,
      .output = call.output.desc,
      .attrs = std::move(values),
      .rule = info.takes_rule ? settings->rule.value_or(IndexRule::kAscend) : IndexRule::kAscend};
  return {};
}

Status Validate(const Call& call) {
  const ops::OpInfo& info = *call.op.info;
  OPSCV_RETURN_IF_ERROR(CheckTypes(info, *call.input_tensor, *call.output_tensor));
  OPSCV_RETURN_IF_ERROR(info.validate(call.op, DeviceDoor(call)));
  const bool both_known = call.input.data != nullptr && call.output.data != nullptr;
  if (call.Empty() || !both_known) return {};
  return CheckDisjoint(call.input, call.output);
}

Result<std::shared_ptr<const plan::Plan>> MakeCallPlan(const Call& call) {
  if (call.Empty()) return nullptr;
  return plan::MakePlan(call.op.info->to_spec(call.op));
}

Status Publish(std::shared_ptr<const plan::Plan> plan, const Call& call, uint64_t* workspace_size,
               aclOpExecutor** executor) {
  LogChain(call, plan.get());
  auto made = std::make_shared<Executor>();
  made->info = call.op.info;
  made->threads = DefaultThreads();
  made->input = call.input;
  made->output = call.output;
  if (plan != nullptr) {
    made->workspace_bytes =
        static_cast<uint64_t>(RoundUp(plan->WorkspaceBytes(made->threads), kWorkspaceUnit));
  }
  made->plan = std::move(plan);
  const uint64_t bytes = made->workspace_bytes;
  void* handle = nullptr;
  const AclStatus issued = Issue(Runtime::Get().executors, std::move(made), &handle);
  if (!issued.ok()) return {StatusCode::kOutOfMemory, issued.message()};
  *workspace_size = bytes;
  *executor = static_cast<aclOpExecutor*>(handle);
  return {};
}

}  // namespace opscv::capi
