// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "opscv/view.h"

namespace opscv {
namespace {

struct DTypeRow {
  std::string_view name;
  int64_t size;
};

// In the order of the enumeration.
constexpr std::array<DTypeRow, 13> kDTypes = {{{"float64", 8},
                                               {"float32", 4},
                                               {"float16", 2},
                                               {"bfloat16", 2},
                                               {"int8", 1},
                                               {"uint8", 1},
                                               {"int16", 2},
                                               {"uint16", 2},
                                               {"int32", 4},
                                               {"uint32", 4},
                                               {"int64", 8},
                                               {"uint64", 8},
                                               {"bool", 1}}};

}  // namespace

int64_t SizeOf(DType dtype) noexcept { return kDTypes[static_cast<size_t>(dtype)].size; }

std::string_view NameOf(DType dtype) noexcept {
  const auto i = static_cast<size_t>(dtype);
  return i < kDTypes.size() ? kDTypes[i].name : "no type";
}

Dims ContiguousStrides(const Dims& shape) noexcept {
  Dims strides = Dims::Filled(shape.rank(), 1);
  const int held = static_cast<int>(shape.values().size());
  for (int i = held - 2; i >= 0; --i) {
    // Wraps like the unsigned product: a shape too large for memory is refused by the checks.
    strides[i] = static_cast<int64_t>(static_cast<uint64_t>(strides[i + 1]) *
                                      static_cast<uint64_t>(shape[i + 1]));
  }
  return strides;
}

}  // namespace opscv
