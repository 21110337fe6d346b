// SPDX-License-Identifier: Apache-2.0
// Lines on stderr for people who set OPSCV_LOG; silence otherwise.
#ifndef OPSCV_CAPI_LOG_H_
#define OPSCV_CAPI_LOG_H_

#include <string_view>

namespace opscv::capi {

enum class LogLevel { kOff, kError, kWarn, kInfo, kDebug };

// Whether OPSCV_LOG (error, warn, info or debug; read once) asks for lines of that level.
[[nodiscard]] bool Logs(LogLevel level) noexcept;

// Writes "[opscv error] text" as one line, if lines of that level are asked for.
void Log(LogLevel level, std::string_view text) noexcept;

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_LOG_H_
