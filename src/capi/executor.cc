// SPDX-License-Identifier: Apache-2.0
#include "capi/executor.h"

#include <utility>

#include "capi/error.h"
#include "capi/memory.h"
#include "capi/runtime.h"
#include "ops/check_rules.h"

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
  if (executor.info == &info) return {};
  return InvalidArgument("executor must come from {}GetWorkspaceSize, got one of {}.",
                         info.aclnn_name, executor.info->aclnn_name);
}

Status CheckWorkspace(const Executor& executor, const void* workspace, uint64_t size) {
  const uint64_t needed = executor.workspace_bytes;
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

Status CheckAddress(const Operand& operand) {
  if (operand.data == nullptr) {
    return InvalidArgument("{} must have a data address by now, got null.", operand.name);
  }
  const auto element = static_cast<uintptr_t>(SizeOf(operand.desc.dtype));
  if (reinterpret_cast<uintptr_t>(operand.data) % element != 0) {
    return InvalidArgument("{} must lie at a multiple of its elements' {} bytes, got {}.",
                           operand.name, element, operand.data);
  }
  return {};
}

Status CheckAddresses(const Executor& executor) {
  if (executor.plan == nullptr) return {};
  OPSCV_RETURN_IF_ERROR(CheckAddress(executor.input));
  OPSCV_RETURN_IF_ERROR(CheckAddress(executor.output));
  return CheckDisjoint(executor.input, executor.output);
}

// One run of the plan, with nothing left to look up.
struct Run {
  std::shared_ptr<const plan::Plan> plan;
  const void* input;
  void* output;
  void* workspace;
  int threads;

  void operator()() const {
    plan->Run(
        {.box = plan->OutputBox(),
         .buffers = {.input = input, .input_origin = {}, .output = output, .output_origin = {}},
         .workspace = workspace,
         .threads = threads});
  }
};

Status Queue(const std::shared_ptr<Stream>& stream, Run run) {
  const AclStatus queued = Runtime::Get().scheduler().Submit(stream, std::move(run));
  if (queued.ok()) return {};
  return {StatusCode::kInvalidArgument, queued.message()};
}

Status CheckedOperand(const Executor& executor, size_t index, const aclTensor* tensor, void* addr,
                      Operand& operand) {
  if (tensor == nullptr) return {StatusCode::kNullPointer, "tensor must not be null."};
  OPSCV_ASSIGN_OR_RETURN(const std::shared_ptr<const Tensor> found, FindTensor(tensor, "tensor"));
  if (index != 0) {
    return InvalidArgument("index must be 0, since {} has one such tensor, got {}.",
                           executor.info->aclnn_name, index);
  }
  const bool same = found->shape == operand.desc.shape && found->offset == operand.offset &&
                    found->strides == operand.desc.strides;
  if (!same) {
    return InvalidArgument("tensor must have the shape, strides and offset that {} had.",
                           operand.name);
  }
  if (addr == nullptr && executor.plan != nullptr) {
    return {StatusCode::kNullPointer, "addr must not be null."};
  }
  operand.data = addr;
  return {};
}

Status SetAddress(aclOpExecutor* handle, size_t index, const aclTensor* tensor, void* addr,
                  Operand Executor::*operand) {
  OPSCV_ASSIGN_OR_RETURN(const std::shared_ptr<Executor> executor, FindExecutor(handle));
  const std::lock_guard lock(executor->mutex);
  return CheckedOperand(*executor, index, tensor, addr, (*executor).*operand);
}

}  // namespace

void* Operand::FirstElement() const {
  return static_cast<char*>(data) + offset * SizeOf(desc.dtype);
}

Status CheckDisjoint(const Operand& input, const Operand& output) {
  if (!ops::MayMeet(input.desc, input.FirstElement(), output.desc, output.FirstElement())) {
    return {};
  }
  return InvalidArgument("{} must share no memory with {}, got ranges that meet, from {} and {}.",
                         output.name, input.name, output.FirstElement(), input.FirstElement());
}

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
  if (executor->plan == nullptr) return {};
  return Queue(stream, {.plan = executor->plan,
                        .input = EnginePointer(executor->input.FirstElement()),
                        .output = EnginePointer(executor->output.FirstElement()),
                        .workspace = EnginePointer(workspace),
                        .threads = executor->threads});
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
  return Guard([&] { return SetAddress(executor, index, tensor, addr, &Executor::input); });
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, size_t index, aclTensor* tensor,
                                   void* addr) {
  return Guard([&] { return SetAddress(executor, index, tensor, addr, &Executor::output); });
}
