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

// Rows of few and many taps, with 31 to 33, 64 and 65 among the longest; those of the last two are
// longer than what is turned at once.
constexpr std::array<double, 13> kRatios = {0.3, 0.5, 1.1,  2.0,  3.3,  7.8,  8.0,
                                            8.3, 9.0, 16.0, 16.3, 70.0, 300.0};

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

// A table, and a row of values for it: columns of pixels, each of some channels.
class Problem {
 public:
  Problem(TracedRandom& random, const testing::TypePair& types, const Pool& pool, TapTable table,
          int64_t channels)
      : types_(types),
        table_(std::move(table)),
        channels_(channels),
        row_(static_cast<size_t>(table_.columns() * channels * SizeOf(types.src))) {
    pool.Fill(random, row_.data(), table_.columns() * channels, SizeOf(types.src));
  }

  // Outputs [begin, end) of a few rows by kernel and by plain loops, from the samples they read and
  // no others.
  void Check(TracedRandom& random, int64_t begin, int64_t end, bool same_bits, Flush flush) const {
    constexpr int64_t kSourceBytes = int64_t{16} << 20;
    static GuardedArena sources(kSourceBytes);
    static GuardedArena targets(size_t{8} << 20);
    const Samples samples = SamplesOf(table_, begin, end);
    const int64_t n = (end - begin) * channels_;
    const int64_t src_bytes = SizeOf(types_.src);
    const int64_t count = (samples.end - samples.begin) * channels_;
    const ElementKey key{types_.src, types_.dst, random.OneIn(2), random.OneIn(2)};
    const int64_t src_step = RandomStep(random, key.src_unit_step, src_bytes);
    const int64_t dst_step = RandomStep(random, key.dst_unit_step, SizeOf(types_.dst));
    // As many rows as the memory holds and as are summed in long double in good time.
    const int64_t most_rows =
        std::min(kSourceBytes / 8 / std::max<int64_t>(count * std::abs(src_step), 1),
                 20000 / std::max<int64_t>(table_.total_taps() * channels_, 1));
    const int64_t rows = random.OneIn(3) ? 1 : random.Int(1, std::clamp<int64_t>(most_rows, 1, 40));
    SCOPED_TRACE(std::string(NameOf(types_.src)) + " to " + std::string(NameOf(types_.dst)) +
                 ", outputs " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
                 std::to_string(table_.rows()) + " made of " + std::to_string(table_.columns()) +
                 ", at most " + std::to_string(table_.max_taps()) + " taps, " +
                 std::to_string(rows) + " rows of " + std::to_string(channels_) +
                 " channels, steps " + std::to_string(src_step) + " and " +
                 std::to_string(dst_step) + " bytes");
    const int64_t row_bytes = RandomApart(random, count * std::abs(src_step), src_bytes);
    char* src = testing::PlaceSource(
        sources, Reach(src_bytes).Along(count, src_step).Along(rows, row_bytes), flush);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(src + r * row_bytes + i * src_step, ElementOf(r, samples.begin * channels_ + i),
                    static_cast<size_t>(src_bytes));
      }
    }
    const testing::DestinationShape shape{
        n, dst_step, rows, RandomApart(random, n * std::abs(dst_step), SizeOf(types_.dst))};
    Destinations dst(targets, types_.dst, shape, flush);
    InnerAxisArgs args{.row = src,
                       .row_origin = samples.begin,
                       .row_end = samples.end,
                       .src_step_bytes = src_step,
                       .table = &table_,
                       .begin = begin,
                       .end = end,
                       .dst = dst.plain(),
                       .dst_step_bytes = dst_step,
                       .channels = channels_,
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
    std::vector<char> dst(static_cast<size_t>((end - begin) * channels_ * SizeOf(types_.dst)));
    SelectInnerAxis({types_.src, types_.dst})({.row = row_.data(),
                                               .row_origin = 0,
                                               .row_end = table_.columns(),
                                               .src_step_bytes = SizeOf(types_.src),
                                               .table = &table_,
                                               .begin = begin,
                                               .end = end,
                                               .dst = dst.data(),
                                               .dst_step_bytes = SizeOf(types_.dst),
                                               .channels = channels_});
    return dst;
  }

 private:
  static int64_t RandomStep(TracedRandom& random, bool unit, int64_t element_bytes) {
    const int64_t step = unit ? 1 : random.Of(testing::kSteps);
    return (step == 0 ? 5 : step) * element_bytes;
  }

  // Both results, of rows of n elements from output `begin` on, within the bound of the exact sums.
  void ExpectAccurate(Destinations& dst, int64_t begin, int64_t n, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t element = begin * channels_ + i % n;
      const testing::ExactSum sum = Exactly(i / n, element);
      const auto taps = static_cast<int64_t>(table_.delta(element / channels_).size());
      testing::ExpectAccurate(types_.dst, dst.KernelValue(i), sum, taps);
      testing::ExpectAccurate(types_.dst, dst.PlainValue(i), sum, taps);
    }
  }

  // A distance of rows of so many bytes that do not meet, in either direction.
  static int64_t RandomApart(TracedRandom& random, int64_t bytes, int64_t element_bytes) {
    const int64_t apart = bytes + random.Int(0, 3) * element_bytes;
    return random.OneIn(3) ? -apart : apart;
  }

  // Element i of row r: each row starts one element further into the values, so that no two rows
  // are alike.
  [[nodiscard]] const char* ElementOf(int64_t r, int64_t i) const {
    const int64_t turned = (i + r) % (table_.columns() * channels_);
    return &row_[static_cast<size_t>(turned * SizeOf(types_.src))];
  }

  [[nodiscard]] testing::ExactSum Exactly(int64_t r, int64_t element) const {
    const bool wide = types_.src == DType::kFloat64;
    const int64_t output = element / channels_;
    testing::ExactSum sum;
    for (size_t k = 0; k < table_.delta(output).size(); ++k) {
      const int64_t sample = table_.base(output) + table_.delta(output)[k];
      const double weight =
          wide ? table_.weight(output)[k] : static_cast<double>(table_.weight_float(output)[k]);
      sum.Add(weight, Decode(types_.src, ElementOf(r, sample * channels_ + element % channels_)));
    }
    return sum;
  }

  testing::TypePair types_;
  TapTable table_;
  int64_t channels_;
  std::vector<char> row_;
};

