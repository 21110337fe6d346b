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

  // The windows of one vector of outputs, from the start of their block on.
  struct Lanes {
    VIndex first;
    VIndex count;
    int64_t channels;
    size_t members;  // no window has more
  };

  // The k-th member of every window, one by one. Lanes without it read their block's first element,
  // which is there since some lane has a member, and ignore it.
  struct Gathered {
    const Lanes& lanes;
    HWY_INLINE V operator()(const Real* block, size_t k) const {
      const VIndex step = hn::Set(DIndex(), static_cast<TIndex>(k));
      const VIndex apart =
          hn::Set(DIndex(), static_cast<TIndex>(static_cast<int64_t>(k) * lanes.channels));
      const VIndex index =
          hn::IfThenElseZero(hn::Gt(lanes.count, step), hn::Add(lanes.first, apart));
      return hn::GatherIndex(kD, block, index);
    }
  };

  // The same where all windows begin within kVectors vectors: a member later, every lane reads a
  // pixel later, so one set of indices serves all members.
  template <size_t kVectors>
  struct LookedUp {
    const WindowLookup<D, kVectors> lookup;
    int64_t start;  // of the vectors in the block
    int64_t channels;
    HWY_INLINE V operator()(const Real* block, size_t k) const {
      return lookup.From(block + start + static_cast<int64_t>(k) * channels);
    }
  };

  // Adds members [begin, end) of each lane's window.
  template <class Member>
  static HWY_INLINE V AddMembers(const Lanes& lanes, const Member& member, const Real* block,
                                 size_t begin, size_t end, V sum) {
    for (size_t k = begin; k < end; ++k) {
      const auto has_member = hn::Gt(lanes.count, hn::Set(DIndex(), static_cast<TIndex>(k)));
      const V more = hn::Add(sum, member(block, k));
      sum = hn::IfThenElse(hn::RebindMask(kD, has_member), more, sum);
    }
    return sum;
  }

  // What lanes without members hold does not matter, as long as it is cleared at last.
  template <class Member>
  static HWY_INLINE V SumMembers(const Lanes& lanes, const Member& member, const Real* block) {
    const size_t first_end = HWY_MIN(lanes.members, kSumBlock);
    V sum = AddMembers(lanes, member, block, 1, first_end, member(block, 0));
    if (lanes.members > kSumBlock) {
      BlockTotal<D> total;
      total.Close(kD, sum);
      for (size_t begin = kSumBlock; begin < lanes.members; begin += kSumBlock) {
        const size_t end = HWY_MIN(begin + kSumBlock, lanes.members);
        total.Close(kD, AddMembers(lanes, member, block, begin, end, hn::Set(kD, Real{-0.0})));
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

  // One vector of outputs of every row: the first `valid` lanes go to `to` and so on.
  template <class Member>
  static HWY_INLINE void AllRows(const RunLanesArgs& args, const Lanes& lanes, const Member& member,
                                 int64_t base, Dst* to, int64_t valid) {
    const auto* block = static_cast<const Real*>(args.row) + (base - args.row_origin);
    const int64_t row_bytes = args.row_bytes;
    const int64_t dst_row_bytes = args.dst_row_bytes;
    const int64_t step = DstStep(args);
    for (int64_t r = args.rows; r > 0; --r) {
      const V sum = SumMembers(lanes, member, block);
      if (valid >= static_cast<int64_t>(hn::Lanes(kD))) {
        StoreElements<Types::kDstUnitStep>(sum, kD, to, step);
      } else {
        StoreSteps(sum, kD, to, step, static_cast<size_t>(valid));
      }
      block = ElementAt<Real>(block, 1, row_bytes);
      to = ElementAt<Dst>(static_cast<void*>(to), 1, dst_row_bytes);
    }
  }

  // The same by lookups in kVectors vectors; false where a window does not fit them or would reach
  // past the `elements` that there are from the block's base on.
  template <size_t kVectors>
  static HWY_INLINE bool AllRowsByLookup(const RunLanesArgs& args, const Lanes& lanes,
                                         const WindowTable::Half& half, int64_t base, Dst* to,
                                         int64_t valid) {
    const auto width = static_cast<int64_t>(kVectors * hn::Lanes(kD));
    const int64_t reach = (static_cast<int64_t>(lanes.members) - 1) * lanes.channels;
    const int64_t latest = args.row_end - base - width - reach;
    const int64_t start = HWY_MIN(int64_t{half.start}, latest);
    if (start < 0 || half.start - start + half.span >= width) return false;
    const VIndex index = hn::Sub(lanes.first, hn::Set(DIndex(), static_cast<TIndex>(start)));
    const LookedUp<kVectors> member{WindowLookup<D, kVectors>(index), start, lanes.channels};
    AllRows(args, lanes, member, base, to, valid);
    return true;
  }

  static HWY_INLINE void Vector(const RunLanesArgs& args, const WindowTable::Block& block,
                                int64_t at, Dst* to, int64_t valid) {
    const WindowTable& table = *args.table;
    const auto place = static_cast<size_t>(at);
    const Lanes lanes{LoadInts(table.first.data() + place), LoadInts(table.count.data() + place),
                      table.channels, static_cast<size_t>(block.max_count)};
    if constexpr (kLooksUp) {
      const WindowTable::Half half = HalfAt(table, place);
      if (AllRowsByLookup<1>(args, lanes, half, block.base, to, valid)) return;
      if (AllRowsByLookup<2>(args, lanes, half, block.base, to, valid)) return;
    }
    AllRows(args, lanes, Gathered{lanes}, block.base, to, valid);
  }

  static HWY_INLINE void WholeBlock(const RunLanesArgs& args, const WindowTable::Block& block,
                                    int64_t output) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(kD));
    const int64_t end = HWY_MIN(output + kWindowBlock, args.table->rows);
    for (int64_t at = output; at < end; at += lanes) {
      Dst* to = ElementAt<Dst>(args.dst, at - args.begin, DstStep(args));
      Vector(args, block, at, to, end - at);
    }
  }

  // Windows of kCount members each: neighbouring windows are taken apart as they are loaded.
  template <int64_t kCount>
  static HWY_INLINE V SumApart(const Real* from) {
    V v0;
    V v1;
    if constexpr (kCount == 2) {
      hn::LoadInterleaved2(kD, from, v0, v1);
      return hn::Add(v0, v1);
    }
    V v2;
    if constexpr (kCount == 3) {
      hn::LoadInterleaved3(kD, from, v0, v1, v2);
      return hn::Add(hn::Add(v0, v1), v2);
    }
    V v3;
    hn::LoadInterleaved4(kD, from, v0, v1, v2, v3);
    return hn::Add(hn::Add(hn::Add(v0, v1), v2), v3);
  }

  // At least one vector of outputs a row; the last may overlap the one before, which stores the
  // same bits again.
  template <int64_t kCount>
  static HWY_NOINLINE void Uniform(const RunLanesArgs& args) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(kD));
    const int64_t n = args.end - args.begin;
    const int64_t first = args.table->blocks[0].base + args.begin * kCount - args.row_origin;
    for (int64_t r = 0; r < args.rows; ++r) {
      const Real* from = ElementAt<Real>(args.row, r, args.row_bytes) + first;
      void* to = static_cast<char*>(args.dst) + r * args.dst_row_bytes;
      for (int64_t x = 0; x < n; x += lanes) {
        x = HWY_MIN(x, n - lanes);
        StoreElements<Types::kDstUnitStep>(SumApart<kCount>(from + x * kCount), kD,
                                           ElementAt<Dst>(to, x, DstStep(args)),
                                           args.dst_step_bytes);
      }
    }
  }

  static void Run(const RunLanesArgs& args) noexcept {
    const WindowTable& table = *args.table;
    if (args.end - args.begin >= static_cast<int64_t>(hn::Lanes(kD))) {
      if (table.uniform == 2) return Uniform<2>(args);
      if (table.uniform == 3) return Uniform<3>(args);
      if (table.uniform == 4) return Uniform<4>(args);
    }
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
