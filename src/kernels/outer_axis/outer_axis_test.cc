// SPDX-License-Identifier: Apache-2.0
#include "kernels/outer_axis/outer_axis.h"

#include <gtest/gtest.h>

#include <numeric>

#include "kernels/test_kernels.h"

namespace opscv::kernels {
namespace {

using testing::Content;
using testing::Decode;
using testing::Destinations;
using testing::Flush;
using testing::GuardedArena;
using testing::kBothFlush;
using testing::kSteps;
using testing::kTermCounts;
using testing::kTypePairs;
using testing::Pool;
using testing::Reach;
using testing::TracedRandom;

OPSCV_TEST_ON_EACH_TARGET(OuterAxisTest);

// One call: its steps and its taps.
struct Case {
  ElementKey key;
  int64_t n;
  int64_t src_step_bytes;
  int64_t src_row_bytes;
  int64_t dst_step_bytes;
  std::vector<int32_t> delta;
  std::vector<double> weight;
  std::vector<float> weight_float;
  bool stream = false;

  [[nodiscard]] int64_t taps() const { return static_cast<int64_t>(delta.size()); }
  [[nodiscard]] int64_t rows() const {
    return delta.empty() ? 0 : *std::max_element(delta.begin(), delta.end()) + 1;
  }
  [[nodiscard]] OuterAxisArgs Args(const char* src, char* dst) const {
    const bool wide = ComputeDType(key.src) == DType::kFloat64;
    return {.src = src,
            .src_row_bytes = src_row_bytes,
            .src_step_bytes = src_step_bytes,
            .delta = delta.data(),
            .weight = wide ? static_cast<const void*>(weight.data()) : weight_float.data(),
            .taps = delta.size(),
            .dst = dst,
            .dst_step_bytes = dst_step_bytes,
            .n = static_cast<size_t>(n),
            .stream = stream};
  }
};

std::string Say(const Case& c) {
  return std::string(NameOf(c.key.src)) + " to " + std::string(NameOf(c.key.dst)) + ", " +
         std::to_string(c.n) + " columns, " + std::to_string(c.taps()) + " taps, steps " +
         std::to_string(c.src_step_bytes) + " and " + std::to_string(c.dst_step_bytes) +
         " bytes, rows " + std::to_string(c.src_row_bytes) + " bytes apart" +
         (c.stream ? ", streamed" : "");
}

// Rows that taps combine: ascending with gaps, or turned as in a ring of rows.
std::vector<int32_t> RandomDeltas(TracedRandom& random, int64_t taps) {
  std::vector<int32_t> delta(static_cast<size_t>(taps));
  int32_t next = 0;
  for (int32_t& d : delta) {
    d = next;
    next += random.OneIn(4) ? 2 : 1;
  }
  if (taps > 1 && random.OneIn(3)) {
    std::rotate(delta.begin(), delta.begin() + random.Int(0, taps - 1), delta.end());
  }
  return delta;
}

Case RandomCase(TracedRandom& random, const ElementKey& key, int64_t n, int64_t taps) {
  const int64_t src_bytes = SizeOf(key.src);
  const int64_t dst_bytes = SizeOf(key.dst);
  Case c;
  c.key = key;
  c.n = n;
  c.stream = random.OneIn(2);
  c.src_step_bytes = key.src_unit_step ? src_bytes : random.Of(kSteps) * src_bytes;
  c.dst_step_bytes = key.dst_unit_step ? dst_bytes : random.Of(kSteps) * dst_bytes;
  if (c.dst_step_bytes == 0) c.dst_step_bytes = 5 * dst_bytes;
  c.src_row_bytes = random.OneIn(8) ? 0 : random.Int(-n - 8, 2 * n + 8) * src_bytes;
  c.delta = RandomDeltas(random, taps);
  for (int64_t k = 0; k < taps; ++k) {
    c.weight_float.push_back(static_cast<float>(random.Normal()));
    const bool wide = key.src == DType::kFloat64;
    c.weight.push_back(wide ? random.Normal() : static_cast<double>(c.weight_float.back()));
  }
  return c;
}

// What the steps and lines of a run are not: the values of a column's rows.
testing::ExactSum Exactly(const Case& c, const char* src, int64_t x) {
  testing::ExactSum sum;
  for (size_t k = 0; k < c.delta.size(); ++k) {
    const char* from = src + c.delta[k] * c.src_row_bytes + x * c.src_step_bytes;
    sum.Add(c.weight[k], Decode(c.key.src, from));
  }
  return sum;
}

void Check(TracedRandom& random, const Case& c, const Pool& pool, bool same_bits, Flush flush) {
  static GuardedArena sources(size_t{4} << 20);
  static GuardedArena targets(size_t{1} << 20);
  SCOPED_TRACE(Say(c));
  char* src = PlaceSource(
      sources,
      Reach(SizeOf(c.key.src)).Along(c.rows(), c.src_row_bytes).Along(c.n, c.src_step_bytes),
      flush);
  for (const int32_t delta : c.delta) {
    pool.Fill(random, src + delta * c.src_row_bytes, c.n, c.src_step_bytes);
  }
  Destinations dst(targets, c.key.dst, {c.n, c.dst_step_bytes}, flush);
  SelectOuterAxisReference(c.key)(c.Args(src, dst.plain()));
  SelectOuterAxis(c.key)(c.Args(src, dst.kernel()));
  for (int64_t x = 0; x < c.n; ++x) {
    const testing::ExactSum sum = Exactly(c, src, x);
    testing::ExpectAccurate(c.key.dst, dst.KernelValue(x), sum, c.taps());
    testing::ExpectAccurate(c.key.dst, dst.PlainValue(x), sum, c.taps());
  }
  if (same_bits) {
    dst.ExpectSameBits();
  } else {
    dst.ExpectOnlyElementsWritten();
  }
}

void CheckAllKeys(bool same_bits, Content content, int64_t every_width) {
  TracedRandom random;
  for (const testing::TypePair& types : kTypePairs) {
    const Pool pool(random, types.src, content);
    for (const bool src_unit : {true, false}) {
      for (const bool dst_unit : {true, false}) {
        const ElementKey key{types.src, types.dst, src_unit, dst_unit};
        for (const int64_t n : testing::Widths()) {
          const bool all_counts = n % every_width == 0;
          for (const int64_t taps : kTermCounts) {
            if (!all_counts && !random.OneIn(8)) continue;
            const Case c = RandomCase(random, key, n, taps);
            for (const Flush flush : kBothFlush) Check(random, c, pool, same_bits, flush);
            if (::testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_P(OuterAxisTest, EqualsThePlainLoops) { CheckAllKeys(HasFma(), Content::kNormal, 16); }

TEST_P(OuterAxisTest, EqualsThePlainLoopsOnSpecialValues) {
  CheckAllKeys(HasFma(), Content::kSpecial, 64);
}

TEST_P(OuterAxisTest, NothingToCombineIsPlusZero) {
  TracedRandom random;
  for (const testing::TypePair& types : kTypePairs) {
    for (const int64_t n : {1, 5, 40}) {
      const Case c = RandomCase(random, {types.src, types.dst}, n, 0);
      GuardedArena targets(4096);
      Destinations dst(targets, types.dst, {n, c.dst_step_bytes}, Flush::kEnd);
      SelectOuterAxis(c.key)(c.Args(nullptr, dst.kernel()));
      for (int64_t x = 0; x < n; ++x) {
        EXPECT_TRUE(testing::SameValue(dst.KernelValue(x), 0.0)) << NameOf(types.dst);
      }
    }
  }
}

// No zero of the sum +0 + w*x, plus +0, is negative: neither of zeros, however signed, nor of a
// negative product too small for the type.
TEST_P(OuterAxisTest, ZeroIsNeverNegative) {
  for (const testing::TypePair& types : kTypePairs) {
    const double tiny = types.src == DType::kFloat64 ? 0x1p-1074 : 0x1p-149;
    const bool half = SizeOf(types.src) == 2;  // has no value that small
    for (const double value : {-0.0, half ? -0.0 : tiny}) {
      for (const int64_t n : {3, 40}) {
        for (const size_t taps : {1, 40}) {
          std::vector<char> src(static_cast<size_t>(n * SizeOf(types.src)));
          for (int64_t x = 0; x < n; ++x) {
            testing::Encode(types.src, value, &src[static_cast<size_t>(x * SizeOf(types.src))]);
          }
          const double weight = value == 0 ? 0.25 : -0.25;
          const Case c{.key = {types.src, types.dst},
                       .n = n,
                       .src_step_bytes = SizeOf(types.src),
                       .src_row_bytes = 0,
                       .dst_step_bytes = SizeOf(types.dst),
                       .delta = std::vector<int32_t>(taps, 0),
                       .weight = std::vector<double>(taps, weight),
                       .weight_float = std::vector<float>(taps, static_cast<float>(weight)),
                       .stream = value != 0};
          GuardedArena targets(4096);
          Destinations dst(targets, types.dst, {n, c.dst_step_bytes}, Flush::kEnd);
          SelectOuterAxis(c.key)(c.Args(src.data(), dst.kernel()));
          for (int64_t x = 0; x < n; ++x) {
            EXPECT_TRUE(testing::SameValue(dst.KernelValue(x), 0.0))
                << NameOf(types.src) << " to " << NameOf(types.dst) << ", " << taps << " taps";
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace opscv::kernels
