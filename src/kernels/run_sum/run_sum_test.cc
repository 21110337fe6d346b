// SPDX-License-Identifier: Apache-2.0
#include "kernels/run_sum/run_sum.h"

#include <gtest/gtest.h>

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
using testing::kTypePairs;
using testing::Pool;
using testing::Reach;
using testing::TracedRandom;

OPSCV_TEST_ON_EACH_TARGET(RunRowsTest);
OPSCV_TEST_ON_EACH_TARGET(RunLanesTest);

struct RowsCase {
  ElementKey key;
  RunRowsArgs args{};  // all but the two places
  [[nodiscard]] int64_t n() const { return static_cast<int64_t>(args.n); }
};

std::string Say(const RowsCase& c) {
  return std::string(NameOf(c.key.src)) + " to " + std::string(NameOf(c.key.dst)) + ", " +
         std::to_string(c.n()) + " columns, " + std::to_string(c.args.outer) + " x " +
         std::to_string(c.args.inner) + " members " + std::to_string(c.args.outer_bytes) + " and " +
         std::to_string(c.args.inner_bytes) + " bytes apart, steps " +
         std::to_string(c.args.src_step_bytes) + " and " + std::to_string(c.args.dst_step_bytes);
}

RowsCase RandomRows(TracedRandom& random, const ElementKey& key, int64_t n, int64_t members) {
  const int64_t src_bytes = SizeOf(key.src);
  const int64_t dst_bytes = SizeOf(key.dst);
  RowsCase c{.key = key};
  // Any way to write the count as a product.
  c.args.inner = random.Int(1, std::max<int64_t>(members, 1));
  while (members % c.args.inner != 0) --c.args.inner;
  c.args.outer = members / c.args.inner;
  if (members == 0 && random.OneIn(2)) std::swap(c.args.inner, c.args.outer);
  c.args.outer_bytes = random.OneIn(8) ? 0 : random.Int(-3 * n, 3 * n) * src_bytes;
  c.args.inner_bytes = random.OneIn(8) ? 0 : random.Int(-n - 3, n + 3) * src_bytes;
  c.args.src_step_bytes = (key.src_unit_step ? 1 : random.Of(kSteps)) * src_bytes;
  const int64_t dst_step = key.dst_unit_step ? 1 : random.Of(kSteps);
  c.args.dst_step_bytes = (dst_step == 0 ? 5 : dst_step) * dst_bytes;
  c.args.n = static_cast<size_t>(n);
  return c;
}

const char* MemberAt(const RowsCase& c, const char* src, int64_t a, int64_t b) {
  return src + a * c.args.outer_bytes + b * c.args.inner_bytes;
}

void CheckRows(TracedRandom& random, RowsCase c, const Pool& pool, Flush flush) {
  static GuardedArena sources(size_t{8} << 20);
  static GuardedArena targets(size_t{1} << 20);
  SCOPED_TRACE(Say(c));
  char* src = testing::PlaceSource(sources,
                                   Reach(SizeOf(c.key.src))
                                       .Along(c.args.outer, c.args.outer_bytes)
                                       .Along(c.args.inner, c.args.inner_bytes)
                                       .Along(c.n(), c.args.src_step_bytes),
                                   flush);
  for (int64_t a = 0; a < c.args.outer; ++a) {
    for (int64_t b = 0; b < c.args.inner; ++b) {
      pool.Fill(random, const_cast<char*>(MemberAt(c, src, a, b)), c.n(), c.args.src_step_bytes);
    }
  }
  Destinations dst(targets, c.key.dst, {c.n(), c.args.dst_step_bytes}, flush);
  c.args.src = src;
  c.args.dst = dst.plain();
  SelectRunRowsReference(c.key)(c.args);
  c.args.dst = dst.kernel();
  SelectRunRows(c.key)(c.args);
  for (int64_t x = 0; x < c.n(); ++x) {
    testing::ExactSum sum;
    for (int64_t a = 0; a < c.args.outer; ++a) {
      for (int64_t b = 0; b < c.args.inner; ++b) {
        sum.Add(1.0, Decode(c.key.src, MemberAt(c, src, a, b) + x * c.args.src_step_bytes));
      }
    }
    testing::ExpectAccurate(c.key.dst, dst.PlainValue(x), sum, c.args.outer * c.args.inner);
  }
  dst.ExpectSameBits();
}

