// SPDX-License-Identifier: Apache-2.0
#include "capi/stage_one.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/checked_math.h"
#include "base/parallel.h"
#include "capi/call_cache.h"
#include "capi/call_log.h"
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
          .reach = {}};
}

Status ReadAttr(const ops::AttrInfo& info, const AttrArg& arg, Arguments::Attr& attr) {
  if (const auto* handle = std::get_if<const aclIntArray*>(&arg)) {
    OPSCV_ASSIGN_OR_RETURN(attr, FindIntArray(*handle, info.aclnn_names.front()));
  } else if (const auto* flag = std::get_if<bool>(&arg)) {
    attr = *flag;
  } else if (const auto* number = std::get_if<double>(&arg)) {
    attr = *number;
  } else {
    attr = std::get<Scales>(arg);
  }
  return {};
}

AttrValue ValueOf(const Arguments::Attr& attr) {
  if (const auto* array = std::get_if<std::shared_ptr<const IntArray>>(&attr)) return **array;
  if (const auto* flag = std::get_if<bool>(&attr)) return *flag;
  if (const auto* number = std::get_if<double>(&attr)) return *number;
  const auto& scales = std::get<Scales>(attr);
  return FloatList(scales.begin(), scales.end());
}

Call ReadCall(const Arguments& args) {
  const ops::OpInfo& info = *args.info;
  Call call{.args = args,
            .op = {.info = &info, .input = {}, .output = {}, .attrs = {}, .rule = args.rule},
            .input = ReadOperand(info, info.input.aclnn_name, *args.input),
            .output = ReadOperand(info, info.output.aclnn_name, *args.output)};
  call.op.input = call.input.desc;
  call.op.output = call.output.desc;
  for (size_t i = 0; i < info.attrs.size(); ++i) call.op.attrs.push_back(ValueOf(args.attrs[i]));
  return call;
}

void AddTensor(CallKey& key, const Tensor& tensor) {
  key.Add(int64_t{tensor.dtype});
  key.Add(int64_t{tensor.format});
  key.Add(tensor.shape.values());
  key.Add(tensor.strides.values());
  key.Add(tensor.offset);
  key.Add(tensor.storage.values());
}

struct AddAttr {
  CallKey& key;
  void operator()(std::monostate /*none*/) const {}
  void operator()(const std::shared_ptr<const IntArray>& array) const {
    key.Add(std::span<const int64_t>(*array));
  }
  void operator()(bool flag) const { key.Add(int64_t{flag}); }
  void operator()(double number) const { key.Add(number); }
  void operator()(const Scales& scales) const {
    for (const double scale : scales) key.Add(scale);
  }
};

// Everything that checks and plan depend on. The threads of a process never change.
void AddCall(CallKey& key, const Arguments& args) {
  key.Add(args.info);
  key.Add(args.profile);
  key.Add(static_cast<int64_t>(args.rule));
  AddTensor(key, *args.input);
  AddTensor(key, *args.output);
  for (size_t i = 0; i < args.info->attrs.size(); ++i) std::visit(AddAttr{key}, args.attrs[i]);
}

// N or C is 0, which only operators that take it let pass.
bool IsEmpty(const TensorDesc& output) {
  const std::span<const int64_t> shape = output.shape.values();
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

// Where a tensor has no address yet, the second stage will ask.
Status CheckAddresses(const PlannedCall& call, const Arguments& args) {
  if (args.input->data == nullptr || args.output->data == nullptr) return {};
  return CheckDisjoint(call, args.input->data, args.output->data);
}

// Checks, then plans.
Status MakeCall(const Arguments& args, PlannedCall& made) {
  const ops::OpInfo& info = *args.info;
  const Call call = ReadCall(args);
  OPSCV_RETURN_IF_ERROR(CheckTypes(info, *args.input, *args.output));
  OPSCV_RETURN_IF_ERROR(info.validate(call.op, DeviceDoor(call)));
  made.info = &info;
  made.rule = args.rule;
  made.input = call.input;
  made.output = call.output;
  made.threads = DefaultThreads();
  if (IsEmpty(call.output.desc)) return {};
  made.input.reach = ops::ReachOf(call.input.desc);
  made.output.reach = ops::ReachOf(call.output.desc);
  OPSCV_RETURN_IF_ERROR(CheckAddresses(made, args));
  OPSCV_ASSIGN_OR_RETURN(made.plan, plan::MakePlan(info.to_spec(call.op)));
  made.workspace_bytes =
      static_cast<uint64_t>(RoundUp(made.plan->WorkspaceBytes(made.threads), kWorkspaceUnit));
  made.brief = made.plan->UsefulThreads(2) == 1;
  return {};
}

}  // namespace

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

Status CheckProduct(Arguments& args) {
  const ops::OpInfo& info = *args.info;
  const std::shared_ptr<const Settings> settings = Runtime::Get().settings();
  if (!settings->profile) return settings->profile.error();
  const ProductProfile& profile = **settings->profile;
  if (!Supports(info, profile)) {
    return InvalidArgument("{} is not supported on {} ({}); OPSCV_SOC must be one of {}.",
                           info.aclnn_name, profile.soc, profile.title, SupportedProducts(info));
  }
  args.profile = &profile;
  if (info.takes_rule) {
    if (!settings->rule) return settings->rule.error();
    args.rule = *settings->rule;
  }
  return CheckThreadsVariable();
}

Status ReadArguments(const aclTensor* input, const aclTensor* output,
                     std::initializer_list<AttrArg> attrs, Arguments& args) {
  const ops::OpInfo& info = *args.info;
  OPSCV_ASSIGN_OR_RETURN(args.input, FindTensor(input, info.input.aclnn_name));
  size_t read = 0;
  for (const AttrArg& arg : attrs) {
    OPSCV_RETURN_IF_ERROR(ReadAttr(info.attrs[read], arg, args.attrs[read]));
    ++read;
  }
  OPSCV_ASSIGN_OR_RETURN(args.output, FindTensor(output, info.output.aclnn_name));
  return {};
}

Status PlanCall(const Arguments& args, std::shared_ptr<const PlannedCall>& call) {
  CallCache& kept = Runtime::Get().planned_calls;
  CallKey key;
  AddCall(key, args);
  const uint64_t hash = key.Hash();
  call = kept.Find(key, hash);
  if (call != nullptr) return CheckAddresses(*call, args);
  auto made = std::make_shared<PlannedCall>();
  OPSCV_RETURN_IF_ERROR(MakeCall(args, *made));
  call = kept.Insert(key, hash, std::move(made));
  return {};
}

Status Publish(std::shared_ptr<const PlannedCall> call, const Arguments& args,
               uint64_t* workspace_size, aclOpExecutor** executor) {
  LogCall(*call);
  auto made = std::make_shared<Executor>();
  const uint64_t bytes = call->workspace_bytes;
  made->input = args.input->data;
  made->output = args.output->data;
  made->disjoint = made->input != nullptr && made->output != nullptr;
  made->call = std::move(call);
  void* handle = nullptr;
  const AclStatus issued = Issue(Runtime::Get().executors, std::move(made), &handle);
  if (!issued.ok()) return {StatusCode::kOutOfMemory, issued.message()};
  *workspace_size = bytes;
  *executor = static_cast<aclOpExecutor*>(handle);
  return {};
}

}  // namespace opscv::capi
