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

// Whether a kernel is given the table's bands.
enum class Path { kTurned, kBands };
constexpr std::array kBothPaths = {Path::kTurned, Path::kBands};

std::string_view NameOf(Path path) { return path == Path::kBands ? "by bands" : "turned"; }

// The bands for the pinned target; none where the table or the target takes none.
BandTable BandsOf(const TapTable& table, int64_t channels, DType src) {
  const DType real = ComputeDType(src);
  const int64_t lanes = InnerAxisLanes(real);
  if (lanes == 0 || table.max_taps() > static_cast<int64_t>(kSumBlock)) return {};
  return BandTable(table, {channels, lanes}, real == DType::kFloat64);
}

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

// Whether two lots of elements are the same, NaN being like any NaN.
bool SameValues(DType dtype, const std::vector<char>& a, const std::vector<char>& b) {
  if (a.size() != b.size()) return false;
  for (size_t at = 0; at < a.size(); at += static_cast<size_t>(SizeOf(dtype))) {
    if (!testing::SameValue(Decode(dtype, &a[at]), Decode(dtype, &b[at]))) return false;
  }
  return true;
}

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
        bands_(BandsOf(table_, channels, types.src)),
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
    InnerAxisArgs args{.row = src,
                       .row_origin = samples.begin,
                       .row_end = samples.end,
                       .src_step_bytes = src_step,
                       .table = &table_,
                       .begin = begin,
                       .end = end,
                       .dst = nullptr,
                       .dst_step_bytes = dst_step,
                       .channels = channels_,
                       .rows = rows,
                       .row_bytes = row_bytes,
                       .dst_row_bytes = shape.row_bytes};
    for (const Path path : kBothPaths) {
      if (path == Path::kBands && bands_.empty()) continue;
      SCOPED_TRACE(NameOf(path));
      Destinations dst(targets, types_.dst, shape, flush);
      args.dst = dst.plain();
      SelectInnerAxisReference(key)(args);
      args.dst = dst.kernel();
      args.bands = path == Path::kBands ? &bands_ : nullptr;
      SelectInnerAxis(key)(args);
      if (path == Path::kTurned || !same_bits) ExpectAccurate(dst, begin, n, shape.count());
      if (same_bits) {
        dst.ExpectSameBits();
      } else {
        dst.ExpectOnlyElementsWritten();
      }
    }
  }

  // The kernel's outputs [begin, end), of rows that each start one element further into the values.
  [[nodiscard]] std::vector<char> Run(Path path, int64_t begin, int64_t end,
                                      int64_t rows = 1) const {
    const int64_t size = SizeOf(types_.src);
    const int64_t count = table_.columns() * channels_;
    std::vector<char> src(static_cast<size_t>(rows * count * size));
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(src.data() + (r * count + i) * size, ElementOf(r, i),
                    static_cast<size_t>(size));
      }
    }
    const int64_t row_bytes = (end - begin) * channels_ * SizeOf(types_.dst);
    std::vector<char> dst(static_cast<size_t>(rows * row_bytes));
    SelectInnerAxis({types_.src, types_.dst})(
        {.row = src.data(),
         .row_origin = 0,
         .row_end = table_.columns(),
         .src_step_bytes = size,
         .table = &table_,
         .begin = begin,
         .end = end,
         .dst = dst.data(),
         .dst_step_bytes = SizeOf(types_.dst),
         .channels = channels_,
         .rows = rows,
         .row_bytes = count * size,
         .dst_row_bytes = row_bytes,
         .bands = path == Path::kBands && !bands_.empty() ? &bands_ : nullptr});
    return dst;
  }

  [[nodiscard]] const BandTable& bands() const { return bands_; }

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
  BandTable bands_;
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

// Values that bands sum by themselves, and such as now and then send them back.
TEST_P(InnerAxisTest, EqualsThePlainLoopsOnExtremeButFiniteValues) {
  CheckTypes(HasFma(), Content::kFinite, 8);
}
TEST_P(InnerAxisTest, EqualsThePlainLoopsOnRareSpecialValues) {
  CheckTypes(HasFma(), Content::kRare, 8);
}

// As many rows as no kernel takes at once, of as many channels as there are ways to lie in a
// vector, with boxes that begin and end where vectors do and where they do not.
TEST_P(InnerAxisTest, AnyRowsAndChannelsHaveTheSameBitsByBands) {
  TracedRandom random;
  for (const testing::TypePair& types : kTypePairs) {
    const Pool normal(random, types.src, Content::kNormal);
    const Pool rare(random, types.src, Content::kRare);
    for (int64_t channels = 1; channels <= 9; ++channels) {
      const double ratio = random.Of(std::span(kRatios).first(8));
      const int64_t outputs = random.Int(1, 100);
      const bool transposed = random.OneIn(2);
      for (const Pool* pool : {&normal, &rare}) {
        const Problem problem(random, types, *pool, TableOf(outputs, ratio, transposed), channels);
        if (problem.bands().empty()) continue;
        for (const int64_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 27}) {
          const int64_t begin = random.OneIn(2) ? 0 : random.Int(0, outputs / 16) * 16;
          const int64_t end = random.OneIn(2) ? outputs : random.Int(begin, outputs);
          const std::vector<char> turned = problem.Run(Path::kTurned, begin, end, rows);
          const std::vector<char> banded = problem.Run(Path::kBands, begin, end, rows);
          ASSERT_TRUE(SameValues(types.dst, turned, banded))
              << NameOf(types.src) << " to " << NameOf(types.dst) << ", " << rows << " rows of "
              << channels << " channels, outputs " << begin << " to " << end << " of " << outputs
              << ", ratio " << ratio << (pool == &rare ? ", special values" : "");
        }
      }
    }
  }
}

