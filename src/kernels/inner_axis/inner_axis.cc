// SPDX-License-Identifier: Apache-2.0
#include "kernels/inner_axis/inner_axis.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/inner_axis/inner_axis.cc"
#include <hwy/foreach_target.h>

#include <span>
// After foreach_target.h, which wants to come first.
#include "kernels/convert-inl.h"
#include "kernels/inner_axis/weights.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opscv::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

InnerAxisKernel SelectInnerAxisHere(const ElementKey& key) { return SelectInnerAxisReference(key); }

#else

// The kernel for one choice of types. A vector holds one element of several rows: the rows are
// turned so, a window of columns at a time, summed with one weight for all lanes, and turned back.
// So every lane has the same taps, however many, and no sample meets a row that does not read it.
template <typename Types>
struct InnerAxis {
  using Src = typename Types::SrcType;
  using Dst = typename Types::DstType;
  using Real = Compute<Src>;
  using D = hn::ScalableTag<Real>;
  using V = hn::Vec<D>;
  static constexpr D kD{};
  static constexpr size_t kLanes = hn::MaxLanes(D());
  static constexpr auto kStep = static_cast<int64_t>(kLanes);

  // Columns of kVectors * kLanes rows, turned.
  template <size_t kVectors>
  struct Window {
    static constexpr int64_t kRows = kVectors * kLanes;
    // As many as take half of a first-level cache of 32 KiB.
    static constexpr int64_t kColumns = 16384 / (kRows * sizeof(Real));

    HWY_ALIGN Real values[(kColumns + kStep) * kRows];
    int64_t first;  // the column at values[0]

    [[nodiscard]] HWY_INLINE const Real* At(int64_t column) const {
      return values + (column - first) * kRows;
    }
  };

  // Elements of a row from `begin` up to `end`.
  struct Span {
    int64_t begin;
    int64_t end;
  };

  static int64_t SrcStep(const InnerAxisArgs& args) {
    return Types::kSrcUnitStep ? sizeof(Src) : args.src_step_bytes;
  }
  static int64_t DstStep(const InnerAxisArgs& args) {
    return Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes;
  }

  // What the groups of outputs read that the output elements [begin, end) lie in, as far as it is
  // there.
  static HWY_INLINE Span ReachOf(const InnerAxisArgs& args, int64_t begin, int64_t end) {
    int64_t low = args.row_end;
    int64_t high = args.row_origin;
    const int64_t pixel_end = (end + args.channels - 1) / args.channels;
    for (int64_t group = begin / args.channels / taps::TapTable::kGroup;
         group * taps::TapTable::kGroup < pixel_end; ++group) {
      low = HWY_MIN(low, args.table->reach(group).begin);
      high = HWY_MAX(high, args.table->reach(group).end);
    }
    return {HWY_MAX(low, args.row_origin) * args.channels,
            HWY_MIN(high, args.row_end) * args.channels};
  }

  // Turns kLanes columns from x on, of the rows [first_row, first_row + kLanes); rows that are
  // missing repeat the last one.
  template <bool kWhole>
  static HWY_INLINE void TurnSquare(const InnerAxisArgs& args, int64_t x, int64_t first_row,
                                    V (&v)[kLanes]) {
    const int64_t step = SrcStep(args);
    const void* start = ElementAt<Src>(args.row, x - args.row_origin * args.channels, step);
    for (size_t r = 0; r < kLanes; ++r) {
      const int64_t row = HWY_MIN(first_row + static_cast<int64_t>(r), args.rows - 1);
      const Src* from = ElementAt<Src>(start, row, args.row_bytes);
      if constexpr (kWhole) {
        v[r] = LoadElements<Types::kSrcUnitStep>(kD, from, step);
      } else {
        v[r] = LoadSteps(kD, from, step, static_cast<size_t>(args.row_end * args.channels - x));
      }
    }
    Transpose(kD, v);
  }

  // The same where a row ends before the square does.
  static HWY_NOINLINE void TurnLastSquare(const InnerAxisArgs& args, int64_t x, int64_t first_row,
                                          V (&v)[kLanes]) {
    TurnSquare<false>(args, x, first_row, v);
  }

