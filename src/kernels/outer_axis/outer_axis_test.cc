// SPDX-License-Identifier: Apache-2.0
#include "kernels/outer_axis/outer_axis.h"

#include <gtest/gtest.h>

#include <span>

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

// The outputs of a table: as a TapTable lays them out, row numbers counted from anywhere.
struct Table {
  std::vector<int64_t> base;
  std::vector<int64_t> place = {0};
  std::vector<int32_t> delta;
  std::vector<double> weight;
  std::vector<float> weight_float;

  [[nodiscard]] int64_t outputs() const { return static_cast<int64_t>(base.size()); }
  [[nodiscard]] int64_t taps(int64_t o) const {
    return place[static_cast<size_t>(o) + 1] - place[static_cast<size_t>(o)];
  }
  // One past the highest row that an output from `first` on reads; 0 where none reads any.
  [[nodiscard]] int64_t End(int64_t first) const {
    int64_t end = 0;
    for (int64_t o = first; o < outputs(); ++o) {
      if (taps(o) == 0) continue;
      const auto last = static_cast<size_t>(place[static_cast<size_t>(o) + 1] - 1);
      end = std::max(end, base[static_cast<size_t>(o)] + delta[last] + 1);
    }
    return end;
  }
};

// One call: steps, and the table's outputs from `skipped` on.
struct Case {
  ElementKey key;
  int64_t n;
  int64_t src_step_bytes;
  int64_t src_row_bytes;
  int64_t dst_step_bytes;
  int64_t dst_row_bytes = 0;
  int64_t origin = 0;
  int64_t ring_rows = 0;
  int64_t skipped = 0;
  Table table = {};
  bool stream = false;

  [[nodiscard]] int64_t outputs() const { return table.outputs() - skipped; }
  [[nodiscard]] int64_t taps(int64_t o) const { return table.taps(skipped + o); }
  // Rows in memory.
  [[nodiscard]] int64_t rows() const {
    const int64_t read = std::max<int64_t>(table.End(skipped) - origin, 0);
    return ring_rows != 0 ? std::min(read, ring_rows) : read;
  }
  [[nodiscard]] testing::DestinationShape Shape() const {
    return {n, dst_step_bytes, outputs(), dst_row_bytes};
  }
  [[nodiscard]] OuterAxisArgs Args(const char* src, char* dst) const {
    const bool wide = ComputeDType(key.src) == DType::kFloat64;
    return {
        .src = src,
        .src_row_bytes = src_row_bytes,
        .src_step_bytes = src_step_bytes,
        .origin = origin,
        .ring_rows = ring_rows,
        .base = table.base.data() + skipped,
        .place = table.place.data() + skipped,
        .delta = table.delta.data(),
        .weight = wide ? static_cast<const void*>(table.weight.data()) : table.weight_float.data(),
        .rows = outputs(),
        .dst = dst,
        .dst_row_bytes = dst_row_bytes,
        .dst_step_bytes = dst_step_bytes,
        .n = static_cast<size_t>(n),
        .stream = stream};
  }
  // Where the row of tap k of output o lies, in rows from `src`.
  [[nodiscard]] int64_t RowOfTap(int64_t o, int64_t k) const {
    const auto row = static_cast<size_t>(skipped + o);
    const int64_t number =
        table.base[row] + table.delta[static_cast<size_t>(table.place[row] + k)] - origin;
    return ring_rows == 0 ? number : number % ring_rows;
  }
  [[nodiscard]] double Weight(int64_t o, int64_t k) const {
    const int64_t first = table.place[static_cast<size_t>(skipped + o)];
    return table.weight[static_cast<size_t>(first + k)];
  }
};

std::string Say(const Case& c) {
  std::string text = std::string(NameOf(c.key.src)) + " to " + std::string(NameOf(c.key.dst)) +
                     ", " + std::to_string(c.n) + " columns, taps";
  for (int64_t o = 0; o < c.outputs(); ++o) text += " " + std::to_string(c.taps(o));
  return text + ", steps " + std::to_string(c.src_step_bytes) + " and " +
         std::to_string(c.dst_step_bytes) + " bytes, rows " + std::to_string(c.src_row_bytes) +
         " and " + std::to_string(c.dst_row_bytes) + " bytes apart, ring of " +
         std::to_string(c.ring_rows) + ", origin " + std::to_string(c.origin) +
         (c.stream ? ", streamed" : "");
}

// Appends an output of so many taps: rows ascending from `base` on, with gaps.
void AddOutput(TracedRandom& random, Table& table, int64_t base, int64_t taps, bool wide) {
  table.base.push_back(base);
  int32_t next = 0;
  for (int64_t k = 0; k < taps; ++k) {
    table.delta.push_back(next);
    next += random.OneIn(4) ? static_cast<int32_t>(random.Int(2, 4)) : 1;
    table.weight_float.push_back(static_cast<float>(random.Normal()));
    const auto narrow = static_cast<double>(table.weight_float.back());
    table.weight.push_back(wide ? random.Normal() : narrow);
  }
  table.place.push_back(static_cast<int64_t>(table.delta.size()));
}

