// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/outer_axis/outer_axis.h"
#include "kernels/sum_reference.h"

namespace opscv::kernels {
namespace {

template <typename Types>
void OneRow(const OuterAxisArgs& args, int64_t o, void* dst) noexcept {
  using Src = typename Types::SrcType;
  using Dst = typename Types::DstType;
  using Real = Compute<Src>;
  const auto* weight = static_cast<const Real*>(args.weight);
  const int64_t src_step = Types::kSrcUnitStep ? sizeof(Src) : args.src_step_bytes;
  const int64_t dst_step = Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes;
  const int64_t first = args.place[o];
  const auto taps = static_cast<size_t>(args.place[o + 1] - first);
  for (int64_t x = 0; x < static_cast<int64_t>(args.n); ++x) {
    const Real sum = SumInBlocks<Real>(taps, Real{0}, [&](Real total, size_t tap) {
      const int64_t k = first + static_cast<int64_t>(tap);
      return std::fma(weight[k], Widen(*ElementAt<Src>(RowOf(args, o, k), x, src_step)), total);
    });
    Narrow(sum + Real{0}, ElementAt<Dst>(dst, x, dst_step));
  }
}

template <typename Types>
void OuterAxisReference(const OuterAxisArgs& args) noexcept {
  for (int64_t o = 0; o < args.rows; ++o) {
    OneRow<Types>(args, o, static_cast<char*>(args.dst) + o * args.dst_row_bytes);
  }
}

}  // namespace

OuterAxisKernel SelectOuterAxisReference(const ElementKey& key) {
  return VisitElements(
      key, [](auto types) -> OuterAxisKernel { return &OuterAxisReference<decltype(types)>; });
}

}  // namespace opscv::kernels
