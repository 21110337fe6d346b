// SPDX-License-Identifier: Apache-2.0
// The gradients as a C program calls them: both stages and the synchronisation, tensors and arrays
// made once.
#include <cstdlib>
#include <memory>

#include "acl/acl.h"
#include "aclnnop/aclnn_upsample_bicubic2d_aa_grad.h"
#include "aclnnop/aclnn_upsample_nearest_exact3d_backward.h"
#include "bench/c_door.h"

namespace opscv::bench {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

struct Call {
  aclrtStream stream = nullptr;
  aclTensor* grad_out = nullptr;
  aclTensor* grad_in = nullptr;
  aclIntArray* output_size = nullptr;
  aclIntArray* input_size = nullptr;
  bool volume = false;
  std::unique_ptr<void, Free> workspace;
  uint64_t workspace_bytes = 0;
};

constexpr uint64_t kAlign = 64;

// The workspace grows in the first call and stays.
void* Workspace(Call& call, uint64_t bytes) {
  if (bytes > call.workspace_bytes) {
    call.workspace_bytes = (bytes + kAlign - 1) / kAlign * kAlign;
    call.workspace.reset(std::aligned_alloc(kAlign, call.workspace_bytes));
  }
  return call.workspace.get();
}

bool Run(Call& call) {
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  aclnnStatus status = call.volume ? aclnnUpsampleNearestExact3dBackwardGetWorkspaceSize(
                                         call.grad_out, call.output_size, call.input_size, 0.0, 0.0,
                                         0.0, call.grad_in, &bytes, &executor)
                                   : aclnnUpsampleBicubic2dAAGradGetWorkspaceSize(
                                         call.grad_out, call.output_size, call.input_size, false,
                                         0.0, 0.0, call.grad_in, &bytes, &executor);
  if (status != ACL_SUCCESS) return false;
  void* const workspace = Workspace(call, bytes);
  status = call.volume
               ? aclnnUpsampleNearestExact3dBackward(workspace, bytes, executor, call.stream)
               : aclnnUpsampleBicubic2dAAGrad(workspace, bytes, executor, call.stream);
  return status == ACL_SUCCESS && aclrtSynchronizeStream(call.stream) == ACL_SUCCESS;
}

aclTensor* MakeTensor(const int64_t* shape, int rank, void* data) {
  return aclCreateTensor(shape, static_cast<uint64_t>(rank), ACL_FLOAT, nullptr, 0,
                         rank == 5 ? ACL_FORMAT_NCDHW : ACL_FORMAT_NCHW, shape,
                         static_cast<uint64_t>(rank), data);
}

}  // namespace
}  // namespace opscv::bench

using opscv::bench::Call;

// A gradient of float32 tensors N,C,spatial. Null, with the library's message in `error`, where the
// call is refused.
OPSCV_BENCH_API void* opscv_two_stage_plan(int rank, const int64_t* grad_out_shape,
                                           const int64_t* grad_in_shape, void* grad_out,
                                           void* grad_in, char* error) {
  namespace bench = opscv::bench;
  (void)aclInit(nullptr);  // answers an error where an earlier call has done it
  auto call = std::make_unique<Call>();
  if (aclrtSetDevice(0) != ACL_SUCCESS || aclrtCreateStream(&call->stream) != ACL_SUCCESS) {
    return bench::Tell(error, "no stream could be made"), nullptr;
  }
  call->volume = rank == 5;
  call->grad_out = bench::MakeTensor(grad_out_shape, rank, grad_out);
  call->grad_in = bench::MakeTensor(grad_in_shape, rank, grad_in);
  call->output_size = aclCreateIntArray(grad_out_shape + 2, static_cast<uint64_t>(rank) - 2);
  call->input_size = aclCreateIntArray(grad_in_shape, static_cast<uint64_t>(rank));
  if (!bench::Run(*call)) return bench::Tell(error, aclGetRecentErrMsg()), nullptr;
  return call.release();
}

OPSCV_BENCH_API double opscv_two_stage_run(void* job, int64_t repeat) {
  auto& call = *static_cast<Call*>(job);
  return opscv::bench::SecondsPerCall(repeat, [&] { return opscv::bench::Run(call); });
}

OPSCV_BENCH_API void opscv_two_stage_drop(void* job) {
  const std::unique_ptr<Call> call(static_cast<Call*>(job));
  aclDestroyTensor(call->grad_out);
  aclDestroyTensor(call->grad_in);
  aclDestroyIntArray(call->output_size);
  aclDestroyIntArray(call->input_size);
  aclrtDestroyStream(call->stream);
}
