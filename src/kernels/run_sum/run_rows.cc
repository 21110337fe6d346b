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

// The rows of a block of members, found once for all columns.
template <typename Src>
struct Members {
  const Src* row[kSumBlock];
  size_t count = 0;

  // Those from the first-th on; there are that many in all.
  HWY_INLINE Members(const RunRowsArgs& args, size_t first, size_t members) {
    int64_t a = static_cast<int64_t>(first) / args.inner;
    int64_t b = static_cast<int64_t>(first) % args.inner;
    for (size_t k = first; k < members && count < kSumBlock; ++k) {
      row[count++] =
          ElementAt<Src>(ElementAt<Src>(args.src, a, args.outer_bytes), b, args.inner_bytes);
      if (++b == args.inner) {
        b = 0;
        ++a;
      }
    }
  }
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

  // kVectors vectors of columns from x on, added up.
  template <size_t kVectors>
  static HWY_INLINE void AddUp(const Members<Src>& members, int64_t x, int64_t step,
                               V (&sum)[kVectors]) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(kD));
    for (V& v : sum) v = hn::Set(kD, Real{-0.0});
    for (size_t k = 0; k < members.count; ++k) {
      const Src* row = ElementAt<Src>(members.row[k], x, step);
      for (size_t i = 0; i < kVectors; ++i) {
        const Src* from = ElementAt<Src>(row, static_cast<int64_t>(i) * lanes, step);
        sum[i] = hn::Add(sum[i], LoadElements<Types::kSrcUnitStep>(kD, from, step));
      }
    }
  }

  static HWY_INLINE void Store(const RunRowsArgs& args, V sum, int64_t x) {
    Dst* to = ElementAt<Dst>(args.dst, x, DstStep(args));
    StoreElements<Types::kDstUnitStep>(sum, kD, to, args.dst_step_bytes);
  }

  template <size_t kVectors>
  static HWY_INLINE void Columns(const RunRowsArgs& args, const Members<Src>& members, int64_t x) {
    V sum[kVectors];
    AddUp(members, x, SrcStep(args), sum);
    for (size_t i = 0; i < kVectors; ++i) {
      Store(args, sum[i], x + static_cast<int64_t>(i) * static_cast<int64_t>(hn::Lanes(kD)));
    }
  }

  // One vector of columns, of any number of members.
  static HWY_INLINE void ManyMembers(const RunRowsArgs& args, size_t count, int64_t x) {
    BlockTotal<D> total;
    for (size_t first = 0; first < count; first += kSumBlock) {
      V sum[1];
      AddUp(Members<Src>(args, first, count), x, SrcStep(args), sum);
      total.Close(kD, sum[0]);
    }
    Store(args, total.Value(kD), x);
  }

  // Fewer columns than a vector has lanes.
  static HWY_NOINLINE void Narrow(const RunRowsArgs& args, size_t count) {
    BlockTotal<D> total;
    for (size_t first = 0; first < count; first += kSumBlock) {
      const Members<Src> members(args, first, count);
      V sum = hn::Set(kD, Real{-0.0});
      for (size_t k = 0; k < members.count; ++k) {
        sum = hn::Add(sum, LoadSteps(kD, members.row[k], SrcStep(args), args.n));
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

  static HWY_INLINE void FewMembers(const RunRowsArgs& args, size_t count) {
    const Members<Src> members(args, 0, count);
    const auto lanes = static_cast<int64_t>(hn::Lanes(kD));
    constexpr auto kStep = static_cast<int64_t>(kDeep);
    const auto n = static_cast<int64_t>(args.n);
    int64_t x = 0;
    for (; x + kStep * lanes <= n; x += kStep * lanes) Columns<kDeep>(args, members, x);
    for (; x + lanes <= n; x += lanes) Columns<1>(args, members, x);
    if (x < n) Columns<1>(args, members, n - lanes);
  }

  static HWY_INLINE void OneOutput(const RunRowsArgs& args) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(kD));
    const auto n = static_cast<int64_t>(args.n);
    const auto count = static_cast<size_t>(args.outer * args.inner);
    if (count == 0) return Zeros(args);
    if (n < lanes) return Narrow(args, count);
    if (count <= kSumBlock) return FewMembers(args, count);
    for (int64_t x = 0; x < n; x += lanes) ManyMembers(args, count, HWY_MIN(x, n - lanes));
  }

  static void Run(const RunRowsArgs& args) noexcept {
    if (args.bounds == nullptr) return OneOutput(args);
    for (int64_t o = 0; o < args.rows; ++o) OneOutput(OutputOf(args, o));
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
