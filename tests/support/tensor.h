// SPDX-License-Identifier: Apache-2.0
// Tensors for tests: owned storage seen through any strides, filled and read as doubles in the
// order N,C,spatial, with every byte that no element covers checked for being left alone.
#ifndef OPSCV_TESTS_SUPPORT_TENSOR_H_
#define OPSCV_TESTS_SUPPORT_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opscv/view.h"

namespace opscv::testing {

// How a tensor lies in memory.
enum class Form {
  kContiguous,        // row-major
  kChannelsLastView,  // dims N,C,spatial over memory ordered N,spatial,C
  kChannelsLast,      // Layout::kChannelsLast, row-major in that order
  kReversedSpace,     // spatial axes permuted back to front
  kNegative,          // spatial axes backwards
  kStrided,           // every second element along the innermost axis, gaps between rows
  kPadded,            // rows with gaps after them
  kExpanded,          // N and C of stride 0, one element behind them; inputs only
};
inline constexpr int kForms = 8;
std::string_view NameOf(Form form);

// The offset of the index-th element, row-major over the shape as it is listed, in elements.
[[nodiscard]] int64_t OffsetOf(const TensorDesc& tensor, int64_t index);

class TestTensor {
 public:
  // A tensor of that shape, given as N,C,spatial, with all storage set to a pattern.
  TestTensor(DType dtype, const std::vector<int64_t>& shape, Form form);

  [[nodiscard]] const TensorDesc& desc() const { return desc_; }
  [[nodiscard]] void* data() { return storage_.data() + origin_; }
  [[nodiscard]] const void* data() const { return storage_.data() + origin_; }
  [[nodiscard]] int64_t size() const { return size_; }

  // Elements as doubles, row-major over N,C,spatial. Fill rounds to the type; of elements that
  // share an address the last wins.
  void Fill(const std::vector<double>& values);
  [[nodiscard]] std::vector<double> Read() const;
  // The same as raw bits, to compare exactly.
  [[nodiscard]] std::vector<uint64_t> Bits() const;
  void FillBits(const std::vector<uint64_t>& bits);

  // Whether every byte outside the elements still has its pattern.
  [[nodiscard]] bool GapsUntouched() const;

 private:
  // The byte in storage_ of element `index` (row-major over N,C,spatial).
  [[nodiscard]] size_t ByteOf(int64_t index) const;

  TensorDesc desc_;
  std::vector<int64_t> logical_shape_;
  std::vector<int64_t> logical_strides_;
  int64_t size_;
  size_t origin_;
  std::vector<unsigned char> storage_;
};

// A double as bits of the type, and back.
uint64_t ToBits(DType dtype, double value);
double FromBits(DType dtype, uint64_t bits);

}  // namespace opscv::testing

#endif  // OPSCV_TESTS_SUPPORT_TENSOR_H_
