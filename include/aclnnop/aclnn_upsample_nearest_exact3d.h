/* SPDX-License-Identifier: Apache-2.0 */
/* Nearest-exact resampling of volumes: out is (N,C,outputSize). Scales are output over input size
 * and count only when all three are > 0. Valid C++11. */
#ifndef OPSCV_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_EXACT3D_H_
#define OPSCV_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_EXACT3D_H_

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Stage one: checks the arguments, plans, and tells the bytes of workspace that stage two needs. On
 * refusal *workspaceSize and *executor stay as they were. */
OPSCV_ACL_API aclnnStatus aclnnUpsampleNearestExact3dGetWorkspaceSize(
    const aclTensor* self, const aclIntArray* outputSize, double scalesD, double scalesH,
    double scalesW, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);

/* Stage two: queues the work and returns. Tensors and arrays may be destroyed from here on; data
 * and workspace (aligned to 64 bytes) must live until the stream is synchronised. */
OPSCV_ACL_API aclnnStatus aclnnUpsampleNearestExact3d(void* workspace, uint64_t workspaceSize,
                                                      aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* OPSCV_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_EXACT3D_H_ */
