// SPDX-License-Identifier: Apache-2.0
#include "kernels/inner_axis/inner_axis.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/inner_axis/inner_axis.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which wants to come first.
#include "kernels/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opscv::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

InnerAxisKernel SelectInnerAxisHere(const ElementKey& key) { return SelectInnerAxisReference(key); }

#else

// The kernel for one choice of types: a vector holds neighbouring outputs, one tap of each at a
// time. A row that has no tap left in a step keeps its sum by a mask, so it never meets a sample
// that is not its own.
template <typename Types>
struct InnerAxis {
  using Real = typename Types::SrcType;
  using Dst = typename Types::DstType;
  using D = hn::ScalableTag<Real>;
  using V = hn::Vec<D>;
  using DIndex = hn::RebindToSigned<D>;
  using VIndex = hn::Vec<DIndex>;
  static constexpr D kD{};

  // The 32-bit indices and counts of the table, as wide as the lanes.
  static HWY_INLINE VIndex LoadInts(const int32_t* from) {
    if constexpr (sizeof(Real) == 8) {
      const hn::Rebind<int32_t, DIndex> d32;
      return hn::PromoteTo(DIndex(), hn::LoadU(d32, from));
    } else {
      return hn::LoadU(DIndex(), from);
    }
  }

  // Adds the taps [begin, end) of the lanes from `at` on, all of which every lane has.
  static HWY_INLINE V AddFull(const LaneTable<Real>& table, size_t at, const Real* row,
                              size_t begin, size_t end, V sum) {
    for (size_t k = begin; k < end; ++k) {
      const size_t place = at + k * kLaneBlock;
      const V x = hn::GatherIndex(kD, row, LoadInts(table.index.data() + place));
      sum = hn::MulAdd(hn::LoadU(kD, table.weight.data() + place), x, sum);
    }
    return sum;
  }

  // The same where some lanes have run out of taps.
  static HWY_INLINE V AddMasked(const LaneTable<Real>& table, size_t at, const Real* row,
                                size_t begin, size_t end, VIndex count, V sum) {
    for (size_t k = begin; k < end; ++k) {
      const size_t place = at + k * kLaneBlock;
      const V x = hn::GatherIndex(kD, row, LoadInts(table.index.data() + place));
      const V next = hn::MulAdd(hn::LoadU(kD, table.weight.data() + place), x, sum);
      const auto has_tap = hn::Gt(count, hn::Set(DIndex(), static_cast<hn::TFromD<DIndex>>(k)));
      sum = hn::IfThenElse(hn::RebindMask(kD, has_tap), next, sum);
    }
    return sum;
  }

  static HWY_INLINE V AddTaps(const LaneTable<Real>& table, const LaneBlock& block, size_t lane,
                              const Real* row, size_t begin, size_t end, VIndex count) {
    const size_t at = static_cast<size_t>(block.first) + lane;
    const size_t full = HWY_MIN(HWY_MAX(begin, static_cast<size_t>(block.min_taps)), end);
    const V sum = AddFull(table, at, row, begin, full, hn::Zero(kD));
    return AddMasked(table, at, row, full, end, count, sum);
  }

  // The sums of the lanes from `lane` on of a block whose first output is `output`.
  static HWY_INLINE V SumLanes(const LaneTable<Real>& table, const LaneBlock& block,
                               int64_t output, size_t lane, const Real* row) {
    const VIndex count = LoadInts(table.count.data() + static_cast<size_t>(output) + lane);
    const auto taps = static_cast<size_t>(block.max_taps);
    if (taps <= kSumBlock) return AddTaps(table, block, lane, row, 0, taps, count);
    BlockTotal<D> total;
    for (size_t first = 0; first < taps; first += kSumBlock) {
      const size_t end = HWY_MIN(first + kSumBlock, taps);
      total.Close(kD, AddTaps(table, block, lane, row, first, end, count));
    }
    return total.Value(kD);
  }

  // One output alone: of blocks cut by `begin` or `end`, or with rows too long for lanes. One-lane
  // vectors round as the wide ones do, with FMA or without.
  static HWY_INLINE void One(const InnerAxisArgs& args, const LaneTable<Real>& table,
                             const LaneBlock& block, int64_t output) {
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

  static HWY_INLINE int64_t DstStep(const InnerAxisArgs& args) {
    return Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes;
  }

  static HWY_INLINE void WholeBlock(const InnerAxisArgs& args, const LaneTable<Real>& table,
                                    const LaneBlock& block, int64_t output) {
    const Real* row = static_cast<const Real*>(args.row) + (block.base - args.row_origin);
    const size_t lanes = hn::Lanes(kD);
    const auto valid = static_cast<size_t>(HWY_MIN(kLaneBlock, table.rows - output));
    for (size_t lane = 0; lane < valid; lane += lanes) {
      const V sum = hn::Add(SumLanes(table, block, output, lane, row), hn::Zero(kD));
      const int64_t x = output - args.begin + static_cast<int64_t>(lane);
      Dst* to = ElementAt<Dst>(args.dst, x, DstStep(args));
      if (lane + lanes <= valid) {
        StoreElements<Types::kDstUnitStep>(sum, kD, to, args.dst_step_bytes);
      } else {
        StoreSteps(sum, kD, to, DstStep(args), valid - lane);
      }
    }
  }

  static void Run(const InnerAxisArgs& args) noexcept {
    const auto& table = *static_cast<const LaneTable<Real>*>(args.table);
    int64_t o = args.begin;
    while (o < args.end) {
      const LaneBlock& block = table.blocks[static_cast<size_t>(o / kLaneBlock)];
      const int64_t block_end = HWY_MIN((o / kLaneBlock + 1) * kLaneBlock, table.rows);
      if (block.interleaved && o % kLaneBlock == 0 && block_end <= args.end) {
        WholeBlock(args, table, block, o);
        o = block_end;
      } else {
        One(args, table, block, o++);
      }
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
