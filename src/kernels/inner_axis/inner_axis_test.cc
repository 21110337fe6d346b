// SPDX-License-Identifier: Apache-2.0
#include "kernels/inner_axis/inner_axis.h"

#include <gtest/gtest.h>

#include "kernels/test_kernels.h"

namespace opscv::kernels {
namespace {

using taps::TapTable;
using testing::Content;
using testing::Decode;
using testing::Destinations;
using testing::Flush;
using testing::GuardedArena;
using testing::kBothFlush;
using testing::kTypePairs;
using testing::Pool;
using testing::Reach;
using testing::TracedRandom;

OPSCV_TEST_ON_EACH_TARGET(InnerAxisTest);

TapTable Forward(const taps::Axis& axis) {
  return taps::BuildTaps(axis, taps::Filter::kCubicAntialias);
}

// A table of `rows` rows: `ratio` inputs a row, as a forward operator or as a gradient has it.
TapTable TableOf(int64_t rows, double ratio, bool transposed) {
  const auto columns =
      std::max<int64_t>(static_cast<int64_t>(std::lround(static_cast<double>(rows) * ratio)), 1);
  return transposed ? taps::Transpose(Forward({.in = rows, .out = columns}))
                    : Forward({.in = columns, .out = rows});
}

// Rows of few and many taps, with 31 to 33, 64 and 65 among the longest; from 17 on not
// interleaved.
constexpr std::array<double, 13> kRatios = {0.3, 0.5, 1.1,  2.0,  3.3,  7.8, 8.0,
                                            8.3, 9.0, 16.0, 16.3, 17.0, 50.0};

// The samples that rows [begin, end) read.
struct Samples {
  int64_t begin = 0;
  int64_t end = 0;
};
Samples SamplesOf(const TapTable& table, int64_t begin, int64_t end) {
  Samples samples{table.columns(), 0};
  for (int64_t row = begin; row < end; ++row) {
    if (table.delta(row).empty()) continue;
    samples.begin = std::min(samples.begin, table.base(row));
    samples.end = std::max(samples.end, table.end(row));
  }
  return samples.begin < samples.end ? samples : Samples{};
}

// A table in both layouts, and a row of values for it.
class Problem {
 public:
  Problem(TracedRandom& random, const testing::TypePair& types, const Pool& pool, TapTable table)
      : types_(types),
        table_(std::move(table)),
        lanes_float_(BuildLaneTable<float>(table_)),
        lanes_double_(BuildLaneTable<double>(table_)),
        row_(static_cast<size_t>(table_.columns() * SizeOf(types.src))) {
    pool.Fill(random, row_.data(), table_.columns(), SizeOf(types.src));
  }

  [[nodiscard]] const TapTable& table() const { return table_; }
  [[nodiscard]] bool wide() const { return types_.src == DType::kFloat64; }

  // Outputs [begin, end) of a few rows by kernel and by plain loops, from the samples they read and
  // no others.
  void Check(TracedRandom& random, int64_t begin, int64_t end, bool same_bits, Flush flush) const {
    static GuardedArena sources(size_t{1} << 20);
    static GuardedArena targets(size_t{1} << 20);
    const Samples samples = SamplesOf(table_, begin, end);
    const int64_t rows = random.OneIn(2) ? 1 : random.Int(2, 9);
    SCOPED_TRACE(std::string(NameOf(types_.src)) + " to " + std::string(NameOf(types_.dst)) +
                 ", outputs " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
                 std::to_string(table_.rows()) + " made of " + std::to_string(table_.columns()) +
                 ", at most " + std::to_string(table_.max_taps()) + " taps, " +
                 std::to_string(rows) + " rows");
    const int64_t src_bytes = SizeOf(types_.src);
    const int64_t count = samples.end - samples.begin;
    const int64_t row_bytes = RandomApart(random, count * src_bytes, src_bytes);
    char* src = testing::PlaceSource(
        sources, Reach(src_bytes).Along(count, src_bytes).Along(rows, row_bytes), flush);
    for (int64_t r = 0; r < rows; ++r) {
      // Each row starts one sample further into the values, so that no two are alike.
      for (int64_t i = 0; i < count * src_bytes; ++i) {
        src[r * row_bytes + i] = RowByte(r, samples.begin * src_bytes + i);
      }
    }
    const bool unit = random.OneIn(2);
    int64_t dst_step = unit ? 1 : random.Of(testing::kSteps);
    if (dst_step == 0) dst_step = 5;
    dst_step *= SizeOf(types_.dst);
    const int64_t n = end - begin;
    const testing::DestinationShape shape{
        n, dst_step, rows, RandomApart(random, n * std::abs(dst_step), SizeOf(types_.dst))};
    Destinations dst(targets, types_.dst, shape, flush);
    const ElementKey key{types_.src, types_.dst, true, unit};
    InnerAxisArgs args{.row = src,
                       .row_origin = samples.begin,
                       .row_end = samples.end,
                       .table = wide() ? static_cast<const void*>(&lanes_double_) : &lanes_float_,
                       .begin = begin,
                       .end = end,
                       .dst = dst.plain(),
                       .dst_step_bytes = dst_step,
                       .rows = rows,
                       .row_bytes = row_bytes,
                       .dst_row_bytes = shape.row_bytes};
    SelectInnerAxisReference(key)(args);
    args.dst = dst.kernel();
    SelectInnerAxis(key)(args);
    ExpectAccurate(dst, begin, n, shape.count());
    if (same_bits) {
      dst.ExpectSameBits();
    } else {
      dst.ExpectOnlyElementsWritten();
    }
  }

