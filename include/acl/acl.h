/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of the interface, and all of acl/. Valid C99 and C++11. */
#ifndef OPSCV_ACL_ACL_H_
#define OPSCV_ACL_ACL_H_

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* configPath names a JSON file; NULL and "" mean none. A second call returns 100002. Other calls
 * made before the first aclInit work as if it had been made. */
OPSCV_ACL_API aclError aclInit(const char* configPath);

/* Finishes all queued work, then frees everything that the program has left. A later aclInit starts
 * afresh. */
OPSCV_ACL_API aclError aclFinalize(void);

#ifdef __cplusplus
}
#endif

#endif /* OPSCV_ACL_ACL_H_ */
