// SPDX-License-Identifier: Apache-2.0
#include "kernels/run_sum/run_sum.h"
#include "kernels/sum_reference.h"

namespace opscv::kernels {
namespace {

template <typename Types>
void OneOutput(const RunRowsArgs& args) noexcept {
  using Src = typename Types::SrcType;
  using Dst = typename Types::DstType;
  using Real = Compute<Src>;
  const int64_t src_step = Types::kSrcUnitStep ? sizeof(Src) : args.src_step_bytes;
  const int64_t dst_step = Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes;
  const auto members = static_cast<size_t>(args.outer * args.inner);
  for (size_t x = 0; x < args.n; ++x) {
    const Src* column = ElementAt<Src>(args.src, static_cast<int64_t>(x), src_step);
    const Real sum = SumInBlocks<Real>(members, Real{-0.0}, [&](Real total, size_t k) {
      const int64_t a = static_cast<int64_t>(k) / args.inner;
      const int64_t b = static_cast<int64_t>(k) % args.inner;
      return total + Widen(*ElementAt<Src>(ElementAt<Src>(column, a, args.outer_bytes), b,
                                           args.inner_bytes));
    });
    Narrow(sum, ElementAt<Dst>(args.dst, static_cast<int64_t>(x), dst_step));
  }
}

template <typename Types>
void RunRowsReference(const RunRowsArgs& args) noexcept {
  if (args.bounds == nullptr) return OneOutput<Types>(args);
  for (int64_t o = 0; o < args.rows; ++o) OneOutput<Types>(OutputOf(args, o));
}

template <typename Types>
void OneRow(const RunLanesArgs& args, const void* row, void* dst) noexcept {
  using Real = typename Types::SrcType;
  using Dst = typename Types::DstType;
  const WindowTable& table = *args.table;
  const int64_t dst_step = Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes;
  for (int64_t o = args.begin; o < args.end; ++o) {
    const WindowTable::Block& block = table.blocks[static_cast<size_t>(o / kWindowBlock)];
    const Real* window = static_cast<const Real*>(row) + (block.base - args.row_origin) +
                         table.first[static_cast<size_t>(o)];
    const auto count = static_cast<size_t>(table.count[static_cast<size_t>(o)]);
    const Real sum = SumInBlocks<Real>(count, Real{-0.0}, [&](Real total, size_t k) {
      return total + window[static_cast<int64_t>(k) * table.channels];
    });
    Narrow(sum, ElementAt<Dst>(dst, o - args.begin, dst_step));
  }
}

template <typename Types>
void RunLanesReference(const RunLanesArgs& args) noexcept {
  for (int64_t r = 0; r < args.rows; ++r) {
    OneRow<Types>(args, static_cast<const char*>(args.row) + r * args.row_bytes,
                  static_cast<char*>(args.dst) + r * args.dst_row_bytes);
  }
}

}  // namespace

RunRowsKernel SelectRunRowsReference(const ElementKey& key) {
  return VisitElements(
      key, [](auto types) -> RunRowsKernel { return &RunRowsReference<decltype(types)>; });
}

RunLanesKernel SelectRunLanesReference(const ElementKey& key) {
  return VisitFromCompute(
      key, [](auto types) -> RunLanesKernel { return &RunLanesReference<decltype(types)>; });
}

}  // namespace opscv::kernels