void CheckAllRows(Content content, int64_t every_width) {
  TracedRandom random;
  for (const testing::TypePair& types : kTypePairs) {
    const Pool pool(random, types.src, content);
    for (const bool src_unit : {true, false}) {
      for (const bool dst_unit : {true, false}) {
        const ElementKey key{types.src, types.dst, src_unit, dst_unit};
        for (const int64_t n : testing::Widths()) {
          for (const int64_t members : testing::kTermCounts) {
            if (n % every_width != 0 && !random.OneIn(8)) continue;
            const RowsCase c = RandomRows(random, key, n, members);
            for (const Flush flush : kBothFlush) CheckRows(random, c, pool, flush);
            if (::testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_P(RunRowsTest, EqualsThePlainLoops) { CheckAllRows(Content::kNormal, 16); }

TEST_P(RunRowsTest, EqualsThePlainLoopsOnSpecialValues) { CheckAllRows(Content::kSpecial, 64); }

// Additions from -0 keep the sign of a zero; nothing at all is +0.
TEST_P(RunRowsTest, SignsOfZero) {
  for (const testing::TypePair& types : kTypePairs) {
    for (const int64_t n : {3, 40}) {
      for (const int64_t members : {0, 1, 32, 33, 70}) {
        for (const bool one_positive : {false, true}) {
          const int64_t size = SizeOf(types.src);
          std::vector<char> src(static_cast<size_t>((members + 1) * n * size));
          for (int64_t i = 0; i < (members + 1) * n; ++i) {
            const bool positive = one_positive && i / n == members / 2;
            testing::Encode(types.src, positive ? 0.0 : -0.0, &src[static_cast<size_t>(i * size)]);
          }
          std::vector<char> dst(static_cast<size_t>(n * SizeOf(types.dst)));
          SelectRunRows({types.src, types.dst})({.src = src.data(),
                                                 .outer = members,
                                                 .outer_bytes = n * size,
                                                 .inner = 1,
                                                 .inner_bytes = 0,
                                                 .src_step_bytes = size,
                                                 .dst = dst.data(),
                                                 .dst_step_bytes = SizeOf(types.dst),
                                                 .n = static_cast<size_t>(n)});
          const double expected = members == 0 || one_positive ? 0.0 : -0.0;
          for (int64_t x = 0; x < n; ++x) {
            const double value =
                Decode(types.dst, &dst[static_cast<size_t>(x * SizeOf(types.dst))]);
            EXPECT_TRUE(testing::SameValue(value, expected))
                << NameOf(types.dst) << ", " << members << " members: " << value;
          }
        }
      }
    }
  }
}

// Windows of random lengths up to `longest`, some of them empty.
std::vector<int64_t> RandomBounds(TracedRandom& random, int64_t rows, int64_t longest) {
  std::vector<int64_t> bounds = {random.Int(0, 20)};
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t count = random.OneIn(4) ? 0 : random.Int(0, longest);
    bounds.push_back(bounds.back() + count);
  }
  return bounds;
}

constexpr std::array<int64_t, 9> kLongest = {0, 1, 2, 4, 31, 32, 33, 65, 200};

class LanesProblem {
 public:
  LanesProblem(TracedRandom& random, const testing::TypePair& types, const Pool& pool,
               std::vector<int64_t> bounds)
      : types_(types),
        bounds_(std::move(bounds)),
        table_(BuildWindowTable(bounds_)),
        row_(static_cast<size_t>(bounds_.back() * SizeOf(types.src))) {
    pool.Fill(random, row_.data(), bounds_.back(), SizeOf(types.src));
  }

  // Outputs [begin, end) by kernel and by plain loops, from the samples they read and no others.
  void Check(TracedRandom& random, int64_t begin, int64_t end, Flush flush) const {
    static GuardedArena sources(size_t{1} << 20);
    static GuardedArena targets(size_t{1} << 20);
    SCOPED_TRACE(std::string(NameOf(types_.src)) + " to " + std::string(NameOf(types_.dst)) +
                 ", outputs " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
                 std::to_string(table_.rows));
    const int64_t first = bounds_[static_cast<size_t>(begin)];
    const int64_t last = bounds_[static_cast<size_t>(end)];
    const int64_t src_bytes = SizeOf(types_.src);
    const std::span<char> src =
        sources.Take(static_cast<size_t>((last - first) * src_bytes), flush);
    std::copy_n(row_.begin() + first * src_bytes, src.size(), src.begin());
    const bool unit = random.OneIn(2);
    int64_t dst_step = unit ? 1 : random.Of(kSteps);
    if (dst_step == 0) dst_step = 5;
    dst_step *= SizeOf(types_.dst);
    Destinations dst(targets, types_.dst, {end - begin, dst_step}, flush);
    const ElementKey key{types_.src, types_.dst, true, unit};
    RunLanesArgs args{.row = src.data(),
                      .row_origin = first,
                      .row_end = last,
                      .table = &table_,
                      .begin = begin,
                      .end = end,
                      .dst = dst.plain(),
                      .dst_step_bytes = dst_step};
    SelectRunLanesReference(key)(args);
    args.dst = dst.kernel();
    SelectRunLanes(key)(args);
    for (int64_t o = begin; o < end; ++o) {
      testing::ExactSum sum;
      const int64_t stop = bounds_[static_cast<size_t>(o) + 1];
      for (int64_t i = bounds_[static_cast<size_t>(o)]; i < stop; ++i) {
        sum.Add(1.0, Decode(types_.src, &row_[static_cast<size_t>(i * src_bytes)]));
      }
      const int64_t count = stop - bounds_[static_cast<size_t>(o)];
      testing::ExpectAccurate(types_.dst, dst.PlainValue(o - begin), sum, count);
      if (count == 0) {
        ASSERT_TRUE(testing::SameValue(dst.KernelValue(o - begin), 0.0)) << "output " << o;
      }
    }
    dst.ExpectSameBits();
  }

 private:
  testing::TypePair types_;
  std::vector<int64_t> bounds_;
  WindowTable table_;
  std::vector<char> row_;
};

void CheckLanes(Content content) {
  TracedRandom random;
  for (const testing::TypePair& types : std::span(kTypePairs).first(testing::kFromCompute)) {
    const Pool pool(random, types.src, content);
    for (const int64_t rows : testing::Widths()) {
      for (const int64_t longest : kLongest) {
        const LanesProblem problem(random, types, pool, RandomBounds(random, rows, longest));
        for (const Flush flush : kBothFlush) problem.Check(random, 0, rows, flush);
        for (int i = 0; i < 3; ++i) {
          const int64_t begin = random.Int(0, rows);
          const int64_t end = random.Int(begin, rows);
          for (const Flush flush : kBothFlush) problem.Check(random, begin, end, flush);
        }
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(RunLanesTest, EqualsThePlainLoops) { CheckLanes(Content::kNormal); }

TEST_P(RunLanesTest, EqualsThePlainLoopsOnSpecialValues) { CheckLanes(Content::kSpecial); }

// Windows of -0 alone sum to -0, empty ones to +0, one +0 among them turns the sum to +0.
TEST_P(RunLanesTest, SignsOfZero) {
  const std::vector<int64_t> bounds = {0,  1,  1,  3,  40, 40, 75, 76, 77,
                                       78, 79, 80, 81, 82, 83, 84, 85};
  std::vector<float> row(85, -0.0F);
  row[50] = 0.0F;
  const WindowTable table = BuildWindowTable(bounds);
  std::vector<float> dst(16, 7.0F);
  SelectRunLanes({})({.row = row.data(),
                      .row_origin = 0,
                      .row_end = 85,
                      .table = &table,
                      .begin = 0,
                      .end = 16,
                      .dst = dst.data(),
                      .dst_step_bytes = 4});
  for (size_t o = 0; o < 16; ++o) {
    const bool positive = o == 1 || o == 4 || o == 5;
    EXPECT_TRUE(testing::SameValue(static_cast<double>(dst[o]), positive ? 0.0 : -0.0))
        << "output " << o;
  }
}

TEST(WindowTable, HoldsTheBounds) {
  TracedRandom random;
  for (const int64_t rows : {1, 15, 16, 17, 100}) {
    const std::vector<int64_t> bounds = RandomBounds(random, rows, 50);
    const WindowTable table = BuildWindowTable(bounds);
    ASSERT_EQ(table.rows, rows);
    const auto padded =
        static_cast<size_t>((rows + kWindowBlock - 1) / kWindowBlock * kWindowBlock);
    ASSERT_EQ(table.first.size(), padded);
    ASSERT_EQ(table.count.size(), padded);
    for (size_t row = 0; row < padded; ++row) {
      const WindowTable::Half& half = table.halves[row / (kWindowBlock / 2)];
      EXPECT_GE(table.first[row], half.start);
      EXPECT_LE(table.first[row], half.start + half.span);
      if (row >= static_cast<size_t>(rows)) {
        EXPECT_EQ(table.count[row], 0);
        continue;
      }
      const WindowTable::Block& block = table.blocks[row / kWindowBlock];
      EXPECT_EQ(table.count[row], bounds[row + 1] - bounds[row]);
      if (table.count[row] == 0) continue;
      EXPECT_EQ(block.base + table.first[row], bounds[row]);
      EXPECT_GE(block.max_count, table.count[row]);
      EXPECT_LE(bounds[row + 1], block.end);
    }
  }
}

}  // namespace
}  // namespace opscv::kernels
