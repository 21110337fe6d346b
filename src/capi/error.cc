// SPDX-License-Identifier: Apache-2.0
#include "capi/error.h"

#include <algorithm>
#include <exception>
#include <new>

#include "capi/log.h"

namespace opscv::capi {
namespace {

// Plain arrays, so that destructors of a program's own statics may still fail after the thread's
// objects are gone. Longer messages (paths can be long) end in "...".
constexpr size_t kMessageBytes = 2048;
thread_local char t_message[kMessageBytes];
thread_local bool t_has_message = false;

bool IsRefusal(int code) {
  switch (code) {
    case ACL_ERROR_INVALID_PARAM:
    case ACL_ERROR_RT_CONTEXT_NULL:
    case ACL_ERROR_RT_STREAM_CONTEXT:
    case ACLNN_ERR_PARAM_NULLPTR:
    case ACLNN_ERR_PARAM_INVALID:
      return true;
    default:
      return false;
  }
}

}  // namespace

int CodeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return ACLNN_SUCCESS;
    case StatusCode::kNullPointer:
      return ACLNN_ERR_PARAM_NULLPTR;
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
      return ACLNN_ERR_PARAM_INVALID;
    case StatusCode::kCancelled:
    case StatusCode::kOutOfMemory:
      return ACLNN_ERR_RUNTIME_ERROR;
    case StatusCode::kInternal:
      return ACLNN_ERR_INNER;
  }
  return ACLNN_ERR_INNER;
}

int Report(int code, std::string_view function, std::string_view sentence) noexcept {
  const char* prefix = IsRefusal(code) ? "EZ1001" : "EZ9999";
  const auto written = fmt::format_to_n(t_message, kMessageBytes - 1, FMT_STRING("{}: {}: {}"),
                                        prefix, function, sentence);
  *written.out = '\0';
  if (written.size >= kMessageBytes) std::copy_n("...", 4, t_message + kMessageBytes - 4);
  t_has_message = true;
  Log(LogLevel::kError, t_message);
  return code;
}

int ReportThrown(const ThrownCodes& codes, std::string_view function) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Report(codes.out_of_memory, function, "out of memory.");
  } catch (const std::exception& error) {
    return Report(codes.other, function, error.what());
  } catch (...) {
    return Report(codes.other, function, "an exception of unknown type.");
  }
}

const char* LastMessage() noexcept { return t_has_message ? t_message : nullptr; }

}  // namespace opscv::capi
