// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/outer_axis/outer_axis.h"
#include "kernels/sum_reference.h"

namespace opscv::kernels {
namespace {

template <typename Types>
void OuterAxisReference(const OuterAxisArgs& args) noexcept {
  using Src = typename Types::SrcType;
  using Dst = typename Types::DstType;
  using Real = Compute<Src>;
  const auto* weight = static_cast<const Real*>(args.weight);
  const int64_t src_step = Types::kSrcUnitStep ? sizeof(Src) : args.src_step_bytes;
  const int64_t dst_step = Types::kDstUnitStep ? sizeof(Dst) : args.dst_step_bytes;
  for (size_t x = 0; x < args.n; ++x) {
    const Src* column = ElementAt<Src>(args.src, static_cast<int64_t>(x), src_step);
    const Real sum = SumInBlocks<Real>(args.taps, Real{0}, [&](Real total, size_t k) {
      return std::fma(weight[k], Widen(*ElementAt<Src>(column, args.delta[k], args.src_row_bytes)),
                      total);
    });
    Narrow(sum + Real{0}, ElementAt<Dst>(args.dst, static_cast<int64_t>(x), dst_step));
  }
}

}  // namespace

OuterAxisKernel SelectOuterAxisReference(const ElementKey& key) {
  return VisitElements(
      key, [](auto types) -> OuterAxisKernel { return &OuterAxisReference<decltype(types)>; });
}

}  // namespace opscv::kernels