  template <size_t kVectors>
  static HWY_INLINE void Turn(const InnerAxisArgs& args, const Span& span,
                              Window<kVectors>& window) {
    const int64_t readable = args.row_end * args.channels;
    window.first = span.begin;
    for (int64_t x = span.begin; x < span.end; x += kStep) {
      Real* to = window.values + (x - span.begin) * window.kRows;
      for (size_t i = 0; i < kVectors; ++i) {
        V v[kLanes];
        const int64_t first_row = static_cast<int64_t>(i) * kStep;
        if (x + kStep <= readable) {
          TurnSquare<true>(args, x, first_row, v);
        } else {
          TurnLastSquare(args, x, first_row, v);
        }
        for (size_t r = 0; r < kLanes; ++r) {
          hn::Store(v[r], kD, to + static_cast<int64_t>(r) * window.kRows + first_row);
        }
      }
    }
  }

  // Adds taps [begin, end) of output o to the sums; `column` is where the element that deltas count
  // from stands in a window, or would.
  template <size_t kVectors>
  static HWY_INLINE void AddTaps(const InnerAxisArgs& args, int64_t o, size_t begin, size_t end,
                                 const Real* column, V (&sum)[kVectors]) {
    const int32_t* delta = args.table->delta(o).data();
    const Real* weight = WeightsOf<Real>(*args.table, o);
    const int64_t pixel = args.channels * Window<kVectors>::kRows;
    for (size_t k = begin; k < end; ++k) {
      const V w = hn::Set(kD, weight[k]);
      const Real* from = column + delta[k] * pixel;
      for (size_t i = 0; i < kVectors; ++i) {
        sum[i] = hn::MulAdd(w, hn::Load(kD, from + i * kLanes), sum[i]);
      }
    }
  }

  // The sums of output o, channel c, all of whose taps stand in the window.
  template <size_t kVectors>
  static HWY_INLINE void SumTaps(const InnerAxisArgs& args, int64_t o, int64_t c,
                                 const Window<kVectors>& window, V (&sum)[kVectors]) {
    const size_t taps = args.table->delta(o).size();
    for (V& v : sum) v = hn::Zero(kD);
    if (taps == 0) return;
    const Real* column = window.At(args.table->base(o) * args.channels + c);
    if (taps <= kSumBlock) return AddTaps(args, o, 0, taps, column, sum);
    BlockTotal<D> total[kVectors];
    for (size_t k = 0; k < taps; k += kSumBlock) {
      for (V& v : sum) v = hn::Zero(kD);
      AddTaps(args, o, k, HWY_MIN(k + kSumBlock, taps), column, sum);
      for (size_t i = 0; i < kVectors; ++i) total[i].Close(kD, sum[i]);
    }
    for (size_t i = 0; i < kVectors; ++i) sum[i] = total[i].Value(kD);
  }

  // The same where no window holds them all: it is filled again and again.
  template <size_t kVectors>
  static HWY_NOINLINE void SumManyTaps(const InnerAxisArgs& args, int64_t o, int64_t c,
                                       Window<kVectors>& window, V (&sum)[kVectors]) {
    const std::span<const int32_t> delta = args.table->delta(o);
    const int64_t base = args.table->base(o);
    BlockTotal<D> total[kVectors];
    for (size_t k = 0; k < delta.size();) {
      if (k % kSumBlock == 0) {
        for (V& v : sum) v = hn::Zero(kD);
      }
      const size_t block_end = HWY_MIN((k / kSumBlock + 1) * kSumBlock, delta.size());
      size_t end = k + 1;
      while (end < block_end && (delta[end] + 1 - delta[k]) * args.channels <= window.kColumns) {
        ++end;
      }
      Turn(args, {(base + delta[k]) * args.channels, (base + delta[end - 1] + 1) * args.channels},
           window);
      AddTaps(args, o, k, end, window.At(base * args.channels + c), sum);
      k = end;
      if (k < block_end) continue;
      for (size_t i = 0; i < kVectors; ++i) total[i].Close(kD, sum[i]);
    }
    for (size_t i = 0; i < kVectors; ++i) sum[i] = total[i].Value(kD);
  }

