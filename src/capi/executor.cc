// SPDX-License-Identifier: Apache-2.0
#include "capi/executor.h"

#include <utility>

#include "capi/error.h"
#include "capi/memory.h"
#include "capi/runtime.h"

namespace opscv::capi {
namespace {

constexpr uintptr_t kWorkspaceAlign = 64;

Result<std::shared_ptr<Executor>> FindExecutor(aclOpExecutor* handle) {
  if (handle == nullptr) {
    return Unexpected({StatusCode::kNullPointer, "executor must not be null."});
  }
  std::shared_ptr<Executor> executor = Runtime::Get().executors.Find(handle);
  if (executor != nullptr) return executor;
  return Unexpected(InvalidArgument("executor {}; one that is not repeatable ends with its use.",
                                    WhyNot(HandleKind::kExecutor, handle)));
}

Status CheckOwner(const Executor& executor, const ops::OpInfo& info) {
  if (executor.call->info == &info) return {};
  return InvalidArgument("executor must come from {}GetWorkspaceSize, got one of {}.",
                         info.aclnn_name, executor.call->info->aclnn_name);
}

Status CheckWorkspace(const Executor& executor, const void* workspace, uint64_t size) {
  const uint64_t needed = executor.call->workspace_bytes;
  if (needed == 0) return {};
  if (size < needed) {
    return InvalidArgument("workspaceSize must be >= {}, as the first stage told, got {}.", needed,
                           size);
  }
  if (workspace == nullptr) {
    return InvalidArgument("workspace must not be null where workspaceSize is {}.", size);
  }
  if (reinterpret_cast<uintptr_t>(workspace) % kWorkspaceAlign != 0) {
    return InvalidArgument("workspace must be aligned to {} bytes, got {}.", kWorkspaceAlign,
                           workspace);
  }
  return {};
}

Status CheckAddress(const Operand& operand, const void* data) {
  if (data == nullptr) {
    return InvalidArgument("{} must have a data address by now, got null.", operand.name);
  }
  const auto element = static_cast<uintptr_t>(SizeOf(operand.desc.dtype));
  if (reinterpret_cast<uintptr_t>(data) % element != 0) {
    return InvalidArgument("{} must lie at a multiple of its elements' {} bytes, got {}.",
                           operand.name, element, data);
  }
  return {};
}

Status CheckAddresses(const Executor& executor) {
  const PlannedCall& call = *executor.call;
  if (call.plan == nullptr) return {};
  OPSCV_RETURN_IF_ERROR(CheckAddress(call.input, executor.input));
  OPSCV_RETURN_IF_ERROR(CheckAddress(call.output, executor.output));
  if (executor.disjoint) return {};
  return CheckDisjoint(call, executor.input, executor.output);
}

// One run of the plan, with nothing left to look up.
struct Run {
  std::shared_ptr<const PlannedCall> call;
  const void* input;
  void* output;
  void* workspace;

  void operator()() const {
    const plan::Plan& plan = *call->plan;
    plan.Run(
        {.box = plan.OutputBox(),
         .buffers = {.input = input, .input_origin = {}, .output = output, .output_origin = {}},
         .workspace = workspace,
         .threads = call->threads});
  }
};

Status Queue(const std::shared_ptr<Stream>& stream, Run run) {
  const Start start = run.call->brief ? Start::kLate : Start::kSoon;
  const AclStatus queued = Runtime::Get().scheduler().Submit(stream, std::move(run), start);
  if (queued.ok()) return {};
  return {StatusCode::kInvalidArgument, queued.message()};
}

Status CheckNewAddress(const PlannedCall& call, const Operand& operand, size_t index,
                       const aclTensor* tensor, const void* addr) {
  if (tensor == nullptr) return {StatusCode::kNullPointer, "tensor must not be null."};
  OPSCV_ASSIGN_OR_RETURN(const std::shared_ptr<const Tensor> found, FindTensor(tensor, "tensor"));
  if (index != 0) {
    return InvalidArgument("index must be 0, since {} has one such tensor, got {}.",
                           call.info->aclnn_name, index);
  }
  const bool same = found->shape == operand.desc.shape && found->offset == operand.offset &&
                    found->strides == operand.desc.strides;
  if (!same) {
    return InvalidArgument("tensor must have the shape, strides and offset that {} had.",
                           operand.name);
  }
  if (addr == nullptr && call.plan != nullptr) {
    return {StatusCode::kNullPointer, "addr must not be null."};
  }
  return {};
}

Status SetAddress(aclOpExecutor* handle, size_t index, const aclTensor* tensor, void* addr,
                  Operand PlannedCall::*operand, void* Executor::*address) {
  OPSCV_ASSIGN_OR_RETURN(const std::shared_ptr<Executor> executor, FindExecutor(handle));
  const PlannedCall& call = *executor->call;
  OPSCV_RETURN_IF_ERROR(CheckNewAddress(call, call.*operand, index, tensor, addr));
  const std::lock_guard lock(executor->mutex);
  (*executor).*address = addr;
  executor->disjoint = false;
  return {};
}

}  // namespace

Status Launch(const ops::OpInfo& info, void* workspace, uint64_t workspace_size,
              aclOpExecutor* handle, aclrtStream stream_handle) {
  OPSCV_ASSIGN_OR_RETURN(const std::shared_ptr<Executor> executor, FindExecutor(handle));
  OPSCV_RETURN_IF_ERROR(CheckOwner(*executor, info));
  OPSCV_RETURN_IF_ERROR(CheckWorkspace(*executor, workspace, workspace_size));
  const std::lock_guard lock(executor->mutex);
  OPSCV_RETURN_IF_ERROR(CheckAddresses(*executor));
  std::shared_ptr<Stream> stream;
  if (AclStatus found = FindStream(stream_handle, stream); !found.ok()) {
    return {StatusCode::kInvalidArgument, found.message()};
  }
  if (!executor->repeatable && Runtime::Get().executors.Take(handle) == nullptr) {
    return InvalidArgument("executor was used by another thread at the same time.");
  }
  const PlannedCall& call = *executor->call;
  if (call.plan == nullptr) return {};
  return Queue(stream, {.call = executor->call,
                        .input = EnginePointer(call.input.FirstElement(executor->input)),
                        .output = EnginePointer(call.output.FirstElement(executor->output)),
                        .workspace = EnginePointer(workspace)});
}

}  // namespace opscv::capi

using namespace opscv::capi;  // NOLINT(google-build-using-namespace): C functions have no namespace
using opscv::Status;

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  return Guard([&]() -> Status {
    OPSCV_ASSIGN_OR_RETURN(const std::shared_ptr<Executor> found, FindExecutor(executor));
    const std::lock_guard lock(found->mutex);
    found->repeatable = true;
    return {};
  });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  return Guard([&]() -> Status {
    OPSCV_ASSIGN_OR_RETURN(const std::shared_ptr<Executor> found, FindExecutor(executor));
    Runtime::Get().executors.Take(executor);
    return {};
  });
}

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, size_t index, aclTensor* tensor,
                                  void* addr) {
  return Guard([&] {
    return SetAddress(executor, index, tensor, addr, &PlannedCall::input, &Executor::input);
  });
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, size_t index, aclTensor* tensor,
                                   void* addr) {
  return Guard([&] {
    return SetAddress(executor, index, tensor, addr, &PlannedCall::output, &Executor::output);
  });
}
