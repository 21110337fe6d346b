// SPDX-License-Identifier: Apache-2.0
// The pass along the innermost axis by bands: a vector holds neighbouring output elements, every
// input element that one of them reads is multiplied into all of them, with weight zero where a
// lane does not read it. Compiled once per CPU target.

// Per-target include guard, as Highway wants it: toggled, not defined once.
#if defined(OPSCV_KERNELS_BANDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSCV_KERNELS_BANDS_INL_H_
#undef OPSCV_KERNELS_BANDS_INL_H_
#else
#define OPSCV_KERNELS_BANDS_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernels/convert-inl.h"
#include "kernels/inner_axis/inner_axis.h"

HWY_BEFORE_NAMESPACE();
namespace opscv::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// For one choice of types. A product with weight zero is a zero and changes no sum, unless the
// element is not finite: such sums are found, and left to another kernel.
template <typename Types>
struct InnerBands {
  using Src = typename Types::SrcType;
  using Dst = typename Types::DstType;
  using Real = Compute<Src>;
  using D = hn::ScalableTag<Real>;
  using V = hn::Vec<D>;
  static constexpr D kD{};
  static constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
  static constexpr bool kInPlace = Types::kSrcUnitStep && std::is_same_v<Src, Real>;

  // Rows at a time: as many independent chains of multiply-adds as hide their latency of four
  // cycles at two a cycle, and few enough for 16 registers.
  static constexpr int64_t kDeep = 8;

  // Elements of kDeep rows in the type of computation: half of a first-level cache of 32 KiB.
  static constexpr int64_t kCopied = 16384 / (kDeep * sizeof(Real));
  struct Copies {
    HWY_ALIGN Real values[kDeep * kCopied];
  };

  // The rows that a few rows of outputs are made of, and how many there are.
  struct Source {
    const Real* first;  // element `origin` of the first row
    int64_t origin;
    int64_t row_step;  // elements from a row to the next
    int64_t rows;
  };

  // Blocks of outputs.
  struct Range {
    int64_t begin;
    int64_t end;
  };

  static HWY_INLINE int64_t DstStep(const InnerAxisArgs& args) {
    return Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes;
  }

  // The sums of a block; `weight` is its first, and `origin` the element that rows begin with.
  template <int64_t kRows>
  static HWY_INLINE void Sum(const BandTable::Block& block, const Real* HWY_RESTRICT weight,
                             int64_t origin, const Real* const (&row)[kRows], V (&sum)[kRows],
                             V& check) {
    const int64_t end = block.first - origin + block.count;
    for (V& v : sum) v = hn::Zero(kD);
    for (int64_t x = block.first - origin; x < end; ++x, weight += kLanes) {
      const V w = hn::Load(kD, weight);
      for (int64_t r = 0; r < kRows; ++r) sum[r] = hn::MulAdd(w, hn::Set(kD, row[r][x]), sum[r]);
    }
    for (const V& v : sum) check = hn::Or(check, hn::Mul(v, hn::Zero(kD)));
  }

  // The blocks of at most kRows rows, from `to` on. Adds NaN to `check` where a sum is not finite.
  template <int64_t kRows>
  static HWY_NOINLINE void Blocks(const InnerAxisArgs& args, const Source& source, Range range,
                                  char* to, V& check) {
    // Local copies, since the compiler must assume that stores change whatever is reached by
    // reference.
    const int64_t rows = HWY_MIN(source.rows, kRows);
    const int64_t origin = source.origin;
    const int64_t row_bytes = args.dst_row_bytes;
    const int64_t step = DstStep(args);
    const int64_t outputs = args.end * args.channels;
    const BandTable::Block* blocks = args.bands->blocks();
    const auto* weights = static_cast<const Real*>(args.bands->weights());
    const Real* row[kRows];
    for (int64_t r = 0; r < kRows; ++r) {
      row[r] = source.first + HWY_MIN(r, rows - 1) * source.row_step;
    }
    const int64_t whole = rows == kRows ? HWY_MIN(range.end, outputs / kLanes) : range.begin;
    V found = check;
    int64_t b = range.begin;
    for (; b < whole; ++b, to += kLanes * step) {
      V sum[kRows];
      Sum<kRows>(blocks[b], weights + blocks[b].place, origin, row, sum, found);
      char* at = to;
      for (int64_t r = 0; r < kRows; ++r, at += row_bytes) {
        StoreElements<Types::kDstUnitStep>(hn::Add(sum[r], hn::Zero(kD)), kD,
                                           reinterpret_cast<Dst*>(at), step);
      }
    }
    for (; b < range.end; ++b, to += kLanes * step) {
      V sum[kRows];
      Sum<kRows>(blocks[b], weights + blocks[b].place, origin, row, sum, found);
      const auto count = static_cast<size_t>(HWY_MIN(outputs - b * kLanes, kLanes));
      for (int64_t r = 0; r < rows; ++r) {
        StoreSteps(hn::Add(sum[r], hn::Zero(kD)), kD, reinterpret_cast<Dst*>(to + r * row_bytes),
                   step, count);
      }
    }
    check = found;
  }

