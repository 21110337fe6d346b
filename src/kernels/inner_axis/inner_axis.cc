// SPDX-License-Identifier: Apache-2.0
#include "kernels/inner_axis/inner_axis.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/inner_axis/inner_axis.cc"
#include <hwy/foreach_target.h>

#include <span>
// After foreach_target.h, which wants to come first.
#include "kernels/convert-inl.h"
#include "kernels/inner_axis/bands-inl.h"
#include "kernels/inner_axis/weights.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opscv::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

InnerAxisKernel SelectInnerAxisHere(const ElementKey& key) { return SelectInnerAxisReference(key); }
int64_t InnerAxisLanesHere(DType /*real*/) { return 0; }

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

  // A table's arrays, and the channels of a pixel. A local copy, since the compiler must assume
  // that stores change whatever is reached by reference. kPlain: pixels of one channel, taps
  // without gaps.
  template <bool kPlain>
  struct Taps {
    const int64_t* base;
    const int64_t* place;
    const int32_t* delta;
    const Real* weight;
    int64_t channels;

    HWY_INLINE explicit Taps(const InnerAxisArgs& args)
        : base(args.table->bases()),
          place(args.table->places()),
          delta(args.table->delta(0).data()),
          weight(WeightsOf<Real>(*args.table, 0)),
          channels(args.channels) {}
    // The element of the k-th tap, where k counts over all rows, from row o's base on.
    [[nodiscard]] HWY_INLINE int64_t Element(int64_t o, int64_t k) const {
      return kPlain ? k - place[o] : delta[k] * channels;
    }
    // Of channel c of the sample that row o begins with.
    [[nodiscard]] HWY_INLINE int64_t First(int64_t o, int64_t c) const {
      return kPlain ? base[o] : base[o] * channels + c;
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

  // What the output elements [begin, end) read.
  static HWY_INLINE Span ReachOfFew(const InnerAxisArgs& args, int64_t begin, int64_t end) {
    int64_t low = args.row_end;
    int64_t high = args.row_origin;
    for (int64_t o = begin / args.channels; o * args.channels < end; ++o) {
      if (args.table->delta(o).empty()) continue;
      low = HWY_MIN(low, args.table->base(o));
      high = HWY_MAX(high, args.table->end(o));
    }
    return {low * args.channels, high * args.channels};
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

  // Adds taps [begin, end), counted over all rows, of output o to the sums; `column` is where the
  // element that deltas count from stands in a window, or would.
  template <bool kPlain, size_t kVectors>
  static HWY_INLINE void AddTaps(const Taps<kPlain>& taps, int64_t o, int64_t begin, int64_t end,
                                 const Real* column, V (&sum)[kVectors]) {
    for (int64_t k = begin; k < end; ++k) {
      const V w = hn::Set(kD, taps.weight[k]);
      const Real* from = column + taps.Element(o, k) * Window<kVectors>::kRows;
      for (size_t i = 0; i < kVectors; ++i) {
        sum[i] = hn::MulAdd(w, hn::Load(kD, from + i * kLanes), sum[i]);
      }
    }
  }

  // The sums of output o, channel c, all of whose taps stand in the window.
  template <bool kPlain, size_t kVectors>
  static HWY_INLINE void SumTaps(const Taps<kPlain>& taps, int64_t o, int64_t c,
                                 const Window<kVectors>& window, V (&sum)[kVectors]) {
    constexpr auto kBlock = static_cast<int64_t>(kSumBlock);
    const int64_t begin = taps.place[o];
    const int64_t end = taps.place[o + 1];
    for (V& v : sum) v = hn::Zero(kD);
    if (begin == end) return;
    const Real* column = window.At(taps.First(o, c));
    if (end - begin <= kBlock) return AddTaps(taps, o, begin, end, column, sum);
    BlockTotal<D> total[kVectors];
    for (int64_t k = begin; k < end; k += kBlock) {
      for (V& v : sum) v = hn::Zero(kD);
      AddTaps(taps, o, k, HWY_MIN(k + kBlock, end), column, sum);
      for (size_t i = 0; i < kVectors; ++i) total[i].Close(kD, sum[i]);
    }
    for (size_t i = 0; i < kVectors; ++i) sum[i] = total[i].Value(kD);
  }

  // The same where no window holds them all: it is filled again and again.
  template <size_t kVectors>
  static HWY_NOINLINE void SumManyTaps(const InnerAxisArgs& args, int64_t o, int64_t c,
                                       Window<kVectors>& window, V (&sum)[kVectors]) {
    const Taps<false> taps(args);
    const std::span<const int32_t> delta = args.table->delta(o);
    const int64_t base = taps.base[o];
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
      AddTaps(taps, o, taps.place[o] + static_cast<int64_t>(k),
              taps.place[o] + static_cast<int64_t>(end), window.At(taps.First(o, c)), sum);
      k = end;
      if (k < block_end) continue;
      for (size_t i = 0; i < kVectors; ++i) total[i].Close(kD, sum[i]);
    }
    for (size_t i = 0; i < kVectors; ++i) sum[i] = total[i].Value(kD);
  }

  // Stores kLanes output elements from `at` on, columns of kLanes rows from first_row on.
  static HWY_INLINE void StoreSquare(const InnerAxisArgs& args, int64_t at, int64_t first_row,
                                     V (&v)[kLanes]) {
    const int64_t row_bytes = args.dst_row_bytes;
    const void* start = ElementAt<Dst>(args.dst, at - args.begin * args.channels, DstStep(args));
    char* row = const_cast<char*>(static_cast<const char*>(start)) + first_row * row_bytes;
    for (size_t r = 0; r < kLanes; ++r) {
      StoreElements<Types::kDstUnitStep>(v[r], kD, reinterpret_cast<Dst*>(row),
                                         args.dst_step_bytes);
      row += row_bytes;
    }
  }

  // The same at the edges: of elements from `end` on, and of rows that are missing, nothing.
  static HWY_NOINLINE void StoreEdge(const InnerAxisArgs& args, int64_t at, int64_t end,
                                     int64_t first_row, const V (&v)[kLanes]) {
    const auto count = static_cast<size_t>(HWY_MIN(end - at, kStep));
    const int64_t rows = HWY_MIN(args.rows - first_row, kStep);
    for (int64_t r = 0; r < rows; ++r) {
      char* row = static_cast<char*>(args.dst) + (first_row + r) * args.dst_row_bytes;
      Dst* to = ElementAt<Dst>(row, at - args.begin * args.channels, DstStep(args));
      StoreSteps(v[r], kD, to, DstStep(args), count);
    }
  }

  // kLanes output elements from `at` on; kMany: a window does not hold what they read.
  template <bool kMany, bool kPlain, size_t kVectors>
  static HWY_INLINE void Outputs(const InnerAxisArgs& args, const Taps<kPlain>& taps, int64_t at,
                                 int64_t end, Window<kVectors>& window) {
    V square[kVectors][kLanes];
    int64_t o = kPlain ? at : at / taps.channels;
    int64_t c = kPlain ? 0 : at % taps.channels;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      V sum[kVectors];
      if (at + static_cast<int64_t>(lane) >= end) {
        for (V& v : sum) v = hn::Zero(kD);
      } else if constexpr (kMany) {
        SumManyTaps(args, o, c, window, sum);
      } else {
        SumTaps(taps, o, c, window, sum);
      }
      for (size_t i = 0; i < kVectors; ++i) square[i][lane] = hn::Add(sum[i], hn::Zero(kD));
      if (kPlain || ++c == taps.channels) {
        c = 0;
        ++o;
      }
    }
    for (size_t i = 0; i < kVectors; ++i) {
      const int64_t first_row = static_cast<int64_t>(i) * kStep;
      Transpose(kD, square[i]);
      if (first_row + kStep <= args.rows && at + kStep <= end) {
        StoreSquare(args, at, first_row, square[i]);
      } else {
        StoreEdge(args, at, end, first_row, square[i]);
      }
    }
  }

  // All outputs of at most kVectors * kLanes rows.
  template <bool kPlain, size_t kVectors>
  static HWY_NOINLINE void Rows(const InnerAxisArgs& args) {
    const Taps<kPlain> taps(args);
    Window<kVectors> window;
    const int64_t end = args.end * args.channels;
    const int64_t group = taps::TapTable::kGroup * args.channels;
    int64_t at = args.begin * args.channels;
    while (at < end) {
      int64_t stop = at + kStep;
      Span span = ReachOfFew(args, at, HWY_MIN(stop, end));
      if (span.end - span.begin > window.kColumns) {
        Outputs<true>(args, taps, at, end, window);
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
      for (; at < HWY_MIN(stop, end); at += kStep) Outputs<false>(args, taps, at, end, window);
    }
  }

  template <size_t kVectors>
  static HWY_INLINE void AnyTaps(const InnerAxisArgs& args) {
    // Elements that lie apart are gathered one by one, which leaves nothing to gain.
    constexpr bool kDense = Types::kSrcUnitStep && Types::kDstUnitStep;
    if (kDense && args.channels == 1 && args.table->dense()) return Rows<kDense, kVectors>(args);
    Rows<false, kVectors>(args);
  }

  static void Run(const InnerAxisArgs& args) noexcept {
    if (InnerBands<Types>::Applies(args) && InnerBands<Types>::Run(args)) return;
    constexpr size_t kVectors = HWY_MAX(size_t{1}, 16 / kLanes);
    InnerAxisArgs rest = args;
    for (int64_t r = 0; r < args.rows; r += static_cast<int64_t>(kVectors) * kStep) {
      rest.rows = args.rows - r;
      rest.row = static_cast<const char*>(args.row) + r * args.row_bytes;
      rest.dst = static_cast<char*>(args.dst) + r * args.dst_row_bytes;
      if (rest.rows <= static_cast<int64_t>(kVectors / 2) * kStep) {
        AnyTaps<HWY_MAX(size_t{1}, kVectors / 2)>(rest);
      } else {
        AnyTaps<kVectors>(rest);
      }
    }
  }
};

InnerAxisKernel SelectInnerAxisHere(const ElementKey& key) {
  return VisitElements(
      key, [](auto types) -> InnerAxisKernel { return &InnerAxis<decltype(types)>::Run; });
}

int64_t InnerAxisLanesHere(DType real) {
  if (real == DType::kFloat64) return static_cast<int64_t>(hn::Lanes(hn::ScalableTag<double>()));
  return static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>()));
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace opscv::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opscv::kernels {

HWY_EXPORT(SelectInnerAxisHere);
HWY_EXPORT(InnerAxisLanesHere);

InnerAxisKernel SelectInnerAxis(const ElementKey& key) {
  return HWY_DYNAMIC_DISPATCH(SelectInnerAxisHere)(key);
}

int64_t InnerAxisLanes(DType real) { return HWY_DYNAMIC_DISPATCH(InnerAxisLanesHere)(real); }

}  // namespace opscv::kernels
#endif  // HWY_ONCE
