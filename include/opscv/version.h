// SPDX-License-Identifier: Apache-2.0
// The version of the library, as numbers and as text.
#ifndef OPSCV_VERSION_H_
#define OPSCV_VERSION_H_

#include "opscv/export.h"

#define OPSCV_VERSION_MAJOR 0
#define OPSCV_VERSION_MINOR 1
#define OPSCV_VERSION_PATCH 0

namespace opscv {

// "major.minor.patch" of the library that was loaded (the macros are those of the headers).
OPSCV_API const char* Version() noexcept;

}  // namespace opscv

#endif  // OPSCV_VERSION_H_
