// SPDX-License-Identifier: Apache-2.0
#include "reference/axis_rules.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace opscv::reference {
namespace {

__extension__ using Int128 = __int128;

// Up to this extent the products of kAscend keep their halves in float32; beyond it the rule is
// evaluated in double.
constexpr int64_t kAscendFloatLimit = int64_t{1} << 21;

// Two roundings, to the product and to the difference. With T = float a fused multiply-subtract
// would give other windows: this file must be compiled with -ffp-contract=off.
template <typename T>
int64_t AscendBound(int64_t i, T scale, int64_t out) {
  const T product = static_cast<T>(i) * scale;
  const T bound = std::ceil(product - T{0.5});
  return std::min(static_cast<double>(bound), static_cast<double>(out));
}

template <typename T>
std::vector<int64_t> AscendBounds(int64_t in, int64_t out, double scale) {
  const T used = scale > 0 ? static_cast<T>(scale) : static_cast<T>(out) / static_cast<T>(in);
  std::vector<int64_t> bounds(in + 1);
  for (int64_t i = 0; i < in; ++i) bounds[i] = AscendBound<T>(i, used, out);
  // Beyond 2^22 an accepted product may round to out - 0.5 and would lose the last sample.
  bounds[in] = out;
  return bounds;
}

// What PyTorch's CPU operators compute: the product of the exact o + 0.5 and a float scale, exact
// in double for every o below 2^28, is rounded once to float.
int64_t TorchCpuSource(int64_t o, float scale, int64_t in) {
  const double product = (static_cast<double>(o) + 0.5) * static_cast<double>(scale);
  return std::min(static_cast<int64_t>(std::floor(static_cast<float>(product))), in - 1);
}

float TorchCpuScale(int64_t in, int64_t out, double scale) {
  if (scale > 0) return static_cast<float>(1.0 / scale);
  return static_cast<float>(in) / static_cast<float>(out);
}

int64_t ExactSource(int64_t o, int64_t in, int64_t out) {
  return static_cast<int64_t>((2 * Int128{o} + 1) * in / (2 * Int128{out}));
}

void RequireUsable(int64_t in, int64_t out, double scale, IndexRule rule) {
  if (in <= 0 || out <= 0) throw std::invalid_argument("reference: extents must be positive");
  if (rule == IndexRule::kExact && scale > 0) {
    throw std::invalid_argument("reference: index rule exact takes no scales");
  }
}

}  // namespace

// The polynomials of the definition in factored form, which keeps relative accuracy next to their
// zeros at 1 and 2: 1.5d^3 - 2.5d^2 + 1 and -0.5d^3 + 2.5d^2 - 4d + 2.
double CubicKernel(double d) {
  d = std::fabs(d);
  if (d <= 1) return (1 - d) * (1 + d - 1.5 * d * d);
  if (d < 2) return -0.5 * (d - 1) * (2 - d) * (2 - d);
  return 0;
}

TapTable CubicTaps(int64_t in, int64_t out, bool align_corners, double scale) {
  if (in <= 0 || out <= 0) throw std::invalid_argument("reference: extents must be positive");
  double step = static_cast<double>(in) / static_cast<double>(out);
  if (align_corners) {
    step = out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0.0;
  } else if (scale > 0) {
    step = 1.0 / scale;
  }
  const double support = 2 * std::max(step, 1.0);
  const double inverse = step >= 1 ? 1 / step : 1.0;

  TapTable table;
  table.begin.push_back(0);
  for (int64_t o = 0; o < out; ++o) {
    const double centre = step * (static_cast<double>(o) + 0.5);
    const double lo = std::max(std::trunc(centre - support + 0.5), 0.0);
    const double hi = std::min(std::trunc(centre + support + 0.5), static_cast<double>(in));
    double sum = 0;
    for (double j = lo; j < hi; ++j) {
      const double weight = CubicKernel((j - centre + 0.5) * inverse);
      if (std::fabs(weight) < kDropBelow) continue;
      table.index.push_back(static_cast<int64_t>(j));
      table.weight.push_back(weight);
      sum += weight;
    }
    for (size_t k = table.begin.back(); k < table.weight.size(); ++k) table.weight[k] /= sum;
    table.begin.push_back(static_cast<int64_t>(table.weight.size()));
  }
  return table;
}

bool IsIdentityCubic(int64_t in, int64_t out, bool align_corners, double scale) {
  return in == out && (align_corners || !(scale > 0) || scale == 1);
}

bool IsIdentityNearest(int64_t in, int64_t out, double scale) {
  return in == out && (!(scale > 0) || scale == 1);
}

std::vector<int64_t> NearestBounds(int64_t in, int64_t out, double scale, IndexRule rule) {
  RequireUsable(in, out, scale, rule);
  if (rule == IndexRule::kAscend && !IsIdentityNearest(in, out, scale)) {
    return std::max(in, out) > kAscendFloatLimit ? AscendBounds<double>(in, out, scale)
                                                 : AscendBounds<float>(in, out, scale);
  }
  std::vector<int64_t> bounds;
  const std::vector<int64_t> sources = NearestSources(in, out, scale, rule);
  for (int64_t i = 0, o = 0; i <= in; ++i) {
    while (o < out && sources[o] < i) ++o;
    bounds.push_back(o);
  }
  return bounds;
}

std::vector<int64_t> NearestSources(int64_t in, int64_t out, double scale, IndexRule rule) {
  RequireUsable(in, out, scale, rule);
  std::vector<int64_t> sources(out);
  if (IsIdentityNearest(in, out, scale)) {
    for (int64_t o = 0; o < out; ++o) sources[o] = o;
  } else if (rule == IndexRule::kAscend) {
    const std::vector<int64_t> bounds = NearestBounds(in, out, scale, rule);
    for (int64_t i = 0; i < in; ++i) {
      for (int64_t o = bounds[i]; o < bounds[i + 1]; ++o) sources[o] = i;
    }
  } else if (rule == IndexRule::kTorchCpu) {
    const float step = TorchCpuScale(in, out, scale);
    for (int64_t o = 0; o < out; ++o) sources[o] = TorchCpuSource(o, step, in);
  } else {
    for (int64_t o = 0; o < out; ++o) sources[o] = ExactSource(o, in, out);
  }
  return sources;
}

}  // namespace opscv::reference