int64_t RandomChannels(TracedRandom& random) { return random.OneIn(2) ? 1 : random.Int(2, 9); }

void CheckTypes(bool same_bits, Content content, int64_t one_ratio_in) {
  TracedRandom random;
  for (const testing::TypePair& types : kTypePairs) {
    const Pool pool(random, types.src, content);
    for (const int64_t rows : testing::Widths()) {
      for (const double ratio : kRatios) {
        if (!random.OneIn(ratio < 60.0 ? one_ratio_in : 10 * one_ratio_in)) continue;
        const Problem problem(random, types, pool, TableOf(rows, ratio, random.OneIn(2)),
                              RandomChannels(random));
        for (const Flush flush : kBothFlush) problem.Check(random, 0, rows, same_bits, flush);
        const int64_t begin = random.Int(0, rows);
        const int64_t end = random.Int(begin, rows);
        for (const Flush flush : kBothFlush) problem.Check(random, begin, end, same_bits, flush);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(InnerAxisTest, EqualsThePlainLoops) { CheckTypes(HasFma(), Content::kNormal, 5); }

TEST_P(InnerAxisTest, EqualsThePlainLoopsOnSpecialValues) {
  CheckTypes(HasFma(), Content::kSpecial, 8);
}

// Cut anywhere, by any target: the bits of the whole.
TEST_P(InnerAxisTest, BoxesHaveTheBitsOfTheWhole) {
  TracedRandom random;
  for (const testing::TypePair& types : kTypePairs) {
    const Pool pool(random, types.src, Content::kNormal);
    for (const double ratio : kRatios) {
      const int64_t channels = RandomChannels(random);
      const Problem problem(random, types, pool, TableOf(50, ratio, random.OneIn(2)), channels);
      const std::vector<char> whole = problem.Run(0, 50);
      const int64_t size = channels * SizeOf(types.dst);
      for (int i = 0; i < 30; ++i) {
        const int64_t begin = random.Int(0, 50);
        const int64_t end = random.Int(begin, 50);
        const std::vector<char> part = problem.Run(begin, end);
        ASSERT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + begin * size))
            << NameOf(types.dst) << ", outputs " << begin << " to " << end << ", ratio " << ratio;
      }
    }
  }
}

// Of the gradient of one sample drawn from the first two of 40: the other rows have no taps.
TEST_P(InnerAxisTest, RowsWithoutTapsArePlusZero) {
  TracedRandom random;
  for (const testing::TypePair& types : kTypePairs) {
    const Pool pool(random, types.src, Content::kNormal);
    const TapTable table = taps::Transpose(Forward({.in = 40, .out = 1, .align_corners = true}));
    const Problem problem(random, types, pool, table, 1);
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
      for (int64_t sample = 0; sample < table.columns(); ++sample) {
        std::vector<float> row(static_cast<size_t>(table.columns()), 0.0F);
        row[static_cast<size_t>(sample)] = std::numeric_limits<float>::quiet_NaN();
        std::vector<float> dst(37, 1.0F);
        SelectInnerAxis({})({.row = row.data(),
                             .row_origin = 0,
                             .row_end = table.columns(),
                             .src_step_bytes = 4,
                             .table = &table,
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
    for (int64_t sample = 0; sample < table.columns(); ++sample) {
      std::vector<float> row(static_cast<size_t>(table.columns()), 0.0F);
      row[static_cast<size_t>(sample)] = std::numeric_limits<float>::denorm_min();
      for (const int64_t begin : {0, 1}) {
        std::vector<float> dst(37, -1.0F);
        SelectInnerAxis({})({.row = row.data(),
                             .row_origin = 0,
                             .row_end = table.columns(),
                             .src_step_bytes = 4,
                             .table = &table,
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

}  // namespace
}  // namespace opscv::kernels
