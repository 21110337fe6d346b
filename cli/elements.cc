// SPDX-License-Identifier: Apache-2.0
#include "cli/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/half.h"

namespace opscv::cli {
namespace {

template <typename T>
T Load(const char* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <typename T>
void Store(T value, char* element) {
  std::memcpy(element, &value, sizeof value);
}

// `value` as float, rounded to odd: what was lost shows in the last bit, so that a second rounding
// to a shorter type comes out as if there had been no first one.
float ToOdd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  if (back == value || !std::isfinite(nearest) || !std::isfinite(value)) return nearest;
  const auto bits = std::bit_cast<uint32_t>(nearest);
  if ((bits & 1u) != 0) return nearest;
  const bool grew = std::fabs(back) > std::fabs(value);
  return std::bit_cast<float>(grew ? bits - 1 : bits + 1);
}

void CopyElements(const Encoding& encoding, const char* stored, int64_t count, char* out) {
  const auto size = static_cast<size_t>(SizeOf(encoding.dtype));
  const size_t bytes = size * static_cast<size_t>(count);
  std::memcpy(out, stored, bytes);
  if (!encoding.swapped || size == 1) return;
  for (size_t at = 0; at < bytes; at += size) std::reverse(out + at, out + at + size);
}

template <typename T>
void DecodeFloats(const Encoding& encoding, const char* stored, int64_t count, DType dtype,
                  char* out) {
  const int64_t size = SizeOf(encoding.dtype);
  const int64_t out_size = SizeOf(dtype);
  for (int64_t i = 0; i < count; ++i) {
    char element[sizeof(T)];
    std::memcpy(element, stored + i * size, sizeof element);
    if (encoding.swapped) std::reverse(element, element + sizeof element);
    double value = ToDouble(encoding.dtype, element);
    if (encoding.scaled()) value = encoding.slope * value + encoding.intercept;
    FromDouble(value, dtype, out + i * out_size);
  }
}

}  // namespace

double ToDouble(DType dtype, const char* element) {
  switch (dtype) {
    case DType::kFloat64:
      return Load<double>(element);
    case DType::kFloat32:
      return Load<float>(element);
    case DType::kFloat16:
      return ToFloat(Load<Float16>(element));
    case DType::kBFloat16:
      return ToFloat(Load<BFloat16>(element));
    case DType::kInt8:
      return Load<int8_t>(element);
    case DType::kUInt8:
      return Load<uint8_t>(element);
    case DType::kInt16:
      return Load<int16_t>(element);
    case DType::kUInt16:
      return Load<uint16_t>(element);
    case DType::kInt32:
      return Load<int32_t>(element);
    case DType::kUInt32:
      return Load<uint32_t>(element);
    case DType::kInt64:
      return static_cast<double>(Load<int64_t>(element));
    case DType::kUInt64:
      return static_cast<double>(Load<uint64_t>(element));
    case DType::kBool:
      return Load<uint8_t>(element) != 0 ? 1.0 : 0.0;
  }
  return 0.0;
}

void FromDouble(double value, DType dtype, char* element) {
  switch (dtype) {
    case DType::kFloat64:
      return Store(value, element);
    case DType::kFloat32:
      return Store(static_cast<float>(value), element);
    case DType::kFloat16:
      return Store(ToFloat16(ToOdd(value)), element);
    case DType::kBFloat16:
      return Store(ToBFloat16(ToOdd(value)), element);
    default:
      return;
  }
}

void Decode(const Encoding& encoding, const char* stored, int64_t count, DType dtype, char* out) {
  if (dtype == encoding.dtype && !encoding.scaled()) {
    return CopyElements(encoding, stored, count, out);
  }
  switch (SizeOf(encoding.dtype)) {
    case 1:
      return DecodeFloats<uint8_t>(encoding, stored, count, dtype, out);
    case 2:
      return DecodeFloats<uint16_t>(encoding, stored, count, dtype, out);
    case 4:
      return DecodeFloats<uint32_t>(encoding, stored, count, dtype, out);
    default:
      return DecodeFloats<uint64_t>(encoding, stored, count, dtype, out);
  }
}

std::optional<DType> DTypeOfName(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(DType::kBool); ++i) {
    if (NameOf(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace opscv::cli
