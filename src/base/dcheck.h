// SPDX-License-Identifier: Apache-2.0
// OPSCV_DCHECK finds our own mistakes in developer builds; it is never the check of a user's input.
#ifndef OPSCV_BASE_DCHECK_H_
#define OPSCV_BASE_DCHECK_H_

#ifdef OPSCV_ENABLE_DCHECK
#include <cstdio>
#include <cstdlib>
#define OPSCV_DCHECK(condition)                                                           \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: DCHECK failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)
#else
#define OPSCV_DCHECK(condition) static_cast<void>(sizeof(!(condition)))
#endif

#endif  // OPSCV_BASE_DCHECK_H_
