// SPDX-License-Identifier: Apache-2.0
#include "kernels/inner_axis/inner_axis.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/inner_axis/inner_axis.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which wants to come first.
#include "kernels/convert-inl.h"
#include "kernels/lookup-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opscv::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

InnerAxisKernel SelectInnerAxisHere(const ElementKey& key) { return SelectInnerAxisReference(key); }

#else

// How the samples of one tap come to their lanes: from a window of one or two vectors, or one by
// one.
enum class Fetch { kOneVector, kTwoVectors, kGather };

// The kernel for one choice of types: a vector holds neighbouring outputs, one tap of each at a
// time. A row that has no tap left in a step keeps its sum by a mask, so it never meets a sample
// that is not its own.
template <typename Types>
struct InnerAxis {
  using Real = typename Types::SrcType;
  using Dst = typename Types::DstType;
  using Table = LaneTable<Real>;
  using D = hn::ScalableTag<Real>;
  using V = hn::Vec<D>;
  using DIndex = hn::RebindToSigned<D>;
  using TIndex = hn::TFromD<DIndex>;
  using VIndex = hn::Vec<DIndex>;
  static constexpr D kD{};

  // Rows that share what is loaded of the table: as many independent sums as hide the latency of a
  // multiply-add with the lookups in between.
  static constexpr size_t kRows = 4;

  // Vectors of four lanes hold too little of a window to be worth a lookup, and outputs that lie
  // apart cost more than their samples.
  static constexpr bool kLooksUp = HWY_MAX_BYTES >= 32 && Types::kDstUnitStep;

  // What the taps of one vector of outputs need.
  struct Lanes {
    const Table& table;
    size_t at;        // place of the first lane's first tap
    size_t min_taps;  // taps that every lane has
    VIndex count;
    const Real* row;   // the sample that indices count from, in the first row
    const Real* last;  // where a window may begin at the latest
    int64_t row_bytes;
  };

  // The 32-bit indices and counts of the table, as wide as the lanes.
  static HWY_INLINE VIndex LoadInts(const int32_t* from) {
    if constexpr (sizeof(Real) == 8) {
      const hn::Rebind<int32_t, DIndex> d32;
      return hn::PromoteTo(DIndex(), hn::LoadU(d32, from));
    } else {
      return hn::LoadU(DIndex(), from);
    }
  }

  static HWY_INLINE int64_t DstStep(const InnerAxisArgs& args) {
    return Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes;
  }

  // The lowest index of the tap at `place` over a vector of lanes.
  static HWY_INLINE int32_t StartOf(const Table& table, size_t place) {
    const int32_t start = table.start[place / kLaneHalf];
    if (hn::Lanes(kD) <= static_cast<size_t>(kLaneHalf)) return start;
    return HWY_MIN(start, table.start[place / kLaneHalf + 1]);
  }

  // The samples of the tap at `place` for every row.
  template <Fetch kFetch, size_t kCount>
  static HWY_INLINE void FetchTap(const Lanes& lanes, size_t place, V (&samples)[kCount]) {
    const VIndex index = LoadInts(lanes.table.index.data() + place);
    if constexpr (kFetch == Fetch::kGather) {
      for (size_t r = 0; r < kCount; ++r) {
        samples[r] = hn::GatherIndex(kD, RowOf(lanes, lanes.row, r), index);
      }
    } else {
      const Real* wanted = lanes.row + StartOf(lanes.table, place);
      const Real* window = HWY_MIN(wanted, lanes.last);
      const auto start = static_cast<TIndex>(window - lanes.row);
      const WindowLookup<D, kFetch == Fetch::kOneVector ? 1 : 2> lookup(
          hn::Sub(index, hn::Set(DIndex(), start)));
      for (size_t r = 0; r < kCount; ++r) samples[r] = lookup.From(RowOf(lanes, window, r));
    }
  }

  static HWY_INLINE const Real* RowOf(const Lanes& lanes, const Real* first, size_t row) {
    return ElementAt<Real>(first, static_cast<int64_t>(row), lanes.row_bytes);
  }

