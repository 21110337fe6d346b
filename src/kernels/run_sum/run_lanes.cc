// SPDX-License-Identifier: Apache-2.0
#include "kernels/run_sum/run_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/run_sum/run_lanes.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which wants to come first.
#include "kernels/convert-inl.h"
#include "kernels/lookup-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opscv::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

RunLanesKernel SelectRunLanesHere(const ElementKey& key) { return SelectRunLanesReference(key); }

#else

// The kernel for one choice of types: a vector holds neighbouring outputs, one member of each
// window at a time; a window that has no member left keeps its sum by a mask.
template <typename Types>
struct RunLanes {
  using Real = typename Types::SrcType;
  using Dst = typename Types::DstType;
  using D = hn::ScalableTag<Real>;
  using V = hn::Vec<D>;
  using DIndex = hn::RebindToSigned<D>;
  using TIndex = hn::TFromD<DIndex>;
  using VIndex = hn::Vec<DIndex>;
  static constexpr D kD{};

  // Vectors of four lanes hold too little of a window to be worth a lookup.
  static constexpr bool kLooksUp = HWY_MAX_BYTES >= 32;

  static HWY_INLINE int64_t DstStep(const RunLanesArgs& args) {
    return Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes;
  }

  static HWY_INLINE VIndex LoadInts(const int32_t* from) {
    if constexpr (sizeof(Real) == 8) {
      const hn::Rebind<int32_t, DIndex> d32;
      return hn::PromoteTo(DIndex(), hn::LoadU(d32, from));
    } else {
      return hn::LoadU(DIndex(), from);
    }
  }

  // The windows of one vector of outputs.
  struct Lanes {
    VIndex first;  // from `row` on
    VIndex count;
    const Real* row;
    size_t members;  // no window has more
  };

  // The k-th member of every window, one by one. Lanes without it read their block's first sample,
  // which is there since some lane has a member, and ignore it.
  struct Gathered {
    const Lanes& lanes;
    HWY_INLINE V operator()(size_t k) const {
      const VIndex step = hn::Set(DIndex(), static_cast<TIndex>(k));
      const VIndex index =
          hn::IfThenElseZero(hn::Gt(lanes.count, step), hn::Add(lanes.first, step));
      return hn::GatherIndex(kD, lanes.row, index);
    }
  };

  // The same where all windows begin within kVectors vectors: a member later, every lane reads a
  // sample later, so one set of indices serves all members.
  template <size_t kVectors>
  struct LookedUp {
    const WindowLookup<D, kVectors> lookup;
    const Real* window;
    HWY_INLINE V operator()(size_t k) const { return lookup.From(window + k); }
  };

  // Members [begin, end) of each lane's window.
  template <class Member>
  static HWY_INLINE V SumBlock(const Lanes& lanes, const Member& member, size_t begin, size_t end) {
    V sum = hn::Set(kD, Real{-0.0});
    for (size_t k = begin; k < end; ++k) {
      const auto has_member = hn::Gt(lanes.count, hn::Set(DIndex(), static_cast<TIndex>(k)));
      sum = hn::IfThenElse(hn::RebindMask(kD, has_member), hn::Add(sum, member(k)), sum);
    }
    return sum;
  }

  template <class Member>
  static HWY_INLINE V SumMembers(const Lanes& lanes, const Member& member) {
    V sum = SumBlock(lanes, member, 0, HWY_MIN(lanes.members, kSumBlock));
    if (lanes.members > kSumBlock) {
      BlockTotal<D> total;
      total.Close(kD, sum);
      for (size_t begin = kSumBlock; begin < lanes.members; begin += kSumBlock) {
        total.Close(kD, SumBlock(lanes, member, begin, HWY_MIN(begin + kSumBlock, lanes.members)));
      }
      sum = total.Value(kD);
    }
    const auto empty = hn::Eq(lanes.count, hn::Zero(DIndex()));
    return hn::IfThenZeroElse(hn::RebindMask(kD, empty), sum);
  }

  // Where the windows of the vector at `at` begin.
  static HWY_INLINE WindowTable::Half HalfAt(const WindowTable& table, size_t at) {
    const WindowTable::Half& half = table.halves[at / (kWindowBlock / 2)];
    if (hn::Lanes(kD) <= kWindowBlock / 2) return half;
    const WindowTable::Half& next = table.halves[at / (kWindowBlock / 2) + 1];
    const int32_t start = HWY_MIN(half.start, next.start);
    const int32_t end = HWY_MAX(half.start + half.span, next.start + next.span);
    return {start, end - start};
  }

