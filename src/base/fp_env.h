// SPDX-License-Identifier: Apache-2.0
// The floating-point environment that defined bits need.
#ifndef OPSCV_BASE_FP_ENV_H_
#define OPSCV_BASE_FP_ENV_H_

#include <cfenv>

namespace opscv {

// While it lives, the thread rounds to nearest, keeps subnormals and traps nothing, whatever the
// caller has set; afterwards the caller's environment is back, flags included.
class ScopedDefaultFpEnv {
 public:
  ScopedDefaultFpEnv() noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~ScopedDefaultFpEnv() { std::fesetenv(&saved_); }
  ScopedDefaultFpEnv(const ScopedDefaultFpEnv&) = delete;
  ScopedDefaultFpEnv& operator=(const ScopedDefaultFpEnv&) = delete;

 private:
  std::fenv_t saved_;
};

}  // namespace opscv

#endif  // OPSCV_BASE_FP_ENV_H_
