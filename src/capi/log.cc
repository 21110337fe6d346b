// SPDX-License-Identifier: Apache-2.0
#include "capi/log.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace opscv::capi {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"", "error", "warn", "info", "debug"};

LogLevel ReadLevel() noexcept {
  const char* text = std::getenv("OPSCV_LOG");
  if (text == nullptr) return LogLevel::kOff;
  for (size_t i = 1; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<LogLevel>(i);
  }
  return LogLevel::kOff;
}

}  // namespace

bool Logs(LogLevel level) noexcept {
  static const LogLevel wanted = ReadLevel();
  return level <= wanted;
}

void Log(LogLevel level, std::string_view text) noexcept {
  if (!Logs(level)) return;
  const std::string_view name = kNames[static_cast<size_t>(level)];
  std::fprintf(stderr, "[opscv %.*s] %.*s\n", static_cast<int>(name.size()), name.data(),
               static_cast<int>(text.size()), text.data());
}

}  // namespace opscv::capi