  // The blocks of at most kDeep rows.
  static HWY_NOINLINE void FewRows(const InnerAxisArgs& args, const Source& source, Range range,
                                   int64_t first_row, V& check) {
    char* to = static_cast<char*>(args.dst) + first_row * args.dst_row_bytes +
               (range.begin * kLanes - args.begin * args.channels) * DstStep(args);
    if (source.rows > kDeep / 2) {
      Blocks<kDeep>(args, source, range, to, check);
    } else {
      Blocks<kDeep / 2>(args, source, range, to, check);
    }
  }

  // The elements [begin, end) of the rows from first_row on, as Real and touching.
  static HWY_INLINE Source Copy(const InnerAxisArgs& args, int64_t first_row, int64_t begin,
                                int64_t end, Copies& copies) {
    const int64_t step = Types::kSrcUnitStep ? sizeof(Src) : args.src_step_bytes;
    const int64_t rows = HWY_MIN(args.rows - first_row, kDeep);
    for (int64_t r = 0; r < rows; ++r) {
      const Src* row = ElementAt<Src>(args.row, first_row + r, args.row_bytes);
      const Src* from = ElementAt<Src>(row, begin - args.row_origin * args.channels, step);
      Real* to = copies.values + r * kCopied;
      int64_t x = 0;
      for (; x + kLanes <= end - begin; x += kLanes) {
        hn::Store(LoadElements<Types::kSrcUnitStep>(kD, ElementAt<Src>(from, x, step), step), kD,
                  to + x);
      }
      for (; x < end - begin; ++x) to[x] = static_cast<Real>(Widen(*ElementAt<Src>(from, x, step)));
    }
    return {copies.values, begin, kCopied, rows};
  }

  // As many blocks at a time as there is room for copies of what they read. False where there is
  // not enough for one.
  static HWY_NOINLINE bool CopiedRows(const InnerAxisArgs& args, Range range, int64_t first_row,
                                      V& check) {
    const BandTable::Block* blocks = args.bands->blocks();
    Copies copies;
    while (range.begin < range.end) {
      int64_t low = blocks[range.begin].first;
      int64_t high = low;
      int64_t stop = range.begin;
      for (; stop < range.end; ++stop) {
        const BandTable::Block& next = blocks[stop];
        if (next.count == 0) continue;
        const int64_t lowest = high == low ? next.first : HWY_MIN(low, next.first);
        const int64_t highest = HWY_MAX(high, next.first + next.count);
        if (highest - lowest > kCopied) break;
        low = lowest;
        high = highest;
      }
      if (stop == range.begin) return false;
      FewRows(args, Copy(args, first_row, low, high, copies), {range.begin, stop}, first_row,
              check);
      range.begin = stop;
    }
    return true;
  }

  // Whether the arguments have bands, of whole blocks.
  static HWY_INLINE bool Applies(const InnerAxisArgs& args) {
    return args.bands != nullptr && args.begin * args.channels % kLanes == 0 &&
           (args.end * args.channels % kLanes == 0 || args.end == args.table->rows());
  }

  // False where a sum was not finite, or a block reads too much: then all is to be made again.
  static HWY_INLINE bool Run(const InnerAxisArgs& args) {
    const Range range{args.begin * args.channels / kLanes,
                      (args.end * args.channels + kLanes - 1) / kLanes};
    V check = hn::Zero(kD);
    for (int64_t r = 0; r < args.rows; r += kDeep) {
      if constexpr (kInPlace) {
        const Source source{ElementAt<Src>(args.row, r, args.row_bytes),
                            args.row_origin * args.channels,
                            args.row_bytes / static_cast<int64_t>(sizeof(Real)), args.rows - r};
        FewRows(args, source, range, r, check);
      } else {
        if (!CopiedRows(args, range, r, check)) return false;
      }
    }
    return hn::AllTrue(kD, hn::Eq(check, check));
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace opscv::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