  // The sums of one vector by lookups in kVectors vectors, or false where a window does not fit
  // them or would reach past `samples`, the samples there are from lanes.row on.
  template <size_t kVectors>
  static HWY_INLINE bool SumByLookup(const Lanes& lanes, const WindowTable::Half& half,
                                     int64_t samples, V& sum) {
    const auto width = static_cast<int64_t>(kVectors * hn::Lanes(kD));
    const int64_t latest = samples - width - static_cast<int64_t>(lanes.members) + 1;
    const int64_t start = HWY_MIN(int64_t{half.start}, latest);
    if (start < 0 || half.start - start + half.span >= width) return false;
    const VIndex index = hn::Sub(lanes.first, hn::Set(DIndex(), static_cast<TIndex>(start)));
    sum =
        SumMembers(lanes, LookedUp<kVectors>{WindowLookup<D, kVectors>(index), lanes.row + start});
    return true;
  }

  static HWY_INLINE V SumLanes(const RunLanesArgs& args, const WindowTable::Block& block,
                               size_t at) {
    const WindowTable& table = *args.table;
    const Lanes lanes{LoadInts(table.first.data() + at), LoadInts(table.count.data() + at),
                      static_cast<const Real*>(args.row) + (block.base - args.row_origin),
                      static_cast<size_t>(block.max_count)};
    V sum;
    if constexpr (kLooksUp) {
      const WindowTable::Half half = HalfAt(table, at);
      const int64_t samples = args.row_end - block.base;
      if (SumByLookup<1>(lanes, half, samples, sum)) return sum;
      if (SumByLookup<2>(lanes, half, samples, sum)) return sum;
    }
    return SumMembers(lanes, Gathered{lanes});
  }

  static HWY_INLINE void WholeBlock(const RunLanesArgs& args, const WindowTable::Block& block,
                                    int64_t output) {
    const size_t lanes = hn::Lanes(kD);
    const auto valid = static_cast<size_t>(HWY_MIN(kWindowBlock, args.table->rows - output));
    for (size_t lane = 0; lane < valid; lane += lanes) {
      const V sum = SumLanes(args, block, static_cast<size_t>(output) + lane);
      const int64_t x = output - args.begin + static_cast<int64_t>(lane);
      Dst* to = ElementAt<Dst>(args.dst, x, DstStep(args));
      if (lane + lanes <= valid) {
        StoreElements<Types::kDstUnitStep>(sum, kD, to, args.dst_step_bytes);
      } else {
        StoreSteps(sum, kD, to, DstStep(args), valid - lane);
      }
    }
  }

  static void Run(const RunLanesArgs& args) noexcept {
    const WindowTable& table = *args.table;
    RunLanesArgs rest = args;
    while (rest.begin < args.end) {
      const int64_t o = rest.begin;
      const WindowTable::Block& block = table.blocks[static_cast<size_t>(o / kWindowBlock)];
      const int64_t block_end = HWY_MIN((o / kWindowBlock + 1) * kWindowBlock, table.rows);
      rest.end = HWY_MIN(block_end, args.end);
      rest.dst = ElementAt<Dst>(args.dst, o - args.begin, DstStep(args));
      if (o % kWindowBlock == 0 && block_end <= args.end && block.max_count > 0) {
        WholeBlock(rest, block, o);
      } else {
        // Blocks cut by `begin` or `end`: additions need no FMA, so plain loops give these bits.
        Plain(rest);
      }
      rest.begin = rest.end;
    }
  }

  static void Plain(const RunLanesArgs& args) {
    const ElementKey key = {.src = DTypeOf<Real>(),
                            .dst = DTypeOf<Dst>(),
                            .src_unit_step = true,
                            .dst_unit_step = Types::kDstUnitStep};
    SelectRunLanesReference(key)(args);
  }
};

RunLanesKernel SelectRunLanesHere(const ElementKey& key) {
  return VisitFromCompute(
      key, [](auto types) -> RunLanesKernel { return &RunLanes<decltype(types)>::Run; });
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace opscv::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opscv::kernels {

HWY_EXPORT(SelectRunLanesHere);

RunLanesKernel SelectRunLanes(const ElementKey& key) {
  return HWY_DYNAMIC_DISPATCH(SelectRunLanesHere)(key);
}

}  // namespace opscv::kernels
#endif  // HWY_ONCE
