// SPDX-License-Identifier: Apache-2.0
// A careless program: destroys nothing and synchronises nothing. The argument says how it ends:
// "finalize", "reset" (the device, then finalize), "return" without either, or "exit" from inside a
// host function. Prints what the queued work has computed, where its end waits for that.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_upsample_nearest_exact3d_backward.h"

namespace {

std::atomic<int> g_host_functions = 0;

void Count(void*) { ++g_host_functions; }
void Exit(void*) { std::exit(0); }

// Queues a gradient on a new stream, and leaves tensors, arrays, memory, stream and event behind.
float* QueueGradient() {
  const int64_t out_dims[] = {1, 2, 4, 64, 64};
  const int64_t in_dims[] = {1, 2, 2, 32, 32};
  const int64_t output_size[] = {4, 64, 64};
  const size_t out_bytes = 2 * 4 * 64 * 64 * sizeof(float);
  const size_t in_bytes = 2 * 2 * 32 * 32 * sizeof(float);
  void* grad_out = nullptr;
  void* grad_in = nullptr;
  void* host = nullptr;
  aclrtMalloc(&grad_out, out_bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc(&grad_in, in_bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMallocHost(&host, out_bytes);
  const std::vector<float> ones(out_bytes / sizeof(float), 1.0f);
  std::memcpy(host, ones.data(), out_bytes);
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtContext context = nullptr;
  aclrtCreateContext(&context, 0);
  aclrtCreateStream(&stream);
  aclrtCreateEvent(&event);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  aclOpExecutor* unused = nullptr;
  for (aclOpExecutor** each : {&unused, &executor}) {
    aclnnUpsampleNearestExact3dBackwardGetWorkspaceSize(
        aclCreateTensor(out_dims, 5, ACL_FLOAT, nullptr, 0, ACL_FORMAT_NCDHW, nullptr, 0, grad_out),
        aclCreateIntArray(output_size, 3), aclCreateIntArray(in_dims, 5), 0.0, 0.0, 0.0,
        aclCreateTensor(in_dims, 5, ACL_FLOAT, nullptr, 0, ACL_FORMAT_NCDHW, nullptr, 0, grad_in),
        &size, each);
  }
  void* workspace = nullptr;
  if (size > 0) aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemcpyAsync(grad_out, out_bytes, host, out_bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream);
  aclnnUpsampleNearestExact3dBackward(workspace, size, executor, stream);
  aclrtRecordEvent(event, stream);
  aclrtStreamWaitEvent(nullptr, event);
  static float result[4096];
  aclrtMemcpyAsync(result, in_bytes, grad_in, in_bytes, ACL_MEMCPY_DEVICE_TO_HOST, nullptr);
  aclrtLaunchHostFunc(nullptr, Count, nullptr);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const char* end = argc > 1 ? argv[1] : "finalize";
  aclInit(nullptr);
  aclrtSetDevice(0);
  const float* result = nullptr;
  for (int i = 0; i < 10; ++i) result = QueueGradient();
  if (std::strcmp(end, "exit") == 0) {
    aclrtLaunchHostFunc(nullptr, Exit, nullptr);
    aclrtSynchronizeStream(nullptr);
    return 1;
  }
  if (std::strcmp(end, "return") == 0) return 0;
  if (std::strcmp(end, "reset") == 0 && aclrtResetDevice(0) != 0) return 1;
  if (aclFinalize() != 0) return 1;
  std::printf("%d host functions, first %g\n", g_host_functions.load(), result[0]);
  return 0;
}
