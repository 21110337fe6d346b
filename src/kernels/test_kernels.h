// SPDX-License-Identifier: Apache-2.0
// What the tests of all kernel families share: every SIMD target in turn, elements of any type and
// step in guarded memory, and the comparison with the plain loops. Knows no kernel.
#ifndef OPSCV_KERNELS_TEST_KERNELS_H_
#define OPSCV_KERNELS_TEST_KERNELS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "base/test_guard.h"
#include "base/test_half_oracle.h"
#include "base/test_random.h"
#include "kernels/kernel.h"
#include "kernels/targets.h"
#include "reference/bound.h"

namespace opscv::kernels {

inline void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

}  // namespace opscv::kernels

namespace opscv::kernels::testing {

using opscv::testing::Flush;
using opscv::testing::GuardedArena;
using opscv::testing::kBothFlush;
using opscv::testing::SameValue;
using opscv::testing::TracedRandom;

// Runs a test once for every target of this machine, pinned while the test runs.
class OnEachTarget : public ::testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    const Status pinned = PinTarget(GetParam().name);
    ASSERT_TRUE(pinned.ok()) << pinned.message();
    ASSERT_EQ(CurrentTarget(), GetParam().name);
  }
  void TearDown() override { ASSERT_TRUE(PinTarget("").ok()); }

  // Whether the target has the fused multiply-add that defines bits; without it, sums of products
  // have the promised accuracy only.
  [[nodiscard]] static bool HasFma() {
    static constexpr std::array<std::string_view, 4> kWithout = {"SSE2", "SSSE3", "SSE4", "EMU128"};
    return std::find(kWithout.begin(), kWithout.end(), GetParam().name) == kWithout.end();
  }
};

inline std::string TargetName(const ::testing::TestParamInfo<Target>& info) {
  return info.param.name;
}

#define OPSCV_TEST_ON_EACH_TARGET(Suite)                                              \
  class Suite : public ::opscv::kernels::testing::OnEachTarget {};                    \
  INSTANTIATE_TEST_SUITE_P(Targets, Suite,                                            \
                           ::testing::ValuesIn(::opscv::kernels::SupportedTargets()), \
                           ::opscv::kernels::testing::TargetName)

// Source and destination types that kernels take; the first four have a source of the
// computation's.
struct TypePair {
  DType src;
  DType dst;
};
inline constexpr std::array<TypePair, 8> kTypePairs = {{{DType::kFloat64, DType::kFloat64},
                                                        {DType::kFloat32, DType::kFloat32},
                                                        {DType::kFloat32, DType::kFloat16},
                                                        {DType::kFloat32, DType::kBFloat16},
                                                        {DType::kFloat16, DType::kFloat16},
                                                        {DType::kFloat16, DType::kFloat32},
                                                        {DType::kBFloat16, DType::kBFloat16},
                                                        {DType::kBFloat16, DType::kFloat32}}};
inline constexpr size_t kFromCompute = 4;

// One to more than three vectors of every target, all their remainders, and a long one.
inline std::vector<int64_t> Widths() {
  std::vector<int64_t> widths;
  for (int64_t n = 1; n <= 70; ++n) widths.push_back(n);
  widths.push_back(257);
  return widths;
}

// Around the blocks of 32 that sums are made of.
inline constexpr std::array<int64_t, 11> kTermCounts = {0, 1, 2, 4, 31, 32, 33, 64, 65, 96, 200};

// Steps in elements of a row whose elements need not touch.
inline constexpr std::array<int64_t, 7> kSteps = {1, 2, 3, 7, 0, -1, -3};

inline double Decode(DType dtype, const void* from) {
  const auto read = [&](auto value) {
    std::memcpy(&value, from, sizeof(value));
    return value;
  };
  switch (dtype) {
    case DType::kFloat64:
      return read(double{});
    case DType::kFloat16:
      return opscv::testing::OracleValue(opscv::testing::kFloat16Format, read(uint16_t{}));
    case DType::kBFloat16:
      return opscv::testing::OracleValue(opscv::testing::kBFloat16Format, read(uint16_t{}));
    default:
      return static_cast<double>(read(float{}));
  }
}

inline void Encode(DType dtype, double value, void* to) {
  const auto write = [&](auto element) { std::memcpy(to, &element, sizeof(element)); };
  switch (dtype) {
    case DType::kFloat64:
      return write(value);
    case DType::kFloat16:
      return write(ToFloat16(static_cast<float>(value)));
    case DType::kBFloat16:
      return write(ToBFloat16(static_cast<float>(value)));
    default:
      return write(static_cast<float>(value));
  }
}

// kSpecial: among normal values, many that are none. kFinite: of those, such as no sum of a few
// overflows of. kRare: one special value among a few hundred.
enum class Content { kNormal, kSpecial, kFinite, kRare };

inline double RandomValue(TracedRandom& random, Content content) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr size_t kFiniteSpecials = 10;
  static constexpr std::array<double, 16> kSpecials = {
      0.0,           -0.0,    1.0,       -1.0,       0x1p-149,
      -0x1p-130,     0x1p-24, -0x1p-14,  65504.0,    -3e4,
      3.38e38,       -3.2e38, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(),
      0x1.FFFFFEp127};
  if (content != Content::kNormal && random.OneIn(content == Content::kRare ? 300 : 3)) {
    return content == Content::kFinite ? random.Of(std::span(kSpecials).first(kFiniteSpecials))
                                       : random.Of(kSpecials);
  }
  return random.Normal();
}

