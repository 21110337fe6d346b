// SPDX-License-Identifier: Apache-2.0
#include "opscv/version.h"

#define OPSCV_TEXT_INNER(x) #x
#define OPSCV_TEXT(x) OPSCV_TEXT_INNER(x)

namespace opscv {

const char* Version() noexcept {
  return OPSCV_TEXT(OPSCV_VERSION_MAJOR) "." OPSCV_TEXT(OPSCV_VERSION_MINOR) "." OPSCV_TEXT(
      OPSCV_VERSION_PATCH);
}

}  // namespace opscv
