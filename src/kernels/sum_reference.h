// SPDX-License-Identifier: Apache-2.0
// The defined order of a sum, in its plainest form; the plain loops of every family use it.
#ifndef OPSCV_KERNELS_SUM_REFERENCE_H_
#define OPSCV_KERNELS_SUM_REFERENCE_H_

#include <algorithm>

#include "kernels/kernel.h"

namespace opscv::kernels {

// Sums `terms` terms: a block of kSumBlock starts from `start` and grows by next(sum, k) in Real;
// block sums add up in double, rounded once. Without terms the sum is +0.
template <typename Real, typename Next>
[[nodiscard]] Real SumInBlocks(size_t terms, Real start, Next next) {
  if (terms == 0) return Real{0};
  double total = 0.0;
  for (size_t first = 0; first < terms; first += kSumBlock) {
    Real block = start;
    for (size_t k = first; k < std::min(first + kSumBlock, terms); ++k) block = next(block, k);
    total = first == 0 ? static_cast<double>(block) : total + static_cast<double>(block);
  }
  return static_cast<Real>(total);
}

}  // namespace opscv::kernels

#endif  // OPSCV_KERNELS_SUM_REFERENCE_H_