// A distance of rows of `n` elements that do not meet, in either direction; often one that leaves
// whole cache lines from a row to the next, as streaming wants it.
int64_t RandomApart(TracedRandom& random, int64_t n, int64_t step_bytes, int64_t element_bytes) {
  constexpr int64_t kLine = 64;
  const int64_t bytes = (n - 1) * std::abs(step_bytes) + element_bytes;
  const int64_t apart = random.OneIn(2) ? (bytes + kLine - 1) / kLine * kLine
                                        : bytes + random.Int(0, 3) * element_bytes;
  return random.OneIn(3) ? -apart : apart;
}

// A call whose outputs have the given numbers of taps.
Case RandomCase(TracedRandom& random, const ElementKey& key, int64_t n,
                std::span<const int64_t> taps) {
  const int64_t src_bytes = SizeOf(key.src);
  const int64_t dst_bytes = SizeOf(key.dst);
  const bool wide = key.src == DType::kFloat64;
  Case c;
  c.key = key;
  c.n = n;
  c.stream = random.OneIn(2);
  c.src_step_bytes = key.src_unit_step ? src_bytes : random.Of(kSteps) * src_bytes;
  c.dst_step_bytes = key.dst_unit_step ? dst_bytes : random.Of(kSteps) * dst_bytes;
  if (c.dst_step_bytes == 0) c.dst_step_bytes = 5 * dst_bytes;
  c.src_row_bytes = random.OneIn(8) ? 0 : random.Int(-n - 8, 2 * n + 8) * src_bytes;
  c.dst_row_bytes = RandomApart(random, n, c.dst_step_bytes, dst_bytes);
  c.origin = random.OneIn(3) ? 0 : random.Int(1, int64_t{1} << 40);
  c.skipped = random.Int(0, 2);
  for (int64_t o = 0; o < c.skipped; ++o) AddOutput(random, c.table, -7, 3, wide);
  for (const int64_t count : taps) {
    // An output without taps has the base of nothing.
    const int64_t base = count == 0 ? 0 : c.origin + random.Int(0, 9);
    AddOutput(random, c.table, base, count, wide);
  }
  if (random.OneIn(2)) {  // no row further than two rounds
    const int64_t read = c.rows();
    c.ring_rows = std::max<int64_t>(random.Int((read + 1) / 2, read + 2), 1);
  }
  return c;
}

// The values of a column's rows.
testing::ExactSum Exactly(const Case& c, const char* src, int64_t o, int64_t x) {
  testing::ExactSum sum;
  for (int64_t k = 0; k < c.taps(o); ++k) {
    const char* from = src + c.RowOfTap(o, k) * c.src_row_bytes + x * c.src_step_bytes;
    sum.Add(c.Weight(o, k), Decode(c.key.src, from));
  }
  return sum;
}

// Memory in which only the rows that taps name hold values.
char* PlaceRows(TracedRandom& random, const Case& c, const Pool& pool, Flush flush) {
  static GuardedArena sources(size_t{8} << 20);
  char* src = PlaceSource(
      sources,
      Reach(SizeOf(c.key.src)).Along(c.rows(), c.src_row_bytes).Along(c.n, c.src_step_bytes),
      flush);
  std::vector<bool> filled(static_cast<size_t>(c.rows()), false);
  for (int64_t o = 0; o < c.outputs(); ++o) {
    for (int64_t k = 0; k < c.taps(o); ++k) {
      const int64_t row = c.RowOfTap(o, k);
      if (filled[static_cast<size_t>(row)]) continue;
      filled[static_cast<size_t>(row)] = true;
      pool.Fill(random, src + row * c.src_row_bytes, c.n, c.src_step_bytes);
    }
  }
  return src;
}

void Check(TracedRandom& random, const Case& c, const Pool& pool, bool same_bits, Flush flush) {
  static GuardedArena targets(size_t{2} << 20);
  SCOPED_TRACE(Say(c));
  const char* src = PlaceRows(random, c, pool, flush);
  Destinations dst(targets, c.key.dst, c.Shape(), flush);
  SelectOuterAxisReference(c.key)(c.Args(src, dst.plain()));
  SelectOuterAxis(c.key)(c.Args(src, dst.kernel()));
  for (int64_t i = 0; i < c.Shape().count(); ++i) {
    const int64_t o = i / c.n;
    const testing::ExactSum sum = Exactly(c, src, o, i % c.n);
    testing::ExpectAccurate(c.key.dst, dst.KernelValue(i), sum, c.taps(o));
    testing::ExpectAccurate(c.key.dst, dst.PlainValue(i), sum, c.taps(o));
  }
  if (same_bits) {
    dst.ExpectSameBits();
  } else {
    dst.ExpectOnlyElementsWritten();
  }
}

// Numbers of taps, shared out among calls of up to six outputs: all there are, or a few.
std::vector<std::vector<int64_t>> RandomCalls(TracedRandom& random, bool all) {
  std::vector<std::vector<int64_t>> calls(1);
  for (const int64_t taps : kTermCounts) {
    if (!all && !random.OneIn(8)) continue;
    if (calls.back().size() == 6 || random.OneIn(4)) calls.emplace_back();
    calls.back().insert(
        calls.back().begin() + random.Int(0, static_cast<int64_t>(calls.back().size())), taps);
  }
  return calls;
}

