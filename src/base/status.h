// SPDX-License-Identifier: Apache-2.0
// Helpers that make and pass on the public Status; see opscv/status.h for what it means.
#ifndef OPSCV_BASE_STATUS_H_
#define OPSCV_BASE_STATUS_H_

#include <fmt/format.h>

#include <utility>

#include "opscv/status.h"

namespace opscv {

// A kInvalidArgument status with a formatted sentence.
template <typename... Args>
[[nodiscard]] Status InvalidArgument(fmt::format_string<Args...> format, Args&&... args) {
  return {StatusCode::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...)};
}

[[nodiscard]] inline tl::unexpected<Status> Unexpected(Status status) {
  return tl::unexpected<Status>(std::move(status));
}

}  // namespace opscv

#define OPSCV_CONCAT_INNER(a, b) a##b
#define OPSCV_CONCAT(a, b) OPSCV_CONCAT_INNER(a, b)

// Leaves a function returning Status when `expr` is not ok.
#define OPSCV_RETURN_IF_ERROR(expr)                                  \
  do {                                                               \
    if (::opscv::Status opscv_status = (expr); !opscv_status.ok()) { \
      return opscv_status;                                           \
    }                                                                \
  } while (false)

// Leaves a function returning Status or Result when `expr`, a Result, holds no value; otherwise
// `lhs` becomes the value.
#define OPSCV_ASSIGN_OR_RETURN(lhs, expr) \
  OPSCV_ASSIGN_OR_RETURN_IMPL(OPSCV_CONCAT(opscv_result_, __LINE__), lhs, expr)
#define OPSCV_ASSIGN_OR_RETURN_IMPL(result, lhs, expr) \
  auto result = (expr);                                \
  if (!result) {                                       \
    return std::move(result).error();                  \
  }                                                    \
  lhs = std::move(*result)

#endif  // OPSCV_BASE_STATUS_H_
