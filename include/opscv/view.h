// SPDX-License-Identifier: Apache-2.0
// Describes tensors: element type, dimensions, strides. Holds no data and owns nothing.
#ifndef OPSCV_VIEW_H_
#define OPSCV_VIEW_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "opscv/export.h"

namespace opscv {

// Element types. The resampling gradients compute on the four floating types; the others exist for
// nearest forward, which copies elements without looking at them.
enum class DType : uint8_t {
  kFloat64,
  kFloat32,
  kFloat16,
  kBFloat16,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kBool,
};

// Bytes of one element: 1, 2, 4 or 8.
OPSCV_API int64_t SizeOf(DType dtype) noexcept;
// The name in lower case, as NumPy writes it ("float32", "bfloat16", "int64").
OPSCV_API std::string_view NameOf(DType dtype) noexcept;
[[nodiscard]] constexpr bool IsFloating(DType dtype) { return dtype <= DType::kBFloat16; }

inline constexpr int kMaxRank = 8;

// A short list of 64-bit sizes, coordinates or strides, held in place. A list longer than kMaxRank
// keeps its length but only the first kMaxRank values; every operator refuses such a rank.
class Dims {
 public:
  constexpr Dims() = default;
  constexpr Dims(std::initializer_list<int64_t> values)
      : Dims(std::span<const int64_t>(values.begin(), values.size())) {}
  constexpr explicit Dims(std::span<const int64_t> values)
      : rank_(static_cast<int>(values.size())) {
    std::copy_n(values.begin(), std::min<size_t>(values.size(), kMaxRank), values_.begin());
  }
  // `rank` copies of `value`.
  static constexpr Dims Filled(int rank, int64_t value) {
    Dims dims;
    dims.rank_ = rank;
    std::fill_n(dims.values_.begin(), std::min(rank, kMaxRank), value);
    return dims;
  }

  [[nodiscard]] constexpr int rank() const { return rank_; }
  constexpr int64_t& operator[](int i) { return values_[static_cast<size_t>(i)]; }
  constexpr int64_t operator[](int i) const { return values_[static_cast<size_t>(i)]; }
  // The values that are held: at most kMaxRank of them.
  [[nodiscard]] constexpr std::span<const int64_t> values() const {
    return {values_.data(), static_cast<size_t>(std::min(rank_, kMaxRank))};
  }
  constexpr bool operator==(const Dims&) const = default;

 private:
  std::array<int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

// The order in which a tensor lists its dimensions.
enum class Layout : uint8_t {
  kChannelsFirst,  // N,C,H,W and N,C,D,H,W
  kChannelsLast,   // N,H,W,C and N,D,H,W,C
};

// A strided tensor without its data. Strides count elements; 0 and negative strides are fine on
// inputs, negative ones on outputs too. A data pointer given with a description is the address of
// the element whose coordinates are all 0.
struct TensorDesc {
  DType dtype = DType::kFloat32;
  Dims shape;
  Dims strides;  // as many as dimensions
  Layout layout = Layout::kChannelsFirst;
};

// The row-major strides of `shape`: {2,3,4} gives {12,4,1}.
OPSCV_API Dims ContiguousStrides(const Dims& shape) noexcept;

// A dense row-major tensor.
[[nodiscard]] inline TensorDesc Contiguous(DType dtype, const Dims& shape,
                                           Layout layout = Layout::kChannelsFirst) {
  return {.dtype = dtype, .shape = shape, .strides = ContiguousStrides(shape), .layout = layout};
}

// The half-open box begin <= coordinate < end, in the order of a tensor's dimensions.
struct Box {
  Dims begin;
  Dims end;
  constexpr bool operator==(const Box&) const = default;
};

}  // namespace opscv

#endif  // OPSCV_VIEW_H_
