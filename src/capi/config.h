// SPDX-License-Identifier: Apache-2.0
// The file that aclInit takes. No setting in it means anything to a CPU, so it is only held to be
// JSON: a program whose file is missing or broken would fail on a device.
#ifndef OPSCV_CAPI_CONFIG_H_
#define OPSCV_CAPI_CONFIG_H_

#include <string_view>

#include "base/status.h"

namespace opscv::capi {

// Ok for null, "" and the path of a file that holds one JSON object.
[[nodiscard]] Status CheckConfigFile(const char* path);

// Ok when the text is one JSON object (RFC 8259); else says line, column and what was expected.
[[nodiscard]] Status CheckJsonObject(std::string_view text);

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_CONFIG_H_
