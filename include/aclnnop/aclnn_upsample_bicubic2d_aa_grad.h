/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient of bicubic resampling with antialiasing. gradOutput is (N,C,outputSize), out is
 * inputSize = (N,C,H,W). scalesH, scalesW: output over input size; 0 means not given, and
 * alignCorners ignores them. Valid C++11. */
#ifndef OPSCV_ACLNNOP_ACLNN_UPSAMPLE_BICUBIC2D_AA_GRAD_H_
#define OPSCV_ACLNNOP_ACLNN_UPSAMPLE_BICUBIC2D_AA_GRAD_H_

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Stage one: checks the arguments, plans, and tells the bytes of workspace that stage two needs. On
 * refusal *workspaceSize and *executor stay as they were. */
OPSCV_ACL_API aclnnStatus aclnnUpsampleBicubic2dAAGradGetWorkspaceSize(
    const aclTensor* gradOutput, const aclIntArray* outputSize, const aclIntArray* inputSize,
    bool alignCorners, double scalesH, double scalesW, aclTensor* out, uint64_t* workspaceSize,
    aclOpExecutor** executor);

/* Stage two: queues the work and returns. Tensors and arrays may be destroyed from here on; data
 * and workspace (aligned to 64 bytes) must live until the stream is synchronised. */
OPSCV_ACL_API aclnnStatus aclnnUpsampleBicubic2dAAGrad(void* workspace, uint64_t workspaceSize,
                                                       aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* OPSCV_ACLNNOP_ACLNN_UPSAMPLE_BICUBIC2D_AA_GRAD_H_ */
