// SPDX-License-Identifier: Apache-2.0
// The operators as plain double loops over dense arrays, for tests and the `check` command.
// Knows nothing of strides, element types, layouts, threads or of the engine, with which it
// shares no code.
#ifndef OPSCV_REFERENCE_REFERENCE_H_
#define OPSCV_REFERENCE_REFERENCE_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/axis_rules.h"

namespace opscv::reference {

// `in` and `out` are the extents on the input and output side of the forward operator, also for
// its gradient. `batch` is N*C, 0 allowed. Scales are the user's out/in factors, <= 0: not given.
struct Bicubic2dAAProblem {
  int64_t batch = 1;
  int64_t in_h = 1;
  int64_t in_w = 1;
  int64_t out_h = 1;
  int64_t out_w = 1;
  bool align_corners = false;
  double scales_h = 0;
  double scales_w = 0;
};

// Axes in the order d, h, w. kAscend uses the scales only where all three are > 0; kTorchCpu takes
// each axis for itself; kExact refuses them.
struct NearestExact3dProblem {
  int64_t batch = 1;
  std::array<int64_t, 3> in = {1, 1, 1};
  std::array<int64_t, 3> out = {1, 1, 1};
  std::array<double, 3> scales = {0, 0, 0};
  IndexRule rule = IndexRule::kAscend;
};

// How one element was summed: in each of `passes` passes over `taps[p]` kept taps or window
// members. No pass at all means a copy, which must be exact. `largest_extent` is the largest of
// all extents of the problem.
struct PassTaps {
  int passes = 0;
  std::array<int64_t, 2> taps = {0, 0};
  int64_t largest_extent = 1;
  // The largest sum of |w*x| that the first pass may hold on the way to the element, whichever axis
  // comes first; known only where data are so large that it could overflow, else 0.
  double peak = 0.0;
};

// One axis of an answer: how many taps each of its samples has, and the pass (0 or 1) that sums
// over this axis, or -1 where the axis is the identity or the operator only copies. Axes of one
// pass share it: their counts multiply.
struct AnswerAxis {
  std::vector<int64_t> taps;
  int pass = -1;
};

// Dense, row-major, batch outermost: value, and magnitude = the sum of |w*x| over the element's
// kept taps. A NaN or infinite input reaches exactly the elements with a kept tap on it.
struct Answer {
  std::vector<double> value;
  std::vector<double> magnitude;
  std::vector<AnswerAxis> axes;
  int64_t largest_extent = 1;
  std::vector<double> peak;  // PassTaps::peak of every element, or empty

  // Taps of value[element].
  PassTaps TapsOf(int64_t element) const;
};

// All throw std::invalid_argument when the data's length does not fit the problem, an extent is
// below 1, or the rule refuses the scales.
Answer UpsampleBicubic2dAA(const Bicubic2dAAProblem& problem, std::span<const double> x);
Answer UpsampleBicubic2dAAGrad(const Bicubic2dAAProblem& problem, std::span<const double> grad_out);

Answer UpsampleNearestExact3d(const NearestExact3dProblem& problem, std::span<const double> x);
Answer UpsampleNearestExact3dGrad(const NearestExact3dProblem& problem,
                                  std::span<const double> grad_out);

// The scale that the problem's rule really uses on an axis (0 d, 1 h, 2 w); 0 for none.
double UsedScale(const NearestExact3dProblem& problem, int axis);

}  // namespace opscv::reference

#endif  // OPSCV_REFERENCE_REFERENCE_H_
