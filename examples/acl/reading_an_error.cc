// SPDX-License-Identifier: Apache-2.0
// What a refused call tells: a code, and a message that names function, parameter, value and what
// was expected.
//
//   g++ reading_an_error.cc -I$ASCEND_HOME_PATH/include -L$ASCEND_HOME_PATH/lib64
//       -lascendcl -lnnopbase -lopapi
#include <cstdio>

#include "acl/acl.h"
#include "aclnnop/aclnn_upsample_bicubic2d_aa_grad.h"

int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  const int64_t gradDims[] = {1, 1, 4, 2};
  const int64_t outDims[] = {1, 1, 8, 4};
  const int64_t outputSizeData[] = {4, 2};
  aclTensor* gradOutput =
      aclCreateTensor(gradDims, 4, ACL_FLOAT, nullptr, 0, ACL_FORMAT_NCHW, nullptr, 0, nullptr);
  aclTensor* out =
      aclCreateTensor(outDims, 4, ACL_FLOAT, nullptr, 0, ACL_FORMAT_NCHW, nullptr, 0, nullptr);
  aclIntArray* outputSize = aclCreateIntArray(outputSizeData, 2);
  aclIntArray* inputSize = aclCreateIntArray(outDims, 4);
  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;

  const aclnnStatus ret = aclnnUpsampleBicubic2dAAGradGetWorkspaceSize(
      gradOutput, outputSize, inputSize, false, /*scalesH=*/-1.0, 0.0, out, &workspaceSize,
      &executor);
  std::printf("%d\n%s\n", ret, aclGetRecentErrMsg());

  aclDestroyTensor(gradOutput);
  aclDestroyTensor(out);
  aclDestroyIntArray(outputSize);
  aclDestroyIntArray(inputSize);
  aclrtResetDevice(0);
  aclFinalize();
  return ret == ACLNN_ERR_PARAM_INVALID ? 0 : 1;
}
