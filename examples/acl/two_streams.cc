// SPDX-License-Identifier: Apache-2.0
// Two streams and events: the copy stream fills the input while nobody waits for it, the compute
// stream begins when the event says that the input is there, and two more events time the work.
//
//   g++ two_streams.cc -I$ASCEND_HOME_PATH/include -L$ASCEND_HOME_PATH/lib64
//       -lascendcl -lnnopbase -lopapi
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_upsample_nearest_exact3d_backward.h"

static void Check(int ret, const char* what) {
  if (ret == ACL_SUCCESS) return;
  std::printf("%s: %d, %s\n", what, ret, aclGetRecentErrMsg());
  std::exit(1);
}

// Start to end in one place, as such programs are written.
// NOLINTNEXTLINE(readability-function-size)
int main() {
  Check(aclInit(nullptr), "aclInit");
  Check(aclrtSetDevice(0), "aclrtSetDevice");
  aclrtStream copyStream;
  aclrtStream computeStream;
  Check(aclrtCreateStream(&copyStream), "aclrtCreateStream");
  Check(aclrtCreateStream(&computeStream), "aclrtCreateStream");
  aclrtEvent inputReady;
  aclrtEvent begin;
  aclrtEvent end;
  Check(aclrtCreateEvent(&inputReady), "aclrtCreateEvent");
  Check(aclrtCreateEvent(&begin), "aclrtCreateEvent");
  Check(aclrtCreateEvent(&end), "aclrtCreateEvent");

  const std::vector<int64_t> gradOutShape = {1, 2, 8, 64, 64};
  const std::vector<int64_t> gradInputShape = {1, 2, 4, 32, 32};
  const std::vector<float> ones(2 * 8 * 64 * 64, 1.0f);
  std::vector<float> result(2 * 4 * 32 * 32);
  const size_t inputBytes = ones.size() * sizeof(float);
  const size_t outputBytes = result.size() * sizeof(float);
  void* gradOutData = nullptr;
  void* gradInputData = nullptr;
  Check(aclrtMalloc(&gradOutData, inputBytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  Check(aclrtMalloc(&gradInputData, outputBytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");

  // A null stride means contiguous; null storage dims mean the view's own.
  aclTensor* gradOut = aclCreateTensor(gradOutShape.data(), 5, ACL_FLOAT, nullptr, 0,
                                       ACL_FORMAT_NCDHW, nullptr, 0, gradOutData);
  aclTensor* gradInput = aclCreateTensor(gradInputShape.data(), 5, ACL_FLOAT, nullptr, 0,
                                         ACL_FORMAT_NCDHW, nullptr, 0, gradInputData);
  aclIntArray* outputSize = aclCreateIntArray(gradOutShape.data() + 2, 3);
  aclIntArray* inputSize = aclCreateIntArray(gradInputShape.data(), 5);

  Check(aclrtMemcpyAsync(gradOutData, inputBytes, ones.data(), inputBytes,
                         ACL_MEMCPY_HOST_TO_DEVICE, copyStream),
        "aclrtMemcpyAsync");
  Check(aclrtRecordEvent(inputReady, copyStream), "aclrtRecordEvent");

  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  Check(aclnnUpsampleNearestExact3dBackwardGetWorkspaceSize(
            gradOut, outputSize, inputSize, 0.0, 0.0, 0.0, gradInput, &workspaceSize, &executor),
        "GetWorkspaceSize");
  void* workspace = nullptr;
  if (workspaceSize > 0) {
    Check(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  }
  Check(aclrtStreamWaitEvent(computeStream, inputReady), "aclrtStreamWaitEvent");
  Check(aclrtRecordEvent(begin, computeStream), "aclrtRecordEvent");
  Check(aclnnUpsampleNearestExact3dBackward(workspace, workspaceSize, executor, computeStream),
        "aclnnUpsampleNearestExact3dBackward");
  Check(aclrtRecordEvent(end, computeStream), "aclrtRecordEvent");
  Check(aclrtMemcpyAsync(result.data(), outputBytes, gradInputData, outputBytes,
                         ACL_MEMCPY_DEVICE_TO_HOST, computeStream),
        "aclrtMemcpyAsync");
  // Queued work holds no handle: these may go before it has run.
  aclDestroyTensor(gradOut);
  aclDestroyTensor(gradInput);
  aclDestroyIntArray(outputSize);
  aclDestroyIntArray(inputSize);
  Check(aclrtSynchronizeStream(computeStream), "aclrtSynchronizeStream");

  float ms = 0.0f;
  Check(aclrtEventElapsedTime(&ms, begin, end), "aclrtEventElapsedTime");
  std::printf("first %f last %f\n", result.front(), result.back());
  std::printf("took %s\n", ms > 0.0f ? "some time" : "no time");

  aclrtFree(gradOutData);
  aclrtFree(gradInputData);
  if (workspace != nullptr) aclrtFree(workspace);
  aclrtDestroyEvent(inputReady);
  aclrtDestroyEvent(begin);
  aclrtDestroyEvent(end);
  aclrtDestroyStream(copyStream);
  aclrtDestroyStream(computeStream);
  aclrtResetDevice(0);
  return aclFinalize();
}
