// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_upsample_nearest_exact3d.h"
#include "aclnnop/aclnn_upsample_nearest_exact3d_backward.h"
#include "capi/error.h"
#include "capi/executor.h"
#include "capi/stage_one.h"
#include "ops/pairs.h"

using namespace opscv::capi;  // NOLINT(google-build-using-namespace): C functions have no namespace
using opscv::Status;
using opscv::ops::UpsampleNearestExact3dPair;

aclnnStatus aclnnUpsampleNearestExact3dGetWorkspaceSize(
    const aclTensor* self, const aclIntArray* outputSize, double scalesD, double scalesH,
    double scalesW, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return Guard([&]() -> Status {
    OPSCV_RETURN_IF_ERROR(CheckPointers(
        workspaceSize, executor, {{"self", self}, {"outputSize", outputSize}, {"out", out}}));
    Arguments args(UpsampleNearestExact3dPair().forward);
    OPSCV_RETURN_IF_ERROR(CheckProduct(args));
    OPSCV_RETURN_IF_ERROR(
        ReadArguments(self, out, {outputSize, Scales{scalesD, scalesH, scalesW}}, args));
    std::shared_ptr<const PlannedCall> call;
    OPSCV_RETURN_IF_ERROR(PlanCall(args, call));
    return Publish(std::move(call), args, workspaceSize, executor);
  });
}

aclnnStatus aclnnUpsampleNearestExact3d(void* workspace, uint64_t workspaceSize,
                                        aclOpExecutor* executor, aclrtStream stream) {
  return Guard([&] {
    return Launch(UpsampleNearestExact3dPair().forward, workspace, workspaceSize, executor, stream);
  });
}

aclnnStatus aclnnUpsampleNearestExact3dBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclIntArray* outputSize, const aclIntArray* inputSize,
    double scalesD, double scalesH, double scalesW, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  return Guard([&]() -> Status {
    OPSCV_RETURN_IF_ERROR(CheckPointers(workspaceSize, executor,
                                        {{"gradOut", gradOut},
                                         {"outputSize", outputSize},
                                         {"inputSize", inputSize},
                                         {"gradInput", gradInput}}));
    Arguments args(UpsampleNearestExact3dPair().backward);
    OPSCV_RETURN_IF_ERROR(CheckProduct(args));
    OPSCV_RETURN_IF_ERROR(ReadArguments(
        gradOut, gradInput, {inputSize, outputSize, Scales{scalesD, scalesH, scalesW}}, args));
    std::shared_ptr<const PlannedCall> call;
    OPSCV_RETURN_IF_ERROR(PlanCall(args, call));
    return Publish(std::move(call), args, workspaceSize, executor);
  });
}

aclnnStatus aclnnUpsampleNearestExact3dBackward(void* workspace, uint64_t workspaceSize,
                                                aclOpExecutor* executor, aclrtStream stream) {
  return Guard([&] {
    return Launch(UpsampleNearestExact3dPair().backward, workspace, workspaceSize, executor,
                  stream);
  });
}