// Cut anywhere, by any target, by bands or not: the bits of the whole.
TEST_P(InnerAxisTest, BoxesHaveTheBitsOfTheWhole) {
  TracedRandom random;
  for (const testing::TypePair& types : kTypePairs) {
    const Pool pool(random, types.src, Content::kNormal);
    for (const double ratio : kRatios) {
      const int64_t channels = RandomChannels(random);
      const Problem problem(random, types, pool, TableOf(50, ratio, random.OneIn(2)), channels);
      const std::vector<char> whole = problem.Run(Path::kTurned, 0, 50);
      const int64_t size = channels * SizeOf(types.dst);
      for (int i = 0; i < 60; ++i) {
        const Path path = random.Of(kBothPaths);
        const int64_t begin = random.Int(0, 50);
        const int64_t end = random.Int(begin, 50);
        const std::vector<char> part = problem.Run(path, begin, end);
        ASSERT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + begin * size))
            << NameOf(types.dst) << ", outputs " << begin << " to " << end << ", ratio " << ratio
            << ", " << channels << " channels, " << NameOf(path);
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
    for (const Path path : kBothPaths) {
      const std::vector<char> dst = problem.Run(path, 0, 40);
      for (int64_t o = 2; o < 40; ++o) {
        const double value = Decode(types.dst, &dst[static_cast<size_t>(o * SizeOf(types.dst))]);
        EXPECT_TRUE(testing::SameValue(value, 0.0))
            << NameOf(types.dst) << " output " << o << ", " << NameOf(path);
      }
    }
  }
}

// Outputs [begin, 37) of the table by a kernel of floats, made of one row.
std::vector<float> RunFloats(const TapTable& table, const std::vector<float>& row, int64_t begin,
                             Path path) {
  constexpr int64_t kOutputs = 37;
  const BandTable bands = BandsOf(table, 1, DType::kFloat32);
  std::vector<float> dst(static_cast<size_t>(kOutputs), -1.0F);
  SelectInnerAxis({})({.row = row.data(),
                       .row_origin = 0,
                       .row_end = table.columns(),
                       .src_step_bytes = 4,
                       .table = &table,
                       .begin = begin,
                       .end = kOutputs,
                       .dst = dst.data() + begin,
                       .dst_step_bytes = 4,
                       .bands = path == Path::kBands && !bands.empty() ? &bands : nullptr});
  return dst;
}

bool Reads(const TapTable& table, int64_t output, int64_t sample) {
  const auto delta = table.delta(output);
  return std::any_of(delta.begin(), delta.end(),
                     [&](int32_t d) { return table.base(output) + d == sample; });
}

// One NaN or infinity at a time reaches the rows that have a tap on it and no other, zero products
// included.
TEST_P(InnerAxisTest, NanReachesItsReadersOnly) {
  constexpr std::array kBad = {std::numeric_limits<float>::quiet_NaN(),
                               std::numeric_limits<float>::infinity()};
  for (const double ratio : {0.5, 1.3, 7.8, 9.0}) {
    for (const bool transposed : {false, true}) {
      const TapTable table = TableOf(37, ratio, transposed);
      for (int64_t sample = 0; sample < table.columns(); ++sample) {
        for (const Path path : kBothPaths) {
          std::vector<float> row(static_cast<size_t>(table.columns()), 0.0F);
          row[static_cast<size_t>(sample)] = kBad[static_cast<size_t>(sample % 2)];
          const std::vector<float> dst = RunFloats(table, row, 0, path);
          for (int64_t o = 0; o < 37; ++o) {
            EXPECT_EQ(!std::isfinite(dst[static_cast<size_t>(o)]), Reads(table, o, sample))
                << "sample " << sample << ", output " << o << ", ratio " << ratio << ", "
                << NameOf(path);
          }
        }
      }
    }
  }
}

// A sum beyond the largest float is an infinity where it arises, and changes no sum beside it.
TEST_P(InnerAxisTest, AnOverflowStaysWhereItArises) {
  for (const double ratio : {0.5, 1.3, 7.8}) {
    const TapTable table = TableOf(37, ratio, true);
    for (int64_t sample = 0; sample < table.columns(); ++sample) {
      std::vector<float> row(static_cast<size_t>(table.columns()), 1.0F);
      for (int64_t i = sample; i < std::min(sample + 3, table.columns()); ++i) {
        row[static_cast<size_t>(i)] = std::numeric_limits<float>::max();
      }
      EXPECT_EQ(RunFloats(table, row, 0, Path::kTurned), RunFloats(table, row, 0, Path::kBands))
          << "sample " << sample << ", ratio " << ratio;
    }
  }
}

// A product that vanishes below zero, as the last of its row's, leaves +0.
TEST_P(InnerAxisTest, ZeroIsNeverNegative) {
  for (const double ratio : {0.5, 7.8, 9.0, 17.0}) {
    const TapTable table = TableOf(37, ratio, false);
    for (int64_t sample = 0; sample < table.columns(); ++sample) {
      std::vector<float> row(static_cast<size_t>(table.columns()), sample % 2 == 0 ? 0.0F : -0.0F);
      row[static_cast<size_t>(sample)] = std::numeric_limits<float>::denorm_min();
      for (const int64_t begin : {0, 1}) {
        for (const Path path : kBothPaths) {
          const std::vector<float> dst = RunFloats(table, row, begin, path);
          for (int64_t o = begin; o < 37; ++o) {
            const float value = dst[static_cast<size_t>(o)];
            EXPECT_FALSE(value == 0.0F && std::signbit(value))
                << "sample " << sample << ", output " << o << ", ratio " << ratio << ", "
                << NameOf(path);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace opscv::kernels
