// SPDX-License-Identifier: Apache-2.0
// Vector loads that widen to the type of computation and stores that narrow to a tensor's type, for
// every step between elements. Compiled once per CPU target. Highway 1.0.3 truncates to bfloat16
// and is right for float16 only where F16C does it, so both are done here.

// Per-target include guard, as Highway wants it: toggled, not defined once.
#if defined(OPSCV_KERNELS_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSCV_KERNELS_CONVERT_INL_H_
#undef OPSCV_KERNELS_CONVERT_INL_H_
#else
#define OPSCV_KERNELS_CONVERT_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernels/kernel.h"

HWY_BEFORE_NAMESPACE();
namespace opscv::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

#undef OPSCV_HAVE_F16C
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET <= HWY_AVX3
#define OPSCV_HAVE_F16C 1
#else
#define OPSCV_HAVE_F16C 0
#endif

template <class D>
HWY_INLINE hn::Vec<D> LoadWide(D d, const hn::TFromD<D>* from) {
  return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE hn::Vec<D> LoadWide(D df, const BFloat16* from) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint16_t, D> du16;
  const auto bits = hn::PromoteTo(du, hn::LoadU(du16, reinterpret_cast<const uint16_t*>(from)));
  return hn::BitCast(df, hn::ShiftLeft<16>(bits));
}

template <class D>
HWY_INLINE hn::Vec<D> LoadWide(D df, const Float16* from) {
#if OPSCV_HAVE_F16C
  const hn::Rebind<hwy::float16_t, D> dh;
  return hn::PromoteTo(df, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(from)));
#else
  // The steps of ToFloat(Float16) in base/half.h.
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint16_t, D> du16;
  const auto bits = hn::PromoteTo(du, hn::LoadU(du16, reinterpret_cast<const uint16_t*>(from)));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000u)));
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7FFFu));
  const auto scaled = hn::Mul(hn::BitCast(df, hn::ShiftLeft<13>(magnitude)), hn::Set(df, 0x1p112f));
  const auto quiet =
      hn::IfThenElseZero(hn::Gt(magnitude, hn::Set(du, 0x7C00u)), hn::Set(du, 0x00400000u));
  const auto special = hn::Or(hn::Or(hn::Set(du, 0x7F800000u), quiet),
                              hn::ShiftLeft<13>(hn::And(magnitude, hn::Set(du, 0x3FFu))));
  const auto is_special = hn::Gt(magnitude, hn::Set(du, 0x7BFFu));
  return hn::BitCast(df,
                     hn::Or(sign, hn::IfThenElse(is_special, special, hn::BitCast(du, scaled))));
#endif
}

// The elements of a vector as they are stored, in the type that `to` points to.
template <class D>
HWY_INLINE hn::Vec<D> NarrowTo(hn::Vec<D> v, D /*d*/, const hn::TFromD<D>* /*to*/) {
  return v;
}

// Rounding leaves NaNs alone whose low 16 bits are 0. No others come of tensors of bfloat16:
// arithmetic hands on the bits of a NaN, and makes new ones without low bits.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> NarrowTo(hn::Vec<D> v, D /*df*/,
                                                     const BFloat16* /*to*/) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<uint16_t, D> du16;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(du, 0x7FFFu)), odd));
  return hn::DemoteTo(du16, hn::BitCast(di, rounded));
}

template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> NarrowTo(hn::Vec<D> v, [[maybe_unused]] D df,
                                                     const Float16* /*to*/) {
  const hn::Rebind<uint16_t, D> du16;
#if OPSCV_HAVE_F16C
  const hn::Rebind<hwy::float16_t, D> dh;
  return hn::BitCast(du16, hn::DemoteTo(dh, v));
#else
  // The steps of ToFloat16 in base/half.h.
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(du, v);
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 0x8000u));
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFFu));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
  const auto normal =
      hn::ShiftRight<13>(hn::Add(hn::Sub(magnitude, hn::Set(du, 0x38000000u - 0xFFFu)), odd));
  const auto subnormal =
      hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(df, magnitude), hn::Set(df, 0.5f))),
              hn::Set(du, 0x3F000000u));
  const auto nan =
      hn::Or(hn::Set(du, 0x7E00u), hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 0x3FFu)));
  auto half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, 0x38800000u)), subnormal, normal);
  half = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x477FEFFFu)), hn::Set(du, 0x7C00u), half);
  half = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x7F800000u)), nan, half);
  return hn::DemoteTo(du16, hn::BitCast(di, hn::Or(sign, half)));
