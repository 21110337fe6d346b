// SPDX-License-Identifier: Apache-2.0
// The boundary to C: one guard turns results and exceptions into codes, and keeps the thread's
// message. Knows no function by name.
#ifndef OPSCV_CAPI_ERROR_H_
#define OPSCV_CAPI_ERROR_H_

#include <cxxabi.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"
#include "base/status.h"

namespace opscv::capi {

// What a runtime function answers: an aclError and, unless that is ACL_SUCCESS, a sentence.
class [[nodiscard]] AclStatus {
 public:
  AclStatus() = default;  // success
  AclStatus(aclError code, std::string message) : code_(code), message_(std::move(message)) {}

  [[nodiscard]] bool ok() const { return code_ == ACL_SUCCESS; }
  [[nodiscard]] aclError code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  aclError code_ = ACL_SUCCESS;
  std::string message_;
};

template <typename... Args>
[[nodiscard]] AclStatus Refusal(aclError code, fmt::format_string<Args...> format, Args&&... args) {
  return {code, fmt::format(format, std::forward<Args>(args)...)};
}
template <typename... Args>
[[nodiscard]] AclStatus InvalidParam(fmt::format_string<Args...> format, Args&&... args) {
  return {ACL_ERROR_INVALID_PARAM, fmt::format(format, std::forward<Args>(args)...)};
}

// ACL_ERROR_INVALID_PARAM naming the parameter when the pointer is null.
[[nodiscard]] inline AclStatus CheckNotNull(const void* pointer, std::string_view name) {
  if (pointer != nullptr) return {};
  return InvalidParam("{} must not be null.", name);
}

[[nodiscard]] inline int CodeOf(const AclStatus& status) { return status.code(); }
[[nodiscard]] int CodeOf(const Status& status);

// Codes for what is thrown, by the kind of answer that the function would have given.
struct ThrownCodes {
  int out_of_memory;
  int other;
};
inline constexpr ThrownCodes kAclThrown = {ACL_ERROR_BAD_ALLOC, ACL_ERROR_INTERNAL_ERROR};
inline constexpr ThrownCodes kAclnnThrown = {ACLNN_ERR_RUNTIME_ERROR, ACLNN_ERR_INNER};

// Stores "EZ1001: function: sentence" as the thread's last message, logs it, and gives back `code`.
// EZ1001 stands for refused arguments, EZ9999 for the rest. Does not allocate.
int Report(int code, std::string_view function, std::string_view sentence) noexcept;
// The same for the exception being handled.
int ReportThrown(const ThrownCodes& codes, std::string_view function) noexcept;

// The thread's last message, or null.
[[nodiscard]] const char* LastMessage() noexcept;

// Runs the body of a C function, which answers AclStatus or Status; gives its code and reports
// failures under the caller's name. Nothing is thrown to the caller, save that a thread that is
// being cancelled goes on unwinding.
template <typename Body>
int Guard(Body&& body, const char* function = __builtin_FUNCTION()) {
  using Answer = std::invoke_result_t<Body>;
  constexpr ThrownCodes kCodes = std::is_same_v<Answer, AclStatus> ? kAclThrown : kAclnnThrown;
  try {
    const Answer answer = body();
    if (answer.ok()) [[likely]] {
      return 0;
    }
    return Report(CodeOf(answer), function, answer.message());
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    return ReportThrown(kCodes, function);
  }
}

// The same for a function that answers a pointer; null on failure.
template <typename Body>
auto GuardPointer(Body&& body, const char* function = __builtin_FUNCTION()) {
  using Pointer = typename std::invoke_result_t<Body>::value_type;
  Pointer pointer = nullptr;
  Guard(
      [&]() -> Status {
        OPSCV_ASSIGN_OR_RETURN(pointer, body());
        return {};
      },
      function);
  return pointer;
}

}  // namespace opscv::capi

// Leaves a function returning AclStatus when `expr` is not ok.
#define OPSCV_ACL_RETURN_IF_ERROR(expr)                                   \
  do {                                                                    \
    if (::opscv::capi::AclStatus acl_status = (expr); !acl_status.ok()) { \
      return acl_status;                                                  \
    }                                                                     \
  } while (false)

#endif  // OPSCV_CAPI_ERROR_H_