void CheckAllKeys(bool same_bits, Content content, int64_t every_width) {
  TracedRandom random;
  for (const testing::TypePair& types : kTypePairs) {
    const Pool pool(random, types.src, content);
    for (const bool src_unit : {true, false}) {
      for (const bool dst_unit : {true, false}) {
        const ElementKey key{types.src, types.dst, src_unit, dst_unit};
        for (const int64_t n : testing::Widths()) {
          for (const std::vector<int64_t>& taps : RandomCalls(random, n % every_width == 0)) {
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

// One call for all, or one for any outputs and columns: the same bits.
TEST_P(OuterAxisTest, BoxesHaveTheBitsOfTheWhole) {
  TracedRandom random;
  for (const testing::TypePair& types : kTypePairs) {
    const Pool pool(random, types.src, Content::kNormal);
    const ElementKey key{types.src, types.dst};
    const int64_t size = SizeOf(types.dst);
    for (const int64_t n : {7, 16, 70}) {
      Case c = RandomCase(random, key, n, kTermCounts);
      c.dst_row_bytes = n * size;
      SCOPED_TRACE(Say(c));
      const char* src = PlaceRows(random, c, pool, Flush::kEnd);
      std::vector<char> whole(static_cast<size_t>(c.outputs() * c.dst_row_bytes));
      SelectOuterAxis(key)(c.Args(src, whole.data()));
      for (int i = 0; i < 30; ++i) {
        Case part = c;
        const int64_t left = random.Int(0, n - 1);
        const int64_t first = random.Int(0, c.outputs() - 1);
        const int64_t end = random.Int(first + 1, c.outputs());
        part.n = random.Int(1, n - left);
        part.skipped += first;
        part.stream = random.OneIn(2);
        std::vector<char> actual = whole;
        for (int64_t o = first; o < end; ++o) {  // zeros where the part belongs
          const int64_t at = o * c.dst_row_bytes + left * size;
          std::fill_n(actual.begin() + at, part.n * size, '\0');
        }
        OuterAxisArgs args = part.Args(src + left * c.src_step_bytes,
                                       actual.data() + first * c.dst_row_bytes + left * size);
        args.rows = end - first;
        SelectOuterAxis(key)(args);
        ASSERT_TRUE(actual == whole)
            << "outputs " << first << " to " << end << ", " << part.n << " columns from " << left;
      }
    }
  }
}

TEST_P(OuterAxisTest, NothingToCombineIsPlusZero) {
  TracedRandom random;
  for (const testing::TypePair& types : kTypePairs) {
    for (const int64_t n : {1, 5, 40}) {
      const std::vector<int64_t> none(3, 0);
      Case c = RandomCase(random, {types.src, types.dst}, n, none);
      GuardedArena targets(4096);
      Destinations dst(targets, types.dst, c.Shape(), Flush::kEnd);
      SelectOuterAxis(c.key)(c.Args(nullptr, dst.kernel()));
      for (int64_t i = 0; i < c.Shape().count(); ++i) {
        EXPECT_TRUE(testing::SameValue(dst.KernelValue(i), 0.0)) << NameOf(types.dst);
      }
    }
  }
}

// Every output's sum for all of `n` columns that hold the same value.
void ExpectPlusZero(const testing::TypePair& types, int64_t n, double value, double weight,
                    size_t taps, bool stream) {
  std::vector<char> src(static_cast<size_t>(n * SizeOf(types.src)));
  for (int64_t x = 0; x < n; ++x) {
    testing::Encode(types.src, value, &src[static_cast<size_t>(x * SizeOf(types.src))]);
  }
  const Case c{.key = {types.src, types.dst},
               .n = n,
               .src_step_bytes = SizeOf(types.src),
               .src_row_bytes = 0,
               .dst_step_bytes = SizeOf(types.dst),
               .dst_row_bytes = 64 * SizeOf(types.dst),
               .table = {.base = {0, 0},
                         .place = {0, 1, static_cast<int64_t>(1 + taps)},
                         .delta = std::vector<int32_t>(1 + taps, 0),
                         .weight = std::vector<double>(1 + taps, weight),
                         .weight_float = std::vector<float>(1 + taps, static_cast<float>(weight))},
               .stream = stream};
  GuardedArena targets(4096);
  Destinations dst(targets, types.dst, c.Shape(), Flush::kStart);
  SelectOuterAxis(c.key)(c.Args(src.data(), dst.kernel()));
  for (int64_t i = 0; i < c.Shape().count(); ++i) {
    EXPECT_TRUE(testing::SameValue(dst.KernelValue(i), 0.0))
        << NameOf(types.src) << " to " << NameOf(types.dst) << ", " << c.taps(i / n) << " taps";
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
        for (const size_t taps : {1, 32, 40}) {
          ExpectPlusZero(types, n, value, value == 0 ? 0.25 : -0.25, taps, value != 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace opscv::kernels
