// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/inner_axis/inner_axis.h"
#include "kernels/inner_axis/weights.h"
#include "kernels/sum_reference.h"

namespace opscv::kernels {
namespace {

template <typename Types>
void OneRow(const InnerAxisArgs& args) noexcept {
  using Src = typename Types::SrcType;
  using Dst = typename Types::DstType;
  using Real = Compute<Src>;
  const taps::TapTable& table = *args.table;
  const int64_t src_step = Types::kSrcUnitStep ? sizeof(Src) : args.src_step_bytes;
  const int64_t dst_step = Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes;
  for (int64_t o = args.begin; o < args.end; ++o) {
    const int32_t* delta = table.delta(o).data();
    const Real* weight = WeightsOf<Real>(table, o);
    for (int64_t c = 0; c < args.channels; ++c) {
      const Real sum = SumInBlocks<Real>(table.delta(o).size(), Real{0}, [&](Real total, size_t k) {
        const int64_t pixel = table.base(o) + delta[k] - args.row_origin;
        const Src* x = ElementAt<Src>(args.row, pixel * args.channels + c, src_step);
        return std::fma(weight[k], static_cast<Real>(Widen(*x)), total);
      });
      const int64_t place = (o - args.begin) * args.channels + c;
      Narrow(sum + Real{0}, ElementAt<Dst>(args.dst, place, dst_step));
    }
  }
}

template <typename Types>
void InnerAxisReference(const InnerAxisArgs& args) noexcept {
  InnerAxisArgs row = args;
  for (int64_t r = 0; r < args.rows; ++r) {
    row.row = static_cast<const char*>(args.row) + r * args.row_bytes;
    row.dst = static_cast<char*>(args.dst) + r * args.dst_row_bytes;
    OneRow<Types>(row);
  }
}

}  // namespace

InnerAxisKernel SelectInnerAxisReference(const ElementKey& key) {
  return VisitElements(
      key, [](auto types) -> InnerAxisKernel { return &InnerAxisReference<decltype(types)>; });
}

}  // namespace opscv::kernels
