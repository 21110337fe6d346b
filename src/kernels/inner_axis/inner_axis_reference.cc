// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/inner_axis/inner_axis.h"
#include "kernels/sum_reference.h"

namespace opscv::kernels {
namespace {

template <typename Types>
void OneRow(const InnerAxisArgs& args) noexcept {
  using Real = typename Types::SrcType;
  using Dst = typename Types::DstType;
  const auto& table = *static_cast<const LaneTable<Real>*>(args.table);
  const int64_t dst_step = Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes;
  for (int64_t o = args.begin; o < args.end; ++o) {
    const LaneBlock& block = table.blocks[static_cast<size_t>(o / kLaneBlock)];
    const Real* row = static_cast<const Real*>(args.row) + (block.base - args.row_origin);
    const int64_t place = table.place[static_cast<size_t>(o)];
    const size_t stride = block.interleaved ? kLaneBlock : 1;
    const int32_t* index = table.index.data() + place;
    const Real* weight = table.weight.data() + place;
    const auto taps = static_cast<size_t>(table.count[static_cast<size_t>(o)]);
    const Real sum = SumInBlocks<Real>(taps, Real{0}, [&](Real total, size_t k) {
      return std::fma(weight[k * stride], row[index[k * stride]], total);
    });
    Narrow(sum + Real{0}, ElementAt<Dst>(args.dst, o - args.begin, dst_step));
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
  return VisitFromCompute(
      key, [](auto types) -> InnerAxisKernel { return &InnerAxisReference<decltype(types)>; });
}

}  // namespace opscv::kernels
