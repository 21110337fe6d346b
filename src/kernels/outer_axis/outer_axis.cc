// SPDX-License-Identifier: Apache-2.0
#include "kernels/outer_axis/outer_axis.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/outer_axis/outer_axis.cc"
#include <hwy/foreach_target.h>

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

  static HWY_INLINE int64_t SrcStep(const OuterAxisArgs& args) {
    return Types::kSrcUnitStep ? sizeof(Src) : args.src_step_bytes;
  }
  static HWY_INLINE int64_t DstStep(const OuterAxisArgs& args) {
    return Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes;
  }

  // The taps of one output, counted from its first, and where its elements go.
  struct Output {
    const OuterAxisArgs& args;
    int64_t o;
    int64_t first;
    size_t taps;
    const Real* weight;
    char* dst;

    HWY_INLINE Output(const OuterAxisArgs& all, int64_t output)
        : args(all),
          o(output),
          first(all.place[output]),
          taps(static_cast<size_t>(all.place[output + 1] - first)),
          weight(static_cast<const Real*>(all.weight) + first),
          dst(static_cast<char*>(all.dst) + output * all.dst_row_bytes) {}
    [[nodiscard]] HWY_INLINE const Src* Row(size_t k) const {
      return static_cast<const Src*>(RowOf(args, o, first + static_cast<int64_t>(k)));
    }
  };

  // The rows of an output of one block of taps, found once for all columns.
  struct FewRows {
    const Src* row[kSumBlock];
    HWY_INLINE explicit FewRows(const Output& output) {
      for (size_t k = 0; k < output.taps; ++k) row[k] = output.Row(k);
    }
    [[nodiscard]] HWY_INLINE const Src* operator()(size_t k) const { return row[k]; }
  };
  // Those of any output.
  struct ManyRows {
    const Output& output;
    [[nodiscard]] HWY_INLINE const Src* operator()(size_t k) const { return output.Row(k); }
  };

  template <bool kStream>
  static HWY_INLINE void Store(const Output& output, V sum, int64_t x) {
    Dst* to = ElementAt<Dst>(output.dst, x, DstStep(output.args));
    const V value = hn::Add(sum, hn::Zero(kD));
    if constexpr (kStream) {
      StreamNarrow(value, kD, to);
    } else {
      StoreElements<Types::kDstUnitStep>(value, kD, to, output.args.dst_step_bytes);
    }
  }

  // Adds the taps [begin, end) of kVectors vectors of columns from x on to `sum`.
  template <size_t kVectors, class Rows>
  static HWY_INLINE void AddTaps(const Output& output, const Rows& rows, int64_t x, size_t begin,
                                 size_t end, V (&sum)[kVectors]) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(kD));
    const int64_t step = SrcStep(output.args);
    const Real* weight = output.weight;
    for (size_t k = begin; k < end; ++k) {
      const Src* row = ElementAt<Src>(rows(k), x, step);
      const V w = hn::Set(kD, weight[k]);
      for (size_t i = 0; i < kVectors; ++i) {
        const Src* from = ElementAt<Src>(row, static_cast<int64_t>(i) * lanes, step);
        sum[i] = hn::MulAdd(w, LoadElements<Types::kSrcUnitStep>(kD, from, step), sum[i]);
      }
    }
  }

  // kVectors vectors of columns from x on, where there is one block of taps.
  template <size_t kVectors, bool kStream>
  static HWY_INLINE void Columns(const Output& output, const FewRows& rows, int64_t x) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(kD));
    V sum[kVectors];
    for (V& v : sum) v = hn::Zero(kD);
    AddTaps(output, rows, x, 0, output.taps, sum);
    for (size_t i = 0; i < kVectors; ++i) {
      Store<kStream>(output, sum[i], x + static_cast<int64_t>(i) * lanes);
    }
  }

  // The same for any number of taps.
  template <size_t kVectors, bool kStream>
  static HWY_INLINE void Columns(const Output& output, const ManyRows& rows, int64_t x) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(kD));
    BlockTotal<D> total[kVectors];
    for (size_t first = 0; first < output.taps; first += kSumBlock) {
      V sum[kVectors];
      for (V& v : sum) v = hn::Zero(kD);
      AddTaps(output, rows, x, first, HWY_MIN(first + kSumBlock, output.taps), sum);
      for (size_t i = 0; i < kVectors; ++i) total[i].Close(kD, sum[i]);
    }
    for (size_t i = 0; i < kVectors; ++i) {
      Store<kStream>(output, total[i].Value(kD), x + static_cast<int64_t>(i) * lanes);
    }
  }

  // At least one vector of columns.
  template <bool kStream, class Rows>
  static HWY_INLINE void AllColumns(const Output& output, const Rows& rows) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(kD));
    constexpr auto kStep = static_cast<int64_t>(kDeep);
    const auto n = static_cast<int64_t>(output.args.n);
    int64_t x = 0;
    for (; x + kStep * lanes <= n; x += kStep * lanes) Columns<kDeep, kStream>(output, rows, x);
    for (; x + lanes <= n; x += lanes) Columns<1, kStream>(output, rows, x);
    if (x < n) Columns<1, false>(output, rows, n - lanes);
  }

  // Fewer columns than a vector has lanes.
  static HWY_NOINLINE void Narrow(const Output& output) {
    const size_t n = output.args.n;
    BlockTotal<D> total;
    V sum = hn::Zero(kD);
    for (size_t k = 0; k < output.taps; ++k) {
      if (k != 0 && k % kSumBlock == 0) {
        total.Close(kD, sum);
        sum = hn::Zero(kD);
      }
      const V samples = LoadSteps(kD, output.Row(k), SrcStep(output.args), n);
      sum = hn::MulAdd(hn::Set(kD, output.weight[k]), samples, sum);
    }
    total.Close(kD, sum);
    StoreSteps(hn::Add(total.Value(kD), hn::Zero(kD)), kD, reinterpret_cast<Dst*>(output.dst),
               DstStep(output.args), n);
  }

  static HWY_NOINLINE void Many(const Output& output) {
    AllColumns<false>(output, ManyRows{output});
  }

  static HWY_INLINE void Few(const Output& output) {
    const FewRows rows(output);
    if constexpr (Types::kDstUnitStep) {
      const auto address = reinterpret_cast<uintptr_t>(output.dst);
      if (output.args.stream && address % (hn::Lanes(kD) * sizeof(Dst)) == 0) {
        return AllColumns<true>(output, rows);
      }
    }
    AllColumns<false>(output, rows);
  }

  static void Run(const OuterAxisArgs& args) noexcept {
    for (int64_t o = 0; o < args.rows; ++o) {
      const Output output(args, o);
      if (args.n < hn::Lanes(kD)) {
        Narrow(output);
      } else if (output.taps <= kSumBlock) {
        Few(output);
      } else {
        Many(output);
      }
    }
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

}  // namespace opscv::kernels
#endif  // HWY_ONCE
