// SPDX-License-Identifier: Apache-2.0
// Takes lanes from one or two neighbouring vectors by index. Compiled once per CPU target; the only
// file with raw intrinsics, since Highway 1.0.3 has no lookup in two vectors.

// Per-target include guard, as Highway wants it: toggled, not defined once.
#if defined(OPSCV_KERNELS_LOOKUP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSCV_KERNELS_LOOKUP_INL_H_
#undef OPSCV_KERNELS_LOOKUP_INL_H_
#else
#define OPSCV_KERNELS_LOOKUP_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace opscv::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// A lookup in a window of kVectors vectors that lie in memory one after the other: lane i of the
// answer is element index[i] of the window. Made once per vector of indices, used for many windows.
template <class D, size_t kVectors>
class WindowLookup;

template <class D>
class WindowLookup<D, 1> {
  using VIndex = hn::Vec<hn::RebindToSigned<D>>;

 public:
  HWY_INLINE explicit WindowLookup(VIndex index) : index_(hn::IndicesFromVec(D(), index)) {}
  HWY_INLINE hn::Vec<D> From(const hn::TFromD<D>* window) const {
    return hn::TableLookupLanes(hn::LoadU(D(), window), index_);
  }

 private:
  decltype(hn::IndicesFromVec(D(), hn::Zero(hn::RebindToSigned<D>()))) index_;
};

#if HWY_TARGET <= HWY_AVX3

template <class D>
class WindowLookup<D, 2> {
  using VIndex = hn::Vec<hn::RebindToSigned<D>>;

 public:
  HWY_INLINE explicit WindowLookup(VIndex index) : index_(index) {}
  HWY_INLINE hn::Vec<D> From(const hn::TFromD<D>* window) const {
    const hn::Vec<D> low = hn::LoadU(D(), window);
    const hn::Vec<D> high = hn::LoadU(D(), window + hn::Lanes(D()));
    if constexpr (sizeof(hn::TFromD<D>) == 4) {
      return hn::Vec<D>{_mm512_permutex2var_ps(low.raw, index_.raw, high.raw)};
    } else {
      return hn::Vec<D>{_mm512_permutex2var_pd(low.raw, index_.raw, high.raw)};
    }
  }

 private:
  VIndex index_;
};

#else

template <class D>
class WindowLookup<D, 2> {
  using DIndex = hn::RebindToSigned<D>;
  using TIndex = hn::TFromD<DIndex>;
  using VIndex = hn::Vec<DIndex>;

 public:
  HWY_INLINE explicit WindowLookup(VIndex index)
      : within_(hn::IndicesFromVec(D(), hn::And(index, LastLane()))),
        in_high_(hn::RebindMask(D(), hn::Gt(index, LastLane()))) {}
  HWY_INLINE hn::Vec<D> From(const hn::TFromD<D>* window) const {
    const hn::Vec<D> low = hn::LoadU(D(), window);
    const hn::Vec<D> high = hn::LoadU(D(), window + hn::Lanes(D()));
    return hn::IfThenElse(in_high_, hn::TableLookupLanes(high, within_),
                          hn::TableLookupLanes(low, within_));
  }

 private:
  static HWY_INLINE VIndex LastLane() {
    return hn::Set(DIndex(), static_cast<TIndex>(hn::Lanes(D()) - 1));
  }

  decltype(hn::IndicesFromVec(D(), hn::Zero(DIndex()))) within_;
  hn::Mask<D> in_high_;
};

#endif  // HWY_TARGET <= HWY_AVX3

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace opscv::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