  // Adds the taps [begin, end) to the sums of kCount rows.
  template <Fetch kFetch, size_t kCount>
  static HWY_INLINE void AddTaps(const Lanes& lanes, size_t begin, size_t end, V (&sum)[kCount]) {
    V samples[kCount];
    size_t k = begin;
    for (; k < HWY_MIN(end, lanes.min_taps); ++k) {
      const size_t place = lanes.at + k * kLaneBlock;
      FetchTap<kFetch>(lanes, place, samples);
      const V weight = hn::LoadU(kD, lanes.table.weight.data() + place);
      for (size_t r = 0; r < kCount; ++r) sum[r] = hn::MulAdd(weight, samples[r], sum[r]);
    }
    for (; k < end; ++k) {
      const size_t place = lanes.at + k * kLaneBlock;
      FetchTap<kFetch>(lanes, place, samples);
      const V weight = hn::LoadU(kD, lanes.table.weight.data() + place);
      const auto has_tap =
          hn::RebindMask(kD, hn::Gt(lanes.count, hn::Set(DIndex(), static_cast<TIndex>(k))));
      for (size_t r = 0; r < kCount; ++r) {
        sum[r] = hn::IfThenElse(has_tap, hn::MulAdd(weight, samples[r], sum[r]), sum[r]);
      }
    }
  }

  template <Fetch kFetch, size_t kCount>
  static HWY_INLINE void SumLanes(const Lanes& lanes, size_t taps, V (&sum)[kCount]) {
    for (V& v : sum) v = hn::Zero(kD);
    AddTaps<kFetch>(lanes, 0, HWY_MIN(taps, kSumBlock), sum);
    if (taps <= kSumBlock) return;
    BlockTotal<D> total[kCount];
    for (size_t r = 0; r < kCount; ++r) total[r].Close(kD, sum[r]);
    for (size_t first = kSumBlock; first < taps; first += kSumBlock) {
      for (V& v : sum) v = hn::Zero(kD);
      AddTaps<kFetch>(lanes, first, HWY_MIN(first + kSumBlock, taps), sum);
      for (size_t r = 0; r < kCount; ++r) total[r].Close(kD, sum[r]);
    }
    for (size_t r = 0; r < kCount; ++r) sum[r] = total[r].Value(kD);
  }

  // A block of outputs, whole or the table's last, in kCount rows.
  template <Fetch kFetch, size_t kCount>
  static HWY_INLINE void WholeBlock(const InnerAxisArgs& args, const Table& table,
                                    const LaneBlock& block, int64_t output) {
    constexpr size_t kWindow = kFetch == Fetch::kTwoVectors ? 2 : 1;
    const size_t width = hn::Lanes(kD);
    const Real* first = static_cast<const Real*>(args.row);
    const auto valid = static_cast<size_t>(HWY_MIN(kLaneBlock, table.rows - output));
    for (size_t lane = 0; lane < valid; lane += width) {
      const Lanes lanes{table,
                        static_cast<size_t>(block.first) + lane,
                        static_cast<size_t>(block.min_taps),
                        LoadInts(table.count.data() + static_cast<size_t>(output) + lane),
                        first + (block.base - args.row_origin),
                        first + (args.row_end - args.row_origin) - kWindow * width,
                        args.row_bytes};
      V sum[kCount];
      SumLanes<kFetch>(lanes, static_cast<size_t>(block.max_taps), sum);
      const int64_t x = output - args.begin + static_cast<int64_t>(lane);
      for (size_t r = 0; r < kCount; ++r) {
        char* row = static_cast<char*>(args.dst) + static_cast<int64_t>(r) * args.dst_row_bytes;
        Dst* to = ElementAt<Dst>(row, x, DstStep(args));
        const V value = hn::Add(sum[r], hn::Zero(kD));
        if (lane + width <= valid) {
          StoreElements<Types::kDstUnitStep>(value, kD, to, args.dst_step_bytes);
        } else {
          StoreSteps(value, kD, to, DstStep(args), valid - lane);
        }
      }
    }
  }

