// SPDX-License-Identifier: Apache-2.0
// A callable passed down by reference: no copy, no allocation.
#ifndef OPSCV_BASE_FUNCTION_REF_H_
#define OPSCV_BASE_FUNCTION_REF_H_

#include <memory>
#include <type_traits>
#include <utility>

namespace opscv {

template <typename Signature>
class FunctionRef;

// Refers to a callable that outlives the reference.
template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
      // NOLINTNEXTLINE(google-explicit-constructor): stands where a callable is written
      FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace opscv

#endif  // OPSCV_BASE_FUNCTION_REF_H_
