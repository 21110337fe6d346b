// SPDX-License-Identifier: Apache-2.0
#include "kernels/outer_axis/outer_axis.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/outer_axis/outer_axis.cc"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>
// After foreach_target.h, which wants to come first.
#include "kernels/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opscv::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

OuterAxisKernel SelectOuterAxisHere(const ElementKey& key) { return SelectOuterAxisReference(key); }

#else

// The kernel for one choice of types. Columns are independent, so the last vector of a row may
// overlap the one before: it stores the same bits again.
template <typename Types>
struct OuterAxis {
  using Src = typename Types::SrcType;
  using Dst = typename Types::DstType;
  using Real = Compute<Src>;
  using D = hn::ScalableTag<Real>;
  using V = hn::Vec<D>;
  static constexpr D kD{};

  // Vectors per step: enough independent chains of multiply-adds to hide their latency of four
  // cycles at two a cycle with the loads in between, few enough for 16 registers.
  // Elements that lie apart are gathered one by one, which no depth speeds up.
  static constexpr size_t kDeep = Types::kSrcUnitStep ? 4 : 1;

  static const Src* At(const OuterAxisArgs& args, size_t x) {
    return ElementAt<Src>(args.src, static_cast<int64_t>(x),
                          Types::kSrcUnitStep ? sizeof(Src) : args.src_step_bytes);
  }

  template <bool kStream>
  static void Store(const OuterAxisArgs& args, V sum, size_t x) {
    Dst* to = ElementAt<Dst>(args.dst, static_cast<int64_t>(x),
                             Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes);
    const V value = hn::Add(sum, hn::Zero(kD));
    if constexpr (kStream) {
      StreamNarrow(value, kD, to);
    } else {
      StoreElements<Types::kDstUnitStep>(value, kD, to, args.dst_step_bytes);
    }
  }

  // Adds the taps [begin, end) of kVectors vectors of columns to `sum`.
  template <size_t kVectors>
  static HWY_INLINE void AddTaps(const OuterAxisArgs& args, const Src* column, size_t begin,
                                 size_t end, V (&sum)[kVectors]) {
    const Real* weight = static_cast<const Real*>(args.weight);
    const size_t lanes = hn::Lanes(kD);
    const int64_t step = Types::kSrcUnitStep ? sizeof(Src) : args.src_step_bytes;
    for (size_t k = begin; k < end; ++k) {
      const Src* row = ElementAt<Src>(column, args.delta[k], args.src_row_bytes);
      const V w = hn::Set(kD, weight[k]);
      for (size_t i = 0; i < kVectors; ++i) {
        const Src* from = ElementAt<Src>(row, static_cast<int64_t>(i * lanes), step);
        sum[i] = hn::MulAdd(w, LoadElements<Types::kSrcUnitStep>(kD, from, step), sum[i]);
      }
    }
  }

  // kVectors vectors of columns from x on.
  template <size_t kVectors, bool kStream>
  static HWY_INLINE void Columns(const OuterAxisArgs& args, size_t x) {
    const Src* column = At(args, x);
    const size_t lanes = hn::Lanes(kD);
    V sum[kVectors];
    for (V& v : sum) v = hn::Zero(kD);
    if (args.taps <= kSumBlock) {
      AddTaps(args, column, 0, args.taps, sum);
    } else {
      BlockTotal<D> total[kVectors];
      for (size_t first = 0; first < args.taps; first += kSumBlock) {
        for (V& v : sum) v = hn::Zero(kD);
        AddTaps(args, column, first, HWY_MIN(first + kSumBlock, args.taps), sum);
        for (size_t i = 0; i < kVectors; ++i) total[i].Close(kD, sum[i]);
      }
      for (size_t i = 0; i < kVectors; ++i) sum[i] = total[i].Value(kD);
    }
    for (size_t i = 0; i < kVectors; ++i) Store<kStream>(args, sum[i], x + i * lanes);
  }

  // Fewer columns than a vector has lanes.
  static HWY_NOINLINE void Narrow(const OuterAxisArgs& args) {
    const Real* weight = static_cast<const Real*>(args.weight);
    const int64_t step = Types::kSrcUnitStep ? sizeof(Src) : args.src_step_bytes;
    BlockTotal<D> total;
    V sum = hn::Zero(kD);
    for (size_t k = 0; k < args.taps; ++k) {
      if (k != 0 && k % kSumBlock == 0) {
        total.Close(kD, sum);
        sum = hn::Zero(kD);
      }
      const Src* row = ElementAt<Src>(args.src, args.delta[k], args.src_row_bytes);
      sum = hn::MulAdd(hn::Set(kD, weight[k]), LoadSteps(kD, row, step, args.n), sum);
    }
    total.Close(kD, sum);
    const int64_t dst_step = Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes;
    StoreSteps(hn::Add(total.Value(kD), hn::Zero(kD)), kD, static_cast<Dst*>(args.dst), dst_step,
               args.n);
  }

  // At least one vector of columns.
  template <bool kStream>
  static HWY_INLINE void AllColumns(const OuterAxisArgs& args) {
    const size_t lanes = hn::Lanes(kD);
    size_t x = 0;
    for (; x + kDeep * lanes <= args.n; x += kDeep * lanes) Columns<kDeep, kStream>(args, x);
    for (; x + lanes <= args.n; x += lanes) Columns<1, kStream>(args, x);
    if (x < args.n) Columns<1, false>(args, args.n - lanes);
  }

  static void Run(const OuterAxisArgs& args) noexcept {
    const size_t lanes = hn::Lanes(kD);
    if (args.n < lanes) return Narrow(args);
    if constexpr (Types::kDstUnitStep) {
      const auto address = reinterpret_cast<uintptr_t>(args.dst);
      if (args.stream && address % (lanes * sizeof(Dst)) == 0) return AllColumns<true>(args);
    }
    AllColumns<false>(args);
  }
};

OuterAxisKernel SelectOuterAxisHere(const ElementKey& key) {
  return VisitElements(
      key, [](auto types) -> OuterAxisKernel { return &OuterAxis<decltype(types)>::Run; });
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace opscv::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opscv::kernels {

HWY_EXPORT(SelectOuterAxisHere);

OuterAxisKernel SelectOuterAxis(const ElementKey& key) {
  return HWY_DYNAMIC_DISPATCH(SelectOuterAxisHere)(key);
}

void FinishStores() noexcept { hwy::FlushStream(); }

}  // namespace opscv::kernels
#endif  // HWY_ONCE
