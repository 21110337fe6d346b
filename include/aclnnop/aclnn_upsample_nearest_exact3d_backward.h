/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient of nearest-exact resampling of volumes. gradOut is (N,C,outputSize), gradInput is
 * inputSize = (N,C,D,H,W); both NDHWC or both NCDHW. Scales are output over input size and count
 * only when all three are > 0. Valid C++11. */
#ifndef OPSCV_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_EXACT3D_BACKWARD_H_
#define OPSCV_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_EXACT3D_BACKWARD_H_

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Stage one: checks the arguments, plans, and tells the bytes of workspace that stage two needs. On
 * refusal *workspaceSize and *executor stay as they were. */
OPSCV_ACL_API aclnnStatus aclnnUpsampleNearestExact3dBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclIntArray* outputSize, const aclIntArray* inputSize,
    double scalesD, double scalesH, double scalesW, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor);

/* Stage two: queues the work and returns. Tensors and arrays may be destroyed from here on; data
 * and workspace (aligned to 64 bytes) must live until the stream is synchronised. */
OPSCV_ACL_API aclnnStatus aclnnUpsampleNearestExact3dBackward(void* workspace,
                                                              uint64_t workspaceSize,
                                                              aclOpExecutor* executor,
                                                              aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* OPSCV_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_EXACT3D_BACKWARD_H_ */
