// SPDX-License-Identifier: Apache-2.0
// The table of one nearest-exact axis: which window of output samples reads each input sample, by
// one of three rules that differ only where rounding decides (docs/index_rules.md). Pure maths.
#ifndef OPSCV_TAPS_NEAREST_H_
#define OPSCV_TAPS_NEAREST_H_

#include <cstdint>
#include <vector>

#include "opscv/spec.h"

namespace opscv::taps {

struct NearestAxis {
  int64_t in = 1;           // samples before the forward operator
  int64_t out = 1;          // samples after it
  double multiplier = 0.0;  // the scale in use, out over in; 0: the sizes decide
};

// in + 1 ascending bounds: input sample i is read by the output samples [bounds[i], bounds[i+1]).
// bounds[0] is 0 and bounds[in] is out, so every output sample reads exactly one input sample.
//   ascend:    bounds[i] = min(ceil(scale*i - 0.5), out), scale = out/in or the multiplier, in
//   float
//              with two roundings; in double where an extent exceeds 2^21
//   torch_cpu: output o reads min(floor(float((o + 0.5)*s)), in - 1), s = in/out or 1/multiplier, a
//              float
//   exact:     output o reads floor((2*o + 1)*in / (2*out)); takes no multiplier
[[nodiscard]] std::vector<int64_t> NearestBounds(const NearestAxis& axis, IndexRule rule);

// The input sample that each output sample reads: the bounds turned round.
[[nodiscard]] std::vector<int64_t> NearestSources(const std::vector<int64_t>& bounds);

}  // namespace opscv::taps

#endif  // OPSCV_TAPS_NEAREST_H_
