// SPDX-License-Identifier: Apache-2.0
// What all kernel families share: which element types they take and in what type they compute.
// Kernels take plain structs, allocate nothing and cannot fail; the plan picks them by selectors.
#ifndef OPSCV_KERNELS_KERNEL_H_
#define OPSCV_KERNELS_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/half.h"
#include "opscv/view.h"

namespace opscv::kernels {

// Sums run in blocks of this many terms, counted from the first: a block in the type of
// computation, the blocks in double (docs/arithmetic.md). Part of the definition of the results'
// bits.
inline constexpr size_t kSumBlock = 32;

// The type in which tensors of element type T are computed.
template <typename T>
struct ComputeOf {
  using Type = float;
};
template <>
struct ComputeOf<double> {
  using Type = double;
};
template <typename T>
using Compute = typename ComputeOf<T>::Type;

[[nodiscard]] constexpr DType ComputeDType(DType dtype) {
  return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

// The enumerator of a C++ element type.
template <typename T>
[[nodiscard]] constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, double>) return DType::kFloat64;
  if constexpr (std::is_same_v<T, Float16>) return DType::kFloat16;
  if constexpr (std::is_same_v<T, BFloat16>) return DType::kBFloat16;
  return DType::kFloat32;
}

[[nodiscard]] inline float Widen(float x) { return x; }
[[nodiscard]] inline double Widen(double x) { return x; }
[[nodiscard]] inline float Widen(Float16 x) { return ToFloat(x); }
[[nodiscard]] inline float Widen(BFloat16 x) { return ToFloat(x); }

inline void Narrow(double x, double* to) { *to = x; }
inline void Narrow(float x, float* to) { *to = x; }
inline void Narrow(float x, Float16* to) { *to = ToFloat16(x); }
inline void Narrow(float x, BFloat16* to) { *to = ToBFloat16(x); }

// The element `index` steps of `step_bytes` away from `base`. Addresses are multiples of sizeof(T).
template <typename T>
[[nodiscard]] const T* ElementAt(const void* base, int64_t index, int64_t step_bytes) {
  return reinterpret_cast<const T*>(static_cast<const char*>(base) + index * step_bytes);
}
template <typename T>
[[nodiscard]] T* ElementAt(void* base, int64_t index, int64_t step_bytes) {
  return reinterpret_cast<T*>(static_cast<char*>(base) + index * step_bytes);
}

// Source and destination of a kernel: either may be a tensor's type, the other then is that type or
// the type of computation. Whether steps are one element is known when planning.
struct ElementKey {
  DType src = DType::kFloat32;
  DType dst = DType::kFloat32;
  bool src_unit_step = true;
  bool dst_unit_step = true;
};

template <typename Src, typename Dst, bool kSrcUnit, bool kDstUnit>
struct ElementTypes {
  using SrcType = Src;
  using DstType = Dst;
  static constexpr bool kSrcUnitStep = kSrcUnit;
  static constexpr bool kDstUnitStep = kDstUnit;
};

template <typename Src, typename Dst, typename Visit>
auto VisitSteps(const ElementKey& key, Visit visit) {
  if (key.src_unit_step) {
    return key.dst_unit_step ? visit(ElementTypes<Src, Dst, true, true>{})
                             : visit(ElementTypes<Src, Dst, true, false>{});
  }
  return key.dst_unit_step ? visit(ElementTypes<Src, Dst, false, true>{})
                           : visit(ElementTypes<Src, Dst, false, false>{});
}

template <typename Src, typename Visit>
auto VisitDst(const ElementKey& key, Visit visit) {
  if (key.dst == DType::kFloat32) return VisitSteps<Src, float>(key, visit);
  return VisitSteps<Src, Src>(key, visit);
}

// As VisitElements, where the source has the type of computation.
template <typename Visit>
auto VisitFromCompute(const ElementKey& key, Visit visit) {
  switch (key.dst) {
    case DType::kFloat64:
      return VisitSteps<double, double>(key, visit);
    case DType::kFloat16:
      return VisitSteps<float, Float16>(key, visit);
    case DType::kBFloat16:
      return VisitSteps<float, BFloat16>(key, visit);
    default:
      return VisitSteps<float, float>(key, visit);
  }
}

// Calls visit(ElementTypes<...>{}) with the types that `key` names and returns its answer.
template <typename Visit>
auto VisitElements(const ElementKey& key, Visit visit) {
  switch (key.src) {
    case DType::kFloat16:
      return VisitDst<Float16>(key, visit);
    case DType::kBFloat16:
      return VisitDst<BFloat16>(key, visit);
    default:
      return VisitFromCompute(key, visit);
  }
}

}  // namespace opscv::kernels

#endif  // OPSCV_KERNELS_KERNEL_H_