  // The kernel's outputs [begin, end).
  [[nodiscard]] std::vector<char> Run(int64_t begin, int64_t end) const {
    std::vector<char> dst(static_cast<size_t>((end - begin) * SizeOf(types_.dst)));
    SelectInnerAxis({types_.src, types_.dst})(
        {.row = row_.data(),
         .row_origin = 0,
         .row_end = table_.columns(),
         .table = wide() ? static_cast<const void*>(&lanes_double_) : &lanes_float_,
         .begin = begin,
         .end = end,
         .dst = dst.data(),
         .dst_step_bytes = SizeOf(types_.dst)});
    return dst;
  }

 private:
  // Both results, of rows of n outputs from `begin`, within the bound of the exact sums.
  void ExpectAccurate(Destinations& dst, int64_t begin, int64_t n, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t output = begin + i % n;
      const testing::ExactSum sum = Exactly(i / n, output);
      const auto taps = static_cast<int64_t>(table_.delta(output).size());
      testing::ExpectAccurate(types_.dst, dst.KernelValue(i), sum, taps);
      testing::ExpectAccurate(types_.dst, dst.PlainValue(i), sum, taps);
    }
  }

  // A distance of rows of so many bytes that do not meet, in either direction.
  static int64_t RandomApart(TracedRandom& random, int64_t bytes, int64_t element_bytes) {
    const int64_t apart = bytes + random.Int(0, 3) * element_bytes;
    return random.OneIn(3) ? -apart : apart;
  }

  // The byte at `at` of row r: the values, turned by r samples.
  [[nodiscard]] char RowByte(int64_t r, int64_t at) const {
    const auto size = static_cast<int64_t>(row_.size());
    return row_[static_cast<size_t>((at + r * SizeOf(types_.src)) % size)];
  }

  [[nodiscard]] testing::ExactSum Exactly(int64_t r, int64_t output) const {
    testing::ExactSum sum;
    for (size_t k = 0; k < table_.delta(output).size(); ++k) {
      const int64_t sample = table_.base(output) + table_.delta(output)[k];
      const double weight =
          wide() ? table_.weight(output)[k] : static_cast<double>(table_.weight_float(output)[k]);
      const int64_t turned = (sample + r) % table_.columns();
      sum.Add(weight, Decode(types_.src, &row_[static_cast<size_t>(turned * SizeOf(types_.src))]));
    }
    return sum;
  }