  // Stores kLanes output elements from `at` on, columns of the rows from first_row on; those from
  // `end` on do not exist.
  static HWY_INLINE void StoreSquare(const InnerAxisArgs& args, int64_t at, int64_t end,
                                     int64_t first_row, V (&v)[kLanes]) {
    Transpose(kD, v);
    char* start = reinterpret_cast<char*>(
        ElementAt<Dst>(args.dst, at - args.begin * args.channels, DstStep(args)));
    const int64_t rows = HWY_MIN(args.rows - first_row, kStep);
    for (int64_t r = 0; r < rows; ++r) {
      Dst* to = ElementAt<Dst>(start, first_row + r, args.dst_row_bytes);
      if (at + kStep <= end) {
        StoreElements<Types::kDstUnitStep>(v[r], kD, to, args.dst_step_bytes);
      } else {
        StoreSteps(v[r], kD, to, DstStep(args), static_cast<size_t>(end - at));
      }
    }
  }

  // kLanes output elements from `at` on; kMany: a window does not hold what they read.
  template <bool kMany, size_t kVectors>
  static HWY_INLINE void Outputs(const InnerAxisArgs& args, int64_t at, int64_t end,
                                 Window<kVectors>& window) {
    V square[kVectors][kLanes];
    int64_t o = at / args.channels;
    int64_t c = at % args.channels;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      V sum[kVectors];
      if (at + static_cast<int64_t>(lane) >= end) {
        for (V& v : sum) v = hn::Zero(kD);
      } else if constexpr (kMany) {
        SumManyTaps(args, o, c, window, sum);
      } else {
        SumTaps(args, o, c, window, sum);
      }
      for (size_t i = 0; i < kVectors; ++i) square[i][lane] = hn::Add(sum[i], hn::Zero(kD));
      if (++c == args.channels) {
        c = 0;
        ++o;
      }
    }
    for (size_t i = 0; i < kVectors; ++i) {
      const int64_t first_row = static_cast<int64_t>(i) * kStep;
      if (first_row < args.rows) StoreSquare(args, at, end, first_row, square[i]);
    }
  }

  // All outputs of at most kVectors * kLanes rows.
  template <size_t kVectors>
  static HWY_NOINLINE void Rows(const InnerAxisArgs& args) {
    Window<kVectors> window;
    const int64_t end = args.end * args.channels;
    const int64_t group = taps::TapTable::kGroup * args.channels;
    int64_t at = args.begin * args.channels;
    while (at < end) {
      int64_t stop = at + kStep;
      Span span = ReachOf(args, at, HWY_MIN(stop, end));
      if (span.end - span.begin > window.kColumns) {
        Outputs<true>(args, at, end, window);
        at = stop;
        continue;
      }
      // As many whole vectors of outputs, a group more each time, as the window suffices for.
      while (stop < end) {
        const int64_t next = stop + group;
        const Span more = ReachOf(args, at, HWY_MIN(next, end));
        if (more.end - more.begin > window.kColumns) break;
        span = more;
        stop = next;
      }
      Turn(args, span, window);
      for (; at < HWY_MIN(stop, end); at += kStep) Outputs<false>(args, at, end, window);
    }
  }

  static void Run(const InnerAxisArgs& args) noexcept {
    constexpr size_t kVectors = HWY_MAX(size_t{1}, 16 / kLanes);
    InnerAxisArgs rest = args;
    for (int64_t r = 0; r < args.rows; r += static_cast<int64_t>(kVectors) * kStep) {
      rest.rows = args.rows - r;
      rest.row = static_cast<const char*>(args.row) + r * args.row_bytes;
      rest.dst = static_cast<char*>(args.dst) + r * args.dst_row_bytes;
      if (kVectors > 1 && rest.rows <= static_cast<int64_t>(kVectors / 2) * kStep) {
        Rows<HWY_MAX(size_t{1}, kVectors / 2)>(rest);
      } else {
        Rows<kVectors>(rest);
      }
    }
  }
};

InnerAxisKernel SelectInnerAxisHere(const ElementKey& key) {
  return VisitElements(
      key, [](auto types) -> InnerAxisKernel { return &InnerAxis<decltype(types)>::Run; });
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace opscv::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opscv::kernels {

HWY_EXPORT(SelectInnerAxisHere);

InnerAxisKernel SelectInnerAxis(const ElementKey& key) {
  return HWY_DYNAMIC_DISPATCH(SelectInnerAxisHere)(key);
}

}  // namespace opscv::kernels
#endif  // HWY_ONCE
