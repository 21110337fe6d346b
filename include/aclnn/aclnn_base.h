/* SPDX-License-Identifier: Apache-2.0 */
/* What every operator header needs. Valid C++11. */
#ifndef OPSCV_ACLNN_ACLNN_BASE_H_
#define OPSCV_ACLNN_ACLNN_BASE_H_

#include "acl/acl_base.h"
#include "acl/acl_rt.h"
#include "aclnn/acl_meta.h"

#endif /* OPSCV_ACLNN_ACLNN_BASE_H_ */
