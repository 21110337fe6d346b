// SPDX-License-Identifier: Apache-2.0
#include "kernels/run_sum/run_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/run_sum/run_rows.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which wants to come first.
#include "kernels/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opscv::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

RunRowsKernel SelectRunRowsHere(const ElementKey& key) { return SelectRunRowsReference(key); }

#else

// The members of a window in their order, as addresses.
template <typename Src>
class Members {
 public:
  HWY_INLINE explicit Members(const RunRowsArgs& args, const Src* first)
      : args_(args), row_(first), member_(first) {}
  HWY_INLINE const Src* Next() {
    const Src* here = member_;
    if (++b_ == args_.inner) {
      b_ = 0;
      row_ = ElementAt<Src>(row_, 1, args_.outer_bytes);
      member_ = row_;
    } else {
      member_ = ElementAt<Src>(member_, 1, args_.inner_bytes);
    }
    return here;
  }

 private:
  const RunRowsArgs& args_;
  const Src* row_;
  const Src* member_;
  int64_t b_ = 0;
};

// The kernel for one choice of types. The last vector of a row may overlap the one before: it
// stores the same bits again.
template <typename Types>
struct RunRows {
  using Src = typename Types::SrcType;
  using Dst = typename Types::DstType;
  using Real = Compute<Src>;
  using D = hn::ScalableTag<Real>;
  using V = hn::Vec<D>;
  static constexpr D kD{};

  // Vectors per step: as many independent chains of additions as hide their latency of four cycles.
  // Elements that lie apart are gathered one by one, which no depth speeds up.
  static constexpr size_t kDeep = Types::kSrcUnitStep ? 4 : 1;

  static HWY_INLINE int64_t SrcStep(const RunRowsArgs& args) {
    return Types::kSrcUnitStep ? sizeof(Src) : args.src_step_bytes;
  }
  static HWY_INLINE int64_t DstStep(const RunRowsArgs& args) {
    return Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes;
  }

  // Sums the next `count` members of kVectors vectors of columns.
  template <size_t kVectors>
  static HWY_INLINE void SumBlock(Members<Src>& members, int64_t step, size_t count,
                                  V (&sum)[kVectors]) {
    const size_t lanes = hn::Lanes(kD);
    for (V& v : sum) v = hn::Set(kD, Real{-0.0});
    for (size_t k = 0; k < count; ++k) {
      const Src* row = members.Next();
      for (size_t i = 0; i < kVectors; ++i) {
        const Src* from = ElementAt<Src>(row, static_cast<int64_t>(i * lanes), step);
        sum[i] = hn::Add(sum[i], LoadElements<Types::kSrcUnitStep>(kD, from, step));
      }
    }
  }

  template <size_t kVectors>
  static HWY_INLINE void Columns(const RunRowsArgs& args, size_t count, size_t x) {
    const size_t lanes = hn::Lanes(kD);
    Members<Src> members(args, ElementAt<Src>(args.src, static_cast<int64_t>(x), SrcStep(args)));
    V sum[kVectors];
    SumBlock(members, SrcStep(args), HWY_MIN(count, kSumBlock), sum);
    if (count > kSumBlock) {
      BlockTotal<D> total[kVectors];
      for (size_t i = 0; i < kVectors; ++i) total[i].Close(kD, sum[i]);
      for (size_t first = kSumBlock; first < count; first += kSumBlock) {
        SumBlock(members, SrcStep(args), HWY_MIN(count - first, kSumBlock), sum);
        for (size_t i = 0; i < kVectors; ++i) total[i].Close(kD, sum[i]);
      }
      for (size_t i = 0; i < kVectors; ++i) sum[i] = total[i].Value(kD);
    }
    for (size_t i = 0; i < kVectors; ++i) {
      Dst* to = ElementAt<Dst>(args.dst, static_cast<int64_t>(x + i * lanes), DstStep(args));
      StoreElements<Types::kDstUnitStep>(sum[i], kD, to, args.dst_step_bytes);
    }
  }

  // Fewer columns than a vector has lanes.
  static HWY_NOINLINE void Narrow(const RunRowsArgs& args, size_t count) {
    Members<Src> members(args, static_cast<const Src*>(args.src));
    BlockTotal<D> total;
    for (size_t first = 0; first < count; first += kSumBlock) {
      V sum = hn::Set(kD, Real{-0.0});
      for (size_t k = first; k < HWY_MIN(first + kSumBlock, count); ++k) {
        sum = hn::Add(sum, LoadSteps(kD, members.Next(), SrcStep(args), args.n));
      }
      total.Close(kD, sum);
    }
    StoreSteps(total.Value(kD), kD, static_cast<Dst*>(args.dst), DstStep(args), args.n);
  }

  static HWY_NOINLINE void Zeros(const RunRowsArgs& args) {
    const size_t lanes = hn::Lanes(kD);
    const V zero = hn::Zero(kD);
    size_t x = 0;
    for (; x + lanes <= args.n; x += lanes) {
      Dst* to = ElementAt<Dst>(args.dst, static_cast<int64_t>(x), DstStep(args));
      StoreElements<Types::kDstUnitStep>(zero, kD, to, args.dst_step_bytes);
    }
    Dst* rest = ElementAt<Dst>(args.dst, static_cast<int64_t>(x), DstStep(args));
    StoreSteps(zero, kD, rest, DstStep(args), args.n - x);
  }

  static void Run(const RunRowsArgs& args) noexcept {
    const size_t lanes = hn::Lanes(kD);
    const auto count = static_cast<size_t>(args.outer * args.inner);
    if (count == 0) return Zeros(args);
    if (args.n < lanes) return Narrow(args, count);
    size_t x = 0;
    for (; x + kDeep * lanes <= args.n; x += kDeep * lanes) Columns<kDeep>(args, count, x);
    for (; x + lanes <= args.n; x += lanes) Columns<1>(args, count, x);
    if (x < args.n) Columns<1>(args, count, args.n - lanes);
  }
};

RunRowsKernel SelectRunRowsHere(const ElementKey& key) {
  return VisitElements(key,
                       [](auto types) -> RunRowsKernel { return &RunRows<decltype(types)>::Run; });
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace opscv::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opscv::kernels {

HWY_EXPORT(SelectRunRowsHere);

RunRowsKernel SelectRunRows(const ElementKey& key) {
  return HWY_DYNAMIC_DISPATCH(SelectRunRowsHere)(key);
}

}  // namespace opscv::kernels
#endif  // HWY_ONCE