  testing::TypePair types_;
  TapTable table_;
  LaneTable<float> lanes_float_;
  LaneTable<double> lanes_double_;
  std::vector<char> row_;
};

void CheckTypes(bool same_bits, Content content, int64_t one_ratio_in) {
  TracedRandom random;
  for (const testing::TypePair& types : std::span(kTypePairs).first(testing::kFromCompute)) {
    const Pool pool(random, types.src, content);
    for (const int64_t rows : testing::Widths()) {
      for (const double ratio : kRatios) {
        if (!random.OneIn(one_ratio_in)) continue;
        const Problem problem(random, types, pool, TableOf(rows, ratio, random.OneIn(2)));
        for (const Flush flush : kBothFlush) problem.Check(random, 0, rows, same_bits, flush);
        const int64_t begin = random.Int(0, rows);
        const int64_t end = random.Int(begin, rows);
        for (const Flush flush : kBothFlush) problem.Check(random, begin, end, same_bits, flush);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(InnerAxisTest, EqualsThePlainLoops) { CheckTypes(HasFma(), Content::kNormal, 2); }

TEST_P(InnerAxisTest, EqualsThePlainLoopsOnSpecialValues) {
  CheckTypes(HasFma(), Content::kSpecial, 3);
}

// Cut anywhere, by any target: the bits of the whole.
TEST_P(InnerAxisTest, BoxesHaveTheBitsOfTheWhole) {
  TracedRandom random;
  for (const testing::TypePair& types : std::span(kTypePairs).first(testing::kFromCompute)) {
    const Pool pool(random, types.src, Content::kNormal);
    for (const double ratio : kRatios) {
      const Problem problem(random, types, pool, TableOf(50, ratio, random.OneIn(2)));
      const std::vector<char> whole = problem.Run(0, 50);
      const auto size = static_cast<size_t>(SizeOf(types.dst));
      for (int64_t begin = 0; begin <= 50; ++begin) {
        for (int64_t end = begin; end <= 50; ++end) {
          const std::vector<char> part = problem.Run(begin, end);
          ASSERT_TRUE(std::equal(part.begin(), part.end(),
                                 whole.begin() + begin * static_cast<int64_t>(size)))
              << NameOf(types.dst) << ", outputs " << begin << " to " << end << ", ratio " << ratio;
        }
      }
    }
  }
}

// Of the gradient of one sample drawn from the first two of 40: the other rows have no taps.
TEST_P(InnerAxisTest, RowsWithoutTapsArePlusZero) {
  TracedRandom random;
  for (const testing::TypePair& types : std::span(kTypePairs).first(testing::kFromCompute)) {
    const Pool pool(random, types.src, Content::kNormal);
    const TapTable table = taps::Transpose(Forward({.in = 40, .out = 1, .align_corners = true}));
    const Problem problem(random, types, pool, table);
    for (const Flush flush : kBothFlush) {
      problem.Check(random, 0, 40, HasFma(), flush);
      problem.Check(random, 2, 40, HasFma(), flush);
      problem.Check(random, 16, 32, HasFma(), flush);
    }
    const std::vector<char> dst = problem.Run(0, 40);
    for (int64_t o = 2; o < 40; ++o) {
      const double value = Decode(types.dst, &dst[static_cast<size_t>(o * SizeOf(types.dst))]);
      EXPECT_TRUE(testing::SameValue(value, 0.0)) << NameOf(types.dst) << " output " << o;
    }
  }
}

// One NaN at a time reaches the rows that have a tap on it and no other, zero products included.
TEST_P(InnerAxisTest, NanReachesItsReadersOnly) {
  TracedRandom random;
  for (const double ratio : {0.5, 1.3, 9.0}) {
    for (const bool transposed : {false, true}) {
      const TapTable table = TableOf(37, ratio, transposed);
      const LaneTable<float> lanes = BuildLaneTable<float>(table);
      for (int64_t sample = 0; sample < table.columns(); ++sample) {
        std::vector<float> row(static_cast<size_t>(table.columns()), 0.0F);
        row[static_cast<size_t>(sample)] = std::numeric_limits<float>::quiet_NaN();
        std::vector<float> dst(37, 1.0F);
        SelectInnerAxis({})({.row = row.data(),
                             .row_origin = 0,
                             .row_end = table.columns(),
                             .table = &lanes,
                             .begin = 0,
                             .end = 37,
                             .dst = dst.data(),
                             .dst_step_bytes = 4});
        for (int64_t o = 0; o < 37; ++o) {
          bool reads = false;
          for (const int32_t delta : table.delta(o)) reads |= table.base(o) + delta == sample;
          EXPECT_EQ(std::isnan(dst[static_cast<size_t>(o)]), reads)
              << "sample " << sample << ", output " << o << ", ratio " << ratio;
        }
      }
    }
  }
}

// A product that vanishes below zero, as the last of its row's, leaves +0.
TEST_P(InnerAxisTest, ZeroIsNeverNegative) {
  for (const double ratio : {0.5, 9.0, 17.0}) {
    const TapTable table = TableOf(37, ratio, false);
    const LaneTable<float> lanes = BuildLaneTable<float>(table);
    for (int64_t sample = 0; sample < table.columns(); ++sample) {
      std::vector<float> row(static_cast<size_t>(table.columns()), 0.0F);
      row[static_cast<size_t>(sample)] = std::numeric_limits<float>::denorm_min();
      for (const int64_t begin : {0, 1}) {
        std::vector<float> dst(37, -1.0F);
        SelectInnerAxis({})({.row = row.data(),
                             .row_origin = 0,
                             .row_end = table.columns(),
                             .table = &lanes,
                             .begin = begin,
                             .end = 37,
                             .dst = dst.data() + begin,
                             .dst_step_bytes = 4});
        for (int64_t o = begin; o < 37; ++o) {
          const float value = dst[static_cast<size_t>(o)];
          EXPECT_FALSE(value == 0.0F && std::signbit(value))
              << "sample " << sample << ", output " << o << ", ratio " << ratio;
        }
      }
    }
  }
}

// The row's taps are counted, and each lies in its place.
template <typename Real>
void ExpectRowHolds(const LaneTable<Real>& lanes, const TapTable& table, int64_t row) {
  const LaneBlock& block = lanes.blocks[static_cast<size_t>(row / kLaneBlock)];
  const auto delta = table.delta(row);
  const auto taps = static_cast<int32_t>(delta.size());
  ASSERT_EQ(lanes.count[static_cast<size_t>(row)], taps);
  EXPECT_TRUE(block.min_taps <= taps && taps <= block.max_taps) << "row " << row;
  for (size_t k = 0; k < delta.size(); ++k) {
    const auto at = static_cast<size_t>(lanes.place[static_cast<size_t>(row)]) +
                    k * (block.interleaved ? kLaneBlock : 1);
    const int64_t sample = table.base(row) + delta[k];
    EXPECT_EQ(block.base + lanes.index[at], sample);
    EXPECT_LT(sample, block.end);
    // A float weight is the double one rounded, which tap_table_test.cc checks.
    EXPECT_EQ(lanes.weight[at], static_cast<Real>(table.weight(row)[k]));
  }
}

template <typename Real>
void ExpectHolds(const TapTable& table) {
  const LaneTable<Real> lanes = BuildLaneTable<Real>(table);
  ASSERT_EQ(lanes.rows, table.rows());
  const auto padded =
      static_cast<size_t>((table.rows() + kLaneBlock - 1) / kLaneBlock * kLaneBlock);
  ASSERT_EQ(lanes.count.size(), padded);
  ASSERT_EQ(lanes.place.size(), padded);
  ASSERT_EQ(lanes.index.size(), lanes.weight.size());
  for (int64_t row = 0; row < table.rows(); ++row) ExpectRowHolds(lanes, table, row);
}

TEST(LaneTable, HoldsTheTable) {
  for (const double ratio : kRatios) {
    for (const int64_t rows : {1, 15, 16, 17, 50}) {
      for (const bool transposed : {false, true}) {
        SCOPED_TRACE(std::to_string(rows) + " rows, ratio " + std::to_string(ratio));
        ExpectHolds<float>(TableOf(rows, ratio, transposed));
        ExpectHolds<double>(TableOf(rows, ratio, transposed));
      }
    }
  }
}

// A vector of any target may be loaded at any lane of a block, whatever the number of rows.
TEST(LaneTable, PaddingReadsTheStartOfItsHalf) {
  const LaneTable<float> lanes = BuildLaneTable<float>(TableOf(19, 3.3, false));
  const LaneBlock& last = lanes.blocks.back();
  ASSERT_TRUE(last.interleaved);
  ASSERT_EQ(lanes.index.size(), static_cast<size_t>(last.first + last.max_taps * kLaneBlock));
  for (int64_t lane = 3; lane < kLaneBlock; ++lane) {
    EXPECT_EQ(lanes.count[static_cast<size_t>(16 + lane)], 0);
    for (int64_t k = 0; k < last.max_taps; ++k) {
      const int64_t place = last.first + k * kLaneBlock + lane;
      EXPECT_EQ(lanes.index[static_cast<size_t>(place)],
                lanes.start[static_cast<size_t>(place / kLaneHalf)]);
    }
  }
}

}  // namespace
}  // namespace opscv::kernels