// Encoded random elements, many times cheaper to copy than to draw.
class Pool {
 public:
  Pool(TracedRandom& random, DType dtype, Content content)
      : size_(static_cast<size_t>(SizeOf(dtype))), bytes_(kCount * size_) {
    for (size_t i = 0; i < kCount; ++i) {
      Encode(dtype, RandomValue(random, content), &bytes_[i * size_]);
    }
  }

  // Fills `count` elements `step_bytes` apart, from a random place of the pool on.
  void Fill(TracedRandom& random, char* to, int64_t count, int64_t step_bytes) const {
    const auto first = static_cast<size_t>(random.Int(0, kCount - 1));
    for (int64_t i = 0; i < count; ++i) {
      const size_t at = (first + static_cast<size_t>(i)) % kCount * size_;
      std::memcpy(to + i * step_bytes, &bytes_[at], size_);
    }
  }

 private:
  static constexpr int64_t kCount = 4099;
  size_t size_;
  std::vector<char> bytes_;
};

// The bytes that elements reach around the one at coordinates 0, built dimension by dimension.
class Reach {
 public:
  explicit Reach(int64_t element_bytes) : above_(element_bytes) {}
  Reach& Along(int64_t count, int64_t step_bytes) {
    if (count == 0) empty_ = true;
    (step_bytes < 0 ? below_ : above_) += std::abs(step_bytes) * std::max<int64_t>(count - 1, 0);
    return *this;
  }

  [[nodiscard]] size_t bytes() const { return empty_ ? 0 : static_cast<size_t>(below_ + above_); }
  // From the first byte to the element at coordinates 0.
  [[nodiscard]] int64_t below() const { return empty_ ? 0 : below_; }

 private:
  int64_t below_ = 0;
  int64_t above_;
  bool empty_ = false;
};

// Bytes of 0xFF: a NaN in every type, so that reading a foreign element shows.
inline char* PlaceSource(GuardedArena& arena, const Reach& reach, Flush flush) {
  const std::span<char> bytes = arena.Take(reach.bytes(), flush);
  std::fill(bytes.begin(), bytes.end(), '\xFF');
  return bytes.data() + reach.below();
}

// Where a destination's elements lie: rows of n, element i of them the (i % n)-th of row i / n.
struct DestinationShape {
  int64_t n;
  int64_t step_bytes;
  int64_t rows = 1;
  int64_t row_bytes = 0;
  [[nodiscard]] int64_t count() const { return n * rows; }
  [[nodiscard]] int64_t Offset(int64_t i) const { return i / n * row_bytes + i % n * step_bytes; }
};

// Two destinations alike, one guarded for the kernel, one for the plain loops.
class Destinations {
 public:
  Destinations(GuardedArena& arena, DType dtype, const DestinationShape& shape, Flush flush)
      : dtype_(dtype),
        shape_(shape),
        reach_(Reach(SizeOf(dtype))
                   .Along(shape.n, shape.step_bytes)
                   .Along(shape.rows, shape.row_bytes)),
        kernel_(arena.Take(reach_.bytes(), flush)),
        plain_(kernel_.size() + 1, kUntouched) {  // never null, as offsets are applied to it
    std::fill(kernel_.begin(), kernel_.end(), kUntouched);
  }

  [[nodiscard]] char* kernel() const { return kernel_.data() + reach_.below(); }
  [[nodiscard]] char* plain() { return plain_.data() + reach_.below(); }
  [[nodiscard]] double KernelValue(int64_t i) const {
    return Decode(dtype_, kernel() + shape_.Offset(i));
  }
  [[nodiscard]] double PlainValue(int64_t i) { return Decode(dtype_, plain() + shape_.Offset(i)); }

  // The kernel wrote the plain loops' bits, NaN for any NaN, and nothing beside its elements.
  void ExpectSameBits() {
    for (int64_t i = 0; i < shape_.count(); ++i) {
      ASSERT_TRUE(SameValue(KernelValue(i), PlainValue(i)))
          << "element " << i << ": " << std::hexfloat << KernelValue(i) << ", plain loops "
          << PlainValue(i);
    }
    ExpectOnlyElementsWritten();
  }

  void ExpectOnlyElementsWritten() {
    for (int64_t i = 0; i < shape_.count(); ++i) {
      std::memcpy(plain() + shape_.Offset(i), kernel() + shape_.Offset(i),
                  static_cast<size_t>(SizeOf(dtype_)));
    }
    ASSERT_TRUE(std::equal(kernel_.begin(), kernel_.end(), plain_.begin()))
        << "bytes between the destination's elements were written";
  }

 private:
  static constexpr char kUntouched = '\x5A';
  DType dtype_;
  DestinationShape shape_;
  Reach reach_;
  std::span<char> kernel_;
  std::vector<char> plain_;
};

// A sum of products in a type wider than any the kernels use.
struct ExactSum {
  long double value = 0;
  long double magnitude = 0;
  void Add(double weight, double x) {
    value += static_cast<long double>(weight) * static_cast<long double>(x);
    magnitude += std::fabs(static_cast<long double>(weight) * static_cast<long double>(x));
  }
};

// The promise of operators' accuracy for one pass over `terms` terms.
inline void ExpectAccurate(DType dst, double actual, const ExactSum& sum, int64_t terms) {
  const auto value = static_cast<double>(sum.value);
  const auto magnitude = static_cast<double>(sum.magnitude);
  const double fraction = reference::ErrorFraction(
      dst, actual, value, magnitude,
      {.passes = 1, .taps = {terms, 0}, .largest_extent = std::max<int64_t>(terms, 1)});
  ASSERT_LE(fraction, 1.0) << "error in units of the bound; got " << std::hexfloat << actual
                           << ", exactly " << value << ", magnitude " << magnitude;
}

}  // namespace opscv::kernels::testing

#endif  // OPSCV_KERNELS_TEST_KERNELS_H_
