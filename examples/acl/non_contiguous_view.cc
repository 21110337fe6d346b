// SPDX-License-Identifier: Apache-2.0
// Views without copies: gradOutput is a window of a larger image, out has its channels side by side
// in memory (N,H,W,C) while its dims are told in the order N,C,H,W.
//
//   g++ non_contiguous_view.cc -I$ASCEND_HOME_PATH/include -L$ASCEND_HOME_PATH/lib64
//       -lascendcl -lnnopbase -lopapi
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_upsample_bicubic2d_aa_grad.h"

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
  aclrtStream stream;
  Check(aclrtCreateStream(&stream), "aclrtCreateStream");

  // An image of 2 x 6 x 8; the window of 2 x 4 x 2 begins at row 1, column 3 and holds 0..7 in
  // channel 0 and ten times that in channel 1.
  std::vector<float> image(2 * 6 * 8, -1.0f);
  for (int c = 0; c < 2; ++c) {
    for (int i = 0; i < 8; ++i) {
      image[c * 48 + (1 + i / 2) * 8 + 3 + i % 2] = static_cast<float>(c == 0 ? i : 10 * i);
    }
  }
  std::vector<float> result(8 * 4 * 2);
  const size_t imageBytes = image.size() * sizeof(float);
  const size_t resultBytes = result.size() * sizeof(float);
  void* imageData = nullptr;
  void* outData = nullptr;
  Check(aclrtMalloc(&imageData, imageBytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  Check(aclrtMalloc(&outData, resultBytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  Check(aclrtMemcpy(imageData, imageBytes, image.data(), imageBytes, ACL_MEMCPY_HOST_TO_DEVICE),
        "aclrtMemcpy");

  // Strides and offset count elements; storage dims are those of the memory behind the view.
  const int64_t windowDims[] = {1, 2, 4, 2};
  const int64_t windowStrides[] = {96, 48, 8, 1};
  const int64_t imageDims[] = {1, 2, 6, 8};
  aclTensor* gradOutput =
      aclCreateTensor(windowDims, 4, ACL_FLOAT, windowStrides, /*offset=*/1 * 8 + 3,
                      ACL_FORMAT_NCHW, imageDims, 4, imageData);
  const int64_t outDims[] = {1, 2, 8, 4};
  const int64_t outStrides[] = {64, 1, 8, 2};
  const int64_t outStorage[] = {64};
  aclTensor* out = aclCreateTensor(outDims, 4, ACL_FLOAT, outStrides, 0, ACL_FORMAT_NCHW,
                                   outStorage, 1, outData);
  const int64_t outputSizeData[] = {4, 2};
  aclIntArray* outputSize = aclCreateIntArray(outputSizeData, 2);
  aclIntArray* inputSize = aclCreateIntArray(outDims, 4);

  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  Check(aclnnUpsampleBicubic2dAAGradGetWorkspaceSize(gradOutput, outputSize, inputSize, true, 0.0,
                                                     0.0, out, &workspaceSize, &executor),
        "GetWorkspaceSize");
  void* workspace = nullptr;
  if (workspaceSize > 0) {
    Check(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  }
  Check(aclnnUpsampleBicubic2dAAGrad(workspace, workspaceSize, executor, stream),
        "aclnnUpsampleBicubic2dAAGrad");
  Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
  Check(aclrtMemcpy(result.data(), resultBytes, outData, resultBytes, ACL_MEMCPY_DEVICE_TO_HOST),
        "aclrtMemcpy");
  for (int w = 0; w < 4; ++w) {
    std::printf("row 0 column %d: %f %f\n", w, result[w * 2], result[w * 2 + 1]);
  }

  aclDestroyTensor(gradOutput);
  aclDestroyTensor(out);
  aclDestroyIntArray(outputSize);
  aclDestroyIntArray(inputSize);
  aclrtFree(imageData);
  aclrtFree(outData);
  if (workspace != nullptr) aclrtFree(workspace);
  aclrtDestroyStream(stream);
  aclrtResetDevice(0);
  return aclFinalize();
}