  // One output alone: of blocks cut by `begin` or `end`, or with rows too long for lanes. One-lane
  // vectors round as the wide ones do, with FMA or without.
  static HWY_INLINE void One(const InnerAxisArgs& args, const Table& table, const LaneBlock& block,
                             int64_t output) {
    const Real* row = static_cast<const Real*>(args.row) + (block.base - args.row_origin);
    const auto place = static_cast<size_t>(table.place[static_cast<size_t>(output)]);
    const auto taps = static_cast<size_t>(table.count[static_cast<size_t>(output)]);
    const size_t stride = block.interleaved ? kLaneBlock : 1;
    const hn::CappedTag<Real, 1> d1;
    double total = 0.0;
    for (size_t first = 0; first < taps; first += kSumBlock) {
      auto sum = hn::Zero(d1);
      for (size_t k = first; k < HWY_MIN(first + kSumBlock, taps); ++k) {
        const size_t at = place + k * stride;
        sum = hn::MulAdd(hn::Set(d1, table.weight[at]), hn::Set(d1, row[table.index[at]]), sum);
      }
      total += static_cast<double>(hn::GetLane(sum));
    }
    const Real value = static_cast<Real>(total) + Real{0};
    ::opscv::kernels::Narrow(value, ElementAt<Dst>(args.dst, output - args.begin, DstStep(args)));
  }

  // All outputs of kCount rows.
  template <Fetch kFetch, size_t kCount>
  static HWY_NOINLINE void Rows(const InnerAxisArgs& args) {
    const auto& table = *static_cast<const Table*>(args.table);
    int64_t o = args.begin;
    while (o < args.end) {
      const LaneBlock& block = table.blocks[static_cast<size_t>(o / kLaneBlock)];
      const int64_t block_end = HWY_MIN((o / kLaneBlock + 1) * kLaneBlock, table.rows);
      if (block.interleaved && o % kLaneBlock == 0 && block_end <= args.end) {
        WholeBlock<kFetch, kCount>(args, table, block, o);
        o = block_end;
      } else {
        for (size_t r = 0; r < kCount; ++r) One(Shifted(args, r), table, block, o);
        ++o;
      }
    }
  }

  // The same call from its r-th row on.
  static HWY_INLINE InnerAxisArgs Shifted(const InnerAxisArgs& args, size_t r) {
    InnerAxisArgs rest = args;
    rest.row = static_cast<const char*>(args.row) + static_cast<int64_t>(r) * args.row_bytes;
    rest.dst = static_cast<char*>(args.dst) + static_cast<int64_t>(r) * args.dst_row_bytes;
    return rest;
  }

  template <Fetch kFetch>
  static HWY_INLINE void AllRows(const InnerAxisArgs& args) {
    size_t r = 0;
    const auto rows = static_cast<size_t>(args.rows);
    for (; r + kRows <= rows; r += kRows) Rows<kFetch, kRows>(Shifted(args, r));
    for (; r < rows; ++r) Rows<kFetch, 1>(Shifted(args, r));
  }

  static void Run(const InnerAxisArgs& args) noexcept {
    if constexpr (kLooksUp) {
      const auto& table = *static_cast<const Table*>(args.table);
      const auto width = static_cast<int64_t>(hn::Lanes(kD));
      const int64_t window = width <= kLaneHalf ? table.half_window : table.block_window;
      const int64_t samples = args.row_end - args.row_origin;
      if (window <= width && samples >= width) return AllRows<Fetch::kOneVector>(args);
      if (window <= 2 * width && samples >= 2 * width) return AllRows<Fetch::kTwoVectors>(args);
    }
    for (int64_t r = 0; r < args.rows; ++r) {
      Rows<Fetch::kGather, 1>(Shifted(args, static_cast<size_t>(r)));
    }
  }
};

InnerAxisKernel SelectInnerAxisHere(const ElementKey& key) {
  return VisitFromCompute(
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
