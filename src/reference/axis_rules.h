// SPDX-License-Identifier: Apache-2.0
// The rules of one axis: which input samples an output sample depends on, and by how much.
// Plain formulas, in double or in the precision that a rule itself names. Knows nothing of
// tensors, element types, passes or of the engine, with which it shares no code.
#ifndef OPSCV_REFERENCE_AXIS_RULES_H_
#define OPSCV_REFERENCE_AXIS_RULES_H_

#include <cstdint>
#include <vector>

#include "opscv/spec.h"

namespace opscv::reference {

// The kept taps of one axis, row after row: output sample o is the sum over
// k in [begin[o], begin[o + 1]) of weight[k] * input[index[k]], index ascending within a row.
struct TapTable {
  std::vector<int64_t> begin;
  std::vector<int64_t> index;
  std::vector<double> weight;
};

// Cubic convolution kernel, a = -0.5, support |d| < 2.
double CubicKernel(double d);

// Taps with |K(d)| below this, before normalisation, are dropped: exact zeros of K are not exact
// in floating point.
inline constexpr double kDropBelow = 1e-9;

// Antialiased bicubic taps. `scale` is the user's out/in factor, <= 0 when not given; it is
// ignored with align_corners. Requires in > 0 and out > 0. A scale far below out/in leaves rows
// without taps, whose samples are 0.
TapTable CubicTaps(int64_t in, int64_t out, bool align_corners, double scale);

// Whether an axis of the bicubic operators copies: equal extents, and a scale that is 1, not given
// or ignored.
bool IsIdentityCubic(int64_t in, int64_t out, bool align_corners, double scale);

// Whether an axis of the nearest operators copies: equal extents, and a scale of 1 or not given.
bool IsIdentityNearest(int64_t in, int64_t out, double scale);

// For every output sample the input sample it reads, ascending. `scale` is the user's out/in
// factor, <= 0 when not given. The last input sample's window reaches to the end, also where the
// product in * scale is rounded to below out. An identity axis maps o to o, whatever the rule and
// the length. Throws std::invalid_argument for kExact with a scale.
std::vector<int64_t> NearestSources(int64_t in, int64_t out, double scale, IndexRule rule);

// The same map from the other side: input sample i is read by the output samples in
// [bounds[i], bounds[i + 1]); in + 1 bounds.
std::vector<int64_t> NearestBounds(int64_t in, int64_t out, double scale, IndexRule rule);

}  // namespace opscv::reference

#endif  // OPSCV_REFERENCE_AXIS_RULES_H_
