// SPDX-License-Identifier: Apache-2.0
// What a call answers: success, or a code with one sentence that names the argument, the value got
// and what was expected.
#ifndef OPSCV_STATUS_H_
#define OPSCV_STATUS_H_

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace opscv {

enum class StatusCode {
  kOk,
  kNullPointer,      // a pointer that must be given is null
  kInvalidArgument,  // an argument, or a combination of arguments, is refused
  kNotFound,         // no operator, attribute or rule of that name
  kCancelled,        // the caller's stop flag was seen before the work was complete
  kOutOfMemory,      // memory could not be allocated
  kInternal,         // a fault of the library itself
};

class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  [[nodiscard]] bool ok() const { return code_ == StatusCode::kOk; }
  [[nodiscard]] StatusCode code() const { return code_; }
  // One sentence without a trailing newline; empty on success.
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// A value, or the Status that says why there is none (`result.error().message()`).
template <typename T>
using Result = tl::expected<T, Status>;

}  // namespace opscv

#endif  // OPSCV_STATUS_H_
