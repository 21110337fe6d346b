// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_upsample_bicubic2d_aa.h"
#include "aclnnop/aclnn_upsample_bicubic2d_aa_grad.h"
#include "capi/error.h"
#include "capi/executor.h"
#include "capi/stage_one.h"
#include "ops/pairs.h"

using namespace opscv::capi;  // NOLINT(google-build-using-namespace): C functions have no namespace
using opscv::Status;
using opscv::ops::UpsampleBicubic2dAAPair;

aclnnStatus aclnnUpsampleBicubic2dAAGetWorkspaceSize(
    const aclTensor* self, const aclIntArray* outputSize, bool alignCorners, double scalesH,
    double scalesW, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return Guard([&]() -> Status {
    OPSCV_RETURN_IF_ERROR(CheckPointers(
        workspaceSize, executor, {{"self", self}, {"outputSize", outputSize}, {"out", out}}));
    Arguments args(UpsampleBicubic2dAAPair().forward);
    OPSCV_RETURN_IF_ERROR(CheckProduct(args));
    OPSCV_RETURN_IF_ERROR(
        ReadArguments(self, out, {outputSize, alignCorners, scalesH, scalesW}, args));
    std::shared_ptr<const PlannedCall> call;
    OPSCV_RETURN_IF_ERROR(PlanCall(args, call));
    return Publish(std::move(call), args, workspaceSize, executor);
  });
}

aclnnStatus aclnnUpsampleBicubic2dAA(void* workspace, uint64_t workspaceSize,
                                     aclOpExecutor* executor, aclrtStream stream) {
  return Guard([&] {
    return Launch(UpsampleBicubic2dAAPair().forward, workspace, workspaceSize, executor, stream);
  });
}

aclnnStatus aclnnUpsampleBicubic2dAAGradGetWorkspaceSize(
    const aclTensor* gradOutput, const aclIntArray* outputSize, const aclIntArray* inputSize,
    bool alignCorners, double scalesH, double scalesW, aclTensor* out, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  return Guard([&]() -> Status {
    OPSCV_RETURN_IF_ERROR(CheckPointers(workspaceSize, executor,
                                        {{"gradOutput", gradOutput},
                                         {"outputSize", outputSize},
                                         {"inputSize", inputSize},
                                         {"out", out}}));
    Arguments args(UpsampleBicubic2dAAPair().backward);
    OPSCV_RETURN_IF_ERROR(CheckProduct(args));
    OPSCV_RETURN_IF_ERROR(ReadArguments(
        gradOutput, out, {outputSize, inputSize, alignCorners, scalesH, scalesW}, args));
    std::shared_ptr<const PlannedCall> call;
    OPSCV_RETURN_IF_ERROR(PlanCall(args, call));
    return Publish(std::move(call), args, workspaceSize, executor);
  });
}

aclnnStatus aclnnUpsampleBicubic2dAAGrad(void* workspace, uint64_t workspaceSize,
                                         aclOpExecutor* executor, aclrtStream stream) {
  return Guard([&] {
    return Launch(UpsampleBicubic2dAAPair().backward, workspace, workspaceSize, executor, stream);
  });
}
