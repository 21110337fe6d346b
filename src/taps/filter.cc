// SPDX-License-Identifier: Apache-2.0
#include "taps/filter.h"

#include <cmath>

namespace opscv::taps {
namespace {

// R. G. Keys, "Cubic convolution interpolation for digital image processing", 1981, with a = -0.5,
// the value for which the interpolation error falls with the third power of the sample distance.
constexpr double kA = -0.5;

// (a+2)d^3 - (a+3)d^2 + 1 up to 1, a(d^3 - 5d^2 + 8d - 4) up to 2, each with its zeros at 1 and 2
// taken out as factors, so that small weights keep their relative accuracy.
double Cubic(double d) {
  d = std::fabs(d);
  if (d <= 1.0) return (1.0 - d) * (1.0 + d - (kA + 2.0) * d * d);
  if (d < 2.0) return kA * (d - 1.0) * (2.0 - d) * (2.0 - d);
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
