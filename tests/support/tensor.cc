// SPDX-License-Identifier: Apache-2.0
#include "tests/support/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/half.h"

namespace opscv::testing {
namespace {

// A byte that no test value is made of alone, so that overwritten gaps show.
constexpr unsigned char kPattern = 0xA5;

// Memory kept free on both sides of the elements.
constexpr int64_t kGuardBytes = 256;

// The order of dimensions in memory, outermost first, and how far apart rows and elements lie.
struct Placement {
  std::vector<int> order;
  int64_t inner_step = 1;
  int64_t row_gap = 0;
};

Placement PlacementOf(Form form, int rank) {
  Placement placement;
  placement.order.resize(static_cast<size_t>(rank));
  std::iota(placement.order.begin(), placement.order.end(), 0);
  switch (form) {
    case Form::kChannelsLast:
    case Form::kChannelsLastView:
      std::rotate(placement.order.begin() + 1, placement.order.begin() + 2, placement.order.end());
      break;
    case Form::kReversedSpace:
      std::reverse(placement.order.begin() + 2, placement.order.end());
      break;
    case Form::kStrided:
      placement.inner_step = 2;
      placement.row_gap = 3;
      break;
    case Form::kPadded:
      placement.row_gap = 5;
      break;
    default:
      break;
  }
  return placement;
}

std::vector<int64_t> StridesOf(const std::vector<int64_t>& shape, Form form) {
  const int rank = static_cast<int>(shape.size());
  const Placement placement = PlacementOf(form, rank);
  std::vector<int64_t> strides(shape.size());
  int64_t step = placement.inner_step;
  for (int i = rank - 1; i >= 0; --i) {
    const auto dim = static_cast<size_t>(placement.order[static_cast<size_t>(i)]);
    strides[dim] = step;
    step *= std::max<int64_t>(shape[dim], 1);
    if (i == rank - 1) step += placement.row_gap;
  }
  if (form == Form::kExpanded) strides[0] = strides[1] = 0;
  if (form == Form::kNegative) {
    for (size_t dim = 2; dim < shape.size(); ++dim) strides[dim] = -strides[dim];
  }
  return strides;
}

}  // namespace

std::string_view NameOf(Form form) {
  static constexpr std::array<std::string_view, kForms> kNames = {
      "contiguous",    "channels_last_view",
      "channels_last", "reversed_space",
      "negative",      "strided",
      "padded",        "expanded"};
  return kNames[static_cast<size_t>(form)];
}

uint64_t ToBits(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat64:
      return std::bit_cast<uint64_t>(value);
    case DType::kFloat32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case DType::kFloat16:
      return ToFloat16(static_cast<float>(value)).bits;
    case DType::kBFloat16:
      return ToBFloat16(static_cast<float>(value)).bits;
    default:
      return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

double FromBits(DType dtype, uint64_t bits) {
  switch (dtype) {
    case DType::kFloat64:
      return std::bit_cast<double>(bits);
    case DType::kFloat32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case DType::kFloat16:
      return ToFloat(Float16{static_cast<uint16_t>(bits)});
    case DType::kBFloat16:
      return ToFloat(BFloat16{static_cast<uint16_t>(bits)});
    default:
      return static_cast<double>(static_cast<int64_t>(bits));
  }
}

int64_t OffsetOf(const TensorDesc& tensor, int64_t index) {
  int64_t offset = 0;
  for (int i = tensor.shape.rank() - 1; i >= 0; --i) {
    offset += index % tensor.shape[i] * tensor.strides[i];
    index /= tensor.shape[i];
  }
  return offset;
}

TestTensor::TestTensor(DType dtype, const std::vector<int64_t>& shape, Form form)
    : logical_shape_(shape),
      logical_strides_(StridesOf(shape, form)),
      size_(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>())) {
  int64_t low = 0;
  int64_t high = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t reach = (std::max<int64_t>(shape[i], 1) - 1) * logical_strides_[i];
    (reach < 0 ? low : high) += reach;
  }
  const int64_t element = SizeOf(dtype);
  origin_ = static_cast<size_t>(kGuardBytes - low * element);
  storage_.assign(static_cast<size_t>((high - low + 1) * element + 2 * kGuardBytes), kPattern);

  desc_.dtype = dtype;
  std::vector<int64_t> dims = logical_shape_;
  std::vector<int64_t> strides = logical_strides_;
  if (form == Form::kChannelsLast) {
    desc_.layout = Layout::kChannelsLast;
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
    std::rotate(strides.begin() + 1, strides.begin() + 2, strides.end());
  }
  desc_.shape = Dims(dims);
  desc_.strides = Dims(strides);
}

size_t TestTensor::ByteOf(int64_t index) const {
  int64_t offset = 0;
  for (size_t i = logical_shape_.size(); i-- > 0;) {
    offset += index % logical_shape_[i] * logical_strides_[i];
    index /= logical_shape_[i];
  }
  return static_cast<size_t>(static_cast<int64_t>(origin_) + offset * SizeOf(desc_.dtype));
}

void TestTensor::FillBits(const std::vector<uint64_t>& bits) {
  for (int64_t i = 0; i < size_; ++i) {
    std::memcpy(storage_.data() + ByteOf(i), &bits[static_cast<size_t>(i)],
                static_cast<size_t>(SizeOf(desc_.dtype)));
  }
}

void TestTensor::Fill(const std::vector<double>& values) {
  std::vector<uint64_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(),
                 [&](double value) { return ToBits(desc_.dtype, value); });
  FillBits(bits);
}

std::vector<uint64_t> TestTensor::Bits() const {
  std::vector<uint64_t> bits(static_cast<size_t>(size_), 0);
  for (int64_t i = 0; i < size_; ++i) {
    std::memcpy(&bits[static_cast<size_t>(i)], storage_.data() + ByteOf(i),
                static_cast<size_t>(SizeOf(desc_.dtype)));
  }
  return bits;
}

std::vector<double> TestTensor::Read() const {
  const std::vector<uint64_t> bits = Bits();
  std::vector<double> values(bits.size());
  std::transform(bits.begin(), bits.end(), values.begin(),
                 [&](uint64_t element) { return FromBits(desc_.dtype, element); });
  return values;
}

bool TestTensor::GapsUntouched() const {
  std::vector<bool> covered(storage_.size(), false);
  for (int64_t i = 0; i < size_; ++i) {
    for (int64_t b = 0; b < SizeOf(desc_.dtype); ++b) {
      covered[ByteOf(i) + static_cast<size_t>(b)] = true;
    }
  }
  for (size_t i = 0; i < storage_.size(); ++i) {
    if (!covered[i] && storage_[i] != kPattern) return false;
  }
  return true;
}

}  // namespace opscv::testing
