// SPDX-License-Identifier: Apache-2.0
#include "taps/filter.h"

#include <cmath>

namespace opscv::taps {
namespace {

// R. G. Keys, "Cubic convolution interpolation for digital image processing", 1981, with a = -0.5,
// the value for which the interpolation error falls with the third power of the sample distance.
constexpr double kA = -0.5;

double Cubic(double d) {
  d = std::fabs(d);
  if (d <= 1.0) return ((kA + 2.0) * d - (kA + 3.0)) * d * d + 1.0;
  if (d < 2.0) return ((kA * d - 5.0 * kA) * d + 8.0 * kA) * d - 4.0 * kA;
  return 0.0;
}

}  // namespace

double SupportOf(Filter filter) {
  switch (filter) {
    case Filter::kCubicAntialias:
      return 2.0;
  }
  return 0.0;
}

double Weight(Filter filter, double d) {
  switch (filter) {
    case Filter::kCubicAntialias:
      return Cubic(d);
  }
  return 0.0;
}

}  // namespace opscv::taps
