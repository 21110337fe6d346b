// SPDX-License-Identifier: Apache-2.0
// The floating-point environment that defined bits need.
#ifndef OPSCV_BASE_FP_ENV_H_
#define OPSCV_BASE_FP_ENV_H_

#include <cfenv>
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace opscv {

// While it lives, the thread rounds to nearest, keeps subnormals and traps nothing, whatever the
// caller has set; afterwards the caller's environment is back, flags included.
class ScopedDefaultFpEnv {
 public:
#if defined(__x86_64__)
  // Nothing here computes in the x87 unit. It is given back as it was, but storing and loading all
  // of it, as fesetenv does, would cost a tiny call a tenth of its time.
  ScopedDefaultFpEnv() noexcept : saved_(Current()) {
    if ((saved_.sse & ~kFlags) != kDefaultSse) _mm_setcsr(kDefaultSse);
    Barrier();
  }
  ~ScopedDefaultFpEnv() {
    Barrier();
    const Control now = Current();
    if (now.sse != saved_.sse) _mm_setcsr(saved_.sse);
    if (now.x87 != saved_.x87) asm volatile("fldcw %0" ::"m"(saved_.x87));
  }
#else
  ScopedDefaultFpEnv() noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~ScopedDefaultFpEnv() { std::fesetenv(&saved_); }
#endif
  ScopedDefaultFpEnv(const ScopedDefaultFpEnv&) = delete;
  ScopedDefaultFpEnv& operator=(const ScopedDefaultFpEnv&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr uint32_t kFlags = 0x3F;
  static constexpr uint32_t kDefaultSse = 0x1F80;  // all exceptions masked

  struct Control {
    uint32_t sse;
    uint16_t x87;
  };
  static Control Current() noexcept {
    Control control{.sse = _mm_getcsr(), .x87 = 0};
    asm volatile("fnstcw %0" : "=m"(control.x87));
    return control;
  }
  // The compiler knows of no environment; what it has in memory it does not compute with too early
  // or too late.
  static void Barrier() noexcept { asm volatile("" ::: "memory"); }

  const Control saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace opscv

#endif  // OPSCV_BASE_FP_ENV_H_
