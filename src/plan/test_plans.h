// SPDX-License-Identifier: Apache-2.0
// Random resamplings and memory for the tests of the plan room. Knows nothing of results.
#ifndef OPSCV_PLAN_TEST_PLANS_H_
#define OPSCV_PLAN_TEST_PLANS_H_

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/half.h"
#include "base/test_random.h"
#include "plan/plan.h"

namespace opscv::plan::testing {

using opscv::testing::TracedRandom;

inline int64_t Count(const Coords& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

// A dense tensor: N,C,D,H,W, or channels last.
inline Tensor5 Dense(const Coords& shape, int64_t element_bytes, bool channels_last) {
  static constexpr std::array<int, kRank> kFirst = {kW, kH, kD, kC, kN};
  static constexpr std::array<int, kRank> kLast = {kC, kW, kH, kD, kN};
  Tensor5 tensor{.shape = shape};
  int64_t stride = element_bytes;
  for (const int dim : channels_last ? kLast : kFirst) {
    tensor.stride_bytes[static_cast<size_t>(dim)] = stride;
    stride *= shape[static_cast<size_t>(dim)];
  }
  return tensor;
}

struct Sizes {
  int64_t n = 1;
  int64_t c = 1;
  std::array<int64_t, kSpatial> in = {1, 1, 1};
  std::array<int64_t, kSpatial> out = {1, 1, 1};
};

inline ResampleSpec MakeSpec(Method method, Direction direction, DType dtype, const Sizes& sizes,
                             bool channels_last) {
  ResampleSpec spec;
  spec.method = method;
  spec.direction = direction;
  spec.dtype = dtype;
  for (int i = 0; i < kSpatial; ++i) {
    spec.axes[static_cast<size_t>(i)] = {.in = sizes.in[static_cast<size_t>(i)],
                                         .out = sizes.out[static_cast<size_t>(i)]};
  }
  const bool forward = direction == Direction::kForward;
  const auto& from = forward ? sizes.in : sizes.out;
  const auto& to = forward ? sizes.out : sizes.in;
  const int64_t bytes = SizeOf(dtype);
  spec.input = Dense({sizes.n, sizes.c, from[0], from[1], from[2]}, bytes, channels_last);
  spec.output = Dense({sizes.n, sizes.c, to[0], to[1], to[2]}, bytes, channels_last);
  return spec;
}

inline constexpr std::array<DType, 4> kDTypes = {DType::kFloat64, DType::kFloat32, DType::kFloat16,
                                                 DType::kBFloat16};

inline Sizes RandomSizes(TracedRandom& random, Method method, int64_t largest) {
  const auto extent = [&] { return random.OneIn(6) ? 1 : random.Int(1, largest); };
  Sizes sizes{.n = random.Int(1, 3), .c = random.OneIn(3) ? 1 : random.Int(1, 5)};
  for (size_t i = method == Method::kTaps ? 1 : 0; i < kSpatial; ++i) {
    sizes.in[i] = extent();
    sizes.out[i] = random.OneIn(5) ? sizes.in[i] : extent();
  }
  return sizes;
}

inline ResampleSpec RandomSpec(TracedRandom& random, int64_t largest) {
  const Method method = random.OneIn(2) ? Method::kTaps : Method::kNearest;
  const Direction direction = random.OneIn(2) ? Direction::kForward : Direction::kBackward;
  const int64_t longest = method == Method::kTaps ? largest : std::max<int64_t>(largest / 6, 4);
  return MakeSpec(method, direction, random.Of(kDTypes), RandomSizes(random, method, longest),
                  random.OneIn(2));
}

inline std::string Say(const ResampleSpec& spec) {
  std::string text(spec.method == Method::kTaps ? "taps " : "nearest ");
  text += spec.direction == Direction::kForward ? "forward " : "backward ";
  text += std::string(NameOf(spec.dtype)) + ", input";
  for (const int64_t extent : spec.input.shape) text += " " + std::to_string(extent);
  text += ", output";
  for (const int64_t extent : spec.output.shape) text += " " + std::to_string(extent);
  return text + (spec.input.stride_bytes[kC] == SizeOf(spec.dtype) ? ", channels last" : "");
}

// The bytes of a dense tensor of random normal values.
inline std::vector<char> RandomData(TracedRandom& random, DType dtype, int64_t count) {
  std::vector<char> data(static_cast<size_t>(count * SizeOf(dtype)));
  for (int64_t i = 0; i < count; ++i) {
    const double value = random.Normal();
    const auto put = [&](auto element) {
      std::memcpy(data.data() + i * static_cast<int64_t>(sizeof(element)), &element,
                  sizeof(element));
    };
    switch (dtype) {
      case DType::kFloat64:
        put(value);
        break;
      case DType::kFloat16:
        put(ToFloat16(static_cast<float>(value)));
        break;
      case DType::kBFloat16:
        put(ToBFloat16(static_cast<float>(value)));
        break;
      default:
        put(static_cast<float>(value));
        break;
    }
  }
  return data;
}

inline double Decode(DType dtype, const char* from) {
  const auto get = [&](auto element) {
    std::memcpy(&element, from, sizeof(element));
    return element;
  };
  switch (dtype) {
    case DType::kFloat64:
      return get(double{});
    case DType::kFloat16:
      return static_cast<double>(ToFloat(get(Float16{})));
    case DType::kBFloat16:
      return static_cast<double>(ToFloat(get(BFloat16{})));
    default:
      return static_cast<double>(get(float{}));
  }
}

// Calls visit(coordinates) for the elements of a box, W fastest.
template <typename Visit>
void ForEach(const Box5& box, Visit visit) {
  Coords at{};
  for (at[kN] = box.begin[kN]; at[kN] < box.end[kN]; ++at[kN]) {
    for (at[kC] = box.begin[kC]; at[kC] < box.end[kC]; ++at[kC]) {
      for (at[kD] = box.begin[kD]; at[kD] < box.end[kD]; ++at[kD]) {
        for (at[kH] = box.begin[kH]; at[kH] < box.end[kH]; ++at[kH]) {
          for (at[kW] = box.begin[kW]; at[kW] < box.end[kW]; ++at[kW]) visit(at);
        }
      }
    }
  }
}

// The values of a tensor's bytes in the order N,C,D,H,W.
inline std::vector<double> ValuesOf(DType dtype, const Tensor5& tensor,
                                    const std::vector<char>& data) {
  std::vector<double> values;
  ForEach({.begin = {}, .end = tensor.shape}, [&](const Coords& at) {
    values.push_back(Decode(dtype, AddressOf(data.data(), Coords{}, tensor, at)));
  });
  return values;
}

inline std::shared_ptr<const Plan> MustPlan(const ResampleSpec& spec) {
  Result<std::shared_ptr<const Plan>> plan = MakePlan(spec);
  if (!plan) {
    ADD_FAILURE() << Say(spec) << ": " << plan.error().message();
    std::abort();
  }
  return *std::move(plan);
}

}  // namespace opscv::plan::testing

#endif  // OPSCV_PLAN_TEST_PLANS_H_