#endif
}

// The type in which vectors of elements of type T are stored.
template <typename T>
using Stored = std::conditional_t<sizeof(T) == 2, uint16_t, T>;

template <typename T, class D>
HWY_INLINE void StoreNarrow(hn::Vec<D> v, D d, T* to) {
  const hn::Rebind<Stored<T>, D> stored;
  hn::StoreU(NarrowTo(v, d, to), stored, reinterpret_cast<Stored<T>*>(to));
}

// The same past the caches; `to` is a multiple of the vector's bytes.
template <typename T, class D>
HWY_INLINE void StreamNarrow(hn::Vec<D> v, D d, T* to) {
  const hn::Rebind<Stored<T>, D> stored;
  // Highway streams 16 bytes at least, whatever the vector.
  if constexpr (hn::MaxLanes(stored) * sizeof(T) >= 16) {
    hn::Stream(NarrowTo(v, d, to), stored, reinterpret_cast<Stored<T>*>(to));
  } else {
    StoreNarrow(v, d, to);
  }
}

// The first `count` lanes from elements `step_bytes` apart, zeros in the rest; touches nothing
// else.
template <typename T, class D>
HWY_INLINE hn::Vec<D> LoadSteps(D d, const T* from, int64_t step_bytes, size_t count) {
  HWY_ALIGN T lanes[hn::MaxLanes(D())] = {};
  for (size_t i = 0; i < count; ++i) {
    lanes[i] = *ElementAt<T>(from, static_cast<int64_t>(i), step_bytes);
  }
  return LoadWide(d, lanes);
}

// The first `count` lanes to elements `step_bytes` apart.
template <typename T, class D>
HWY_INLINE void StoreSteps(hn::Vec<D> v, D d, T* to, int64_t step_bytes, size_t count) {
  HWY_ALIGN T lanes[hn::MaxLanes(D())];
  StoreNarrow(v, d, lanes);
  for (size_t i = 0; i < count; ++i) {
    *ElementAt<T>(to, static_cast<int64_t>(i), step_bytes) = lanes[i];
  }
}

// A full vector: one load where elements touch, else lane by lane.
template <bool kUnitStep, typename T, class D>
HWY_INLINE hn::Vec<D> LoadElements(D d, const T* from, int64_t step_bytes) {
  if constexpr (kUnitStep) return LoadWide(d, from);
  return LoadSteps(d, from, step_bytes, hn::Lanes(d));
}

template <bool kUnitStep, typename T, class D>
HWY_INLINE void StoreElements(hn::Vec<D> v, D d, T* to, int64_t step_bytes) {
  if constexpr (kUnitStep) {
    StoreNarrow(v, d, to);
  } else {
    StoreSteps(v, d, to, step_bytes, hn::Lanes(d));
  }
}

// A sum in blocks: Close() ends a block, Value() rounds the total once. Where a sum has one block,
// use its vector alone instead: the bits are the same.
template <class D>
class BlockTotal {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  using DWide = std::conditional_t<sizeof(T) == 8, D, hn::RepartitionToWide<hn::Rebind<float, D>>>;

 public:
  // Written out, since the implicit constructor would not be compiled for this target.
  HWY_INLINE BlockTotal()
      : total_(hn::Zero(D())), low_(hn::Zero(DWide())), high_(hn::Zero(DWide())) {}

  HWY_INLINE void Close([[maybe_unused]] D d, V block) {
    if constexpr (sizeof(T) == 8) {
      total_ = closed_ ? hn::Add(total_, block) : block;
    } else {
      const hn::RepartitionToWide<D> dd;
      const hn::Half<D> dh;
      const auto low = hn::PromoteTo(dd, hn::LowerHalf(dh, block));
      const auto high = hn::PromoteTo(dd, hn::UpperHalf(dh, block));
      low_ = closed_ ? hn::Add(low_, low) : low;
      high_ = closed_ ? hn::Add(high_, high) : high;
    }
    closed_ = true;
  }

  HWY_INLINE V Value([[maybe_unused]] D d) const {
    if constexpr (sizeof(T) == 8) {
      return total_;
    } else {
      const hn::Half<D> dh;
      return hn::Combine(d, hn::DemoteTo(dh, high_), hn::DemoteTo(dh, low_));
    }
  }

 private:
  bool closed_ = false;
  V total_;
  hn::Vec<DWide> low_;
  hn::Vec<DWide> high_;
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace opscv::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
