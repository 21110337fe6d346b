// SPDX-License-Identifier: Apache-2.0
#include "plan/row_stage.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/test_guard.h"
#include "plan/cost_model.h"
#include "plan/test_plans.h"

namespace opscv::plan {
namespace {

using opscv::testing::Flush;
using opscv::testing::GuardedArena;
using opscv::testing::kBothFlush;
using testing::TracedRandom;

constexpr int64_t kLine = 64;
constexpr char kUntouched = '\x5A';

// A large output of planes of `rows` rows of `pixels` elements, `gap` elements from the end of a
// row to the next.
Tensor5 LargeOutput(int64_t rows, int64_t pixels, int64_t element_bytes, int64_t gap) {
  const int64_t row_bytes = (pixels + gap) * element_bytes;
  return {.shape = {1 << 20, 1, 1, rows, pixels},
          .stride_bytes = {rows * row_bytes, rows * row_bytes, rows * row_bytes, row_bytes,
                           element_bytes}};
}

// One plane of rows, in memory with untouched bytes around it and between its rows.
class Rows {
 public:
  // `row_bytes` may be negative. The first row begins `into` bytes into a cache line.
  Rows(int64_t rows, int64_t width, int64_t row_bytes, int64_t into)
      : rows_(rows), width_(width), row_bytes_(row_bytes) {
    const int64_t below = row_bytes < 0 ? -row_bytes * (rows - 1) : 0;
    const int64_t reach = std::abs(row_bytes) * (rows - 1) + width;
    bytes_.assign(static_cast<size_t>(reach + 4 * kLine), kUntouched);
    expected_ = bytes_;
    first_ = kLine + below;
    const auto address = reinterpret_cast<uintptr_t>(bytes_.data() + first_);
    first_ += (into - static_cast<int64_t>(address % kLine) + kLine) % kLine;
  }

  [[nodiscard]] TargetRows target(int64_t element_bytes) {
    return {{bytes_.data() + first_, element_bytes}, row_bytes_};
  }
  [[nodiscard]] static char Value(int64_t row, int64_t byte) {
    return static_cast<char>(row * 131 + byte * 7 + 1);
  }
  // What it must hold.
  template <typename ValueOf>
  [[nodiscard]] bool Holds(ValueOf value) {
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t byte = 0; byte < width_; ++byte) {
        expected_[static_cast<size_t>(first_ + row * row_bytes_ + byte)] = value(row, byte);
      }
    }
    return bytes_ == expected_;
  }

 private:
  int64_t rows_;
  int64_t width_;
  int64_t row_bytes_;
  int64_t first_ = 0;
  std::vector<char> bytes_;
  std::vector<char> expected_;
};

// How Emit is called: a box's rows, or all of an output's.
struct Call {
  int64_t width;
  int64_t row_bytes;
  int64_t rows;
  int64_t most;
  int64_t into;
};

std::string Say(const Call& call) {
  return std::to_string(call.rows) + " rows of " + std::to_string(call.width) + " bytes, " +
         std::to_string(call.row_bytes) + " apart, at most " + std::to_string(call.most) +
         " at a time, " + std::to_string(call.into) + " bytes into a line";
}

void CheckEmit(const RowStage& stage, int64_t element_bytes, const Call& call, Flush flush) {
  SCOPED_TRACE(Say(call));
  static GuardedArena arena(size_t{1} << 20);
  const std::span<char> memory = arena.Take(static_cast<size_t>(stage.bytes()), flush);
  std::fill(memory.begin(), memory.end(), '\xFF');
  Rows rows(call.rows, call.width, call.row_bytes, call.into);
  const TargetRows out = rows.target(element_bytes);
  int64_t next = 0;
  const LineSize size{call.width / element_bytes, 1, false};
  stage.Emit(memory.data(), out, size, call.rows, call.most,
             [&](int64_t first, int64_t count, const TargetRows& dst) {
               EXPECT_EQ(first, next);
               EXPECT_GE(count, 1);
               EXPECT_LE(count, call.most);
               EXPECT_EQ(dst.line.step_bytes, element_bytes);
               next = first + count;
               for (int64_t row = 0; row < count; ++row) {
                 for (int64_t byte = 0; byte < call.width; ++byte) {
                   dst.From(row).line.data[byte] = Rows::Value(first + row, byte);
                 }
               }
             });
  stage.Finish();
  EXPECT_EQ(next, call.rows);
  EXPECT_TRUE(rows.Holds(&Rows::Value));
}

void CheckClear(const RowStage& stage, int64_t element_bytes, const Call& call) {
  SCOPED_TRACE(Say(call));
  Rows rows(call.rows, call.width, call.row_bytes, call.into);
  const LineSize size{call.width / element_bytes, 1, false};
  ASSERT_TRUE(stage.Clears(rows.target(element_bytes), size));
  stage.Clear(rows.target(element_bytes), size, call.rows);
  stage.Finish();
  EXPECT_TRUE(rows.Holds([](int64_t, int64_t) { return '\0'; }));
}

// Rows that touch, rows that lie apart either way round, and boxes of either.
TEST(RowStage, HandsOnEveryRowAndNothingBeside) {
  TracedRandom random;
  for (int i = 0; i < 1500; ++i) {
    const int64_t element = int64_t{1} << random.Int(1, 3);
    const int64_t pixels = random.Int(300, 1500);
    const int64_t width = pixels * element;
    const int64_t rows = random.Int(1, 40);
    const int64_t gap = random.OneIn(2) ? 0 : random.Int(1, 70);
    const RowStage stage(LargeOutput(rows, pixels, element, gap),
                         {.rows = random.Int(1, rows), .pixels = pixels}, element);
    ASSERT_TRUE(stage.past_caches() || width < 512);
    if (!stage.past_caches()) continue;
    ASSERT_EQ(stage.bytes() % kLine, 0);
    Call call{.width = width,
              .row_bytes = width + gap * element,
              .rows = random.Int(1, rows),
              .most = random.Int(1, rows),
              .into = random.Int(0, kLine / element - 1) * element};
    if (random.OneIn(4)) call.width = random.Int(1, pixels) * element;  // a box
    if (random.OneIn(4)) call.row_bytes = -call.row_bytes;              // of another tensor
    for (const Flush flush : kBothFlush) CheckEmit(stage, element, call, flush);
    CheckClear(stage, element, call);
    if (HasFailure()) return;
  }
}

TEST(RowStage, TakesAnyPlaceInALine) {
  for (const int64_t pixels : {512, 513, 1031, 9000}) {
    for (int64_t into = 0; into < kLine; ++into) {
      for (const int64_t gap : {0, 3}) {
        const RowStage stage(LargeOutput(20, pixels, 1, gap), {.rows = 20, .pixels = pixels}, 1);
        ASSERT_TRUE(stage.past_caches());
        const Call call{
            .width = pixels, .row_bytes = pixels + gap, .rows = 20, .most = 20, .into = into};
        CheckEmit(stage, 1, call, Flush::kEnd);
        CheckClear(stage, 1, call);
      }
    }
  }
}

// Whole lines of both are copied.
TEST(RowStage, CollectsRowsInTheirPlacesInALine) {
  const RowStage stage(LargeOutput(20, 139, 4, 0), {.rows = 20, .pixels = 139}, 4);
  ASSERT_TRUE(stage.past_caches());
  GuardedArena arena(static_cast<size_t>(stage.bytes()));
  char* memory = arena.Take(static_cast<size_t>(stage.bytes()), Flush::kStart).data();
  for (int64_t into = 0; into < kLine; into += 4) {
    Rows rows(20, 556, 556, into);
    const TargetRows out = rows.target(4);
    stage.Emit(memory, out, {139, 1, false}, 20, 20,
               [&](int64_t first, int64_t, const TargetRows& dst) {
                 EXPECT_NE(dst.line.data, out.From(first).line.data);
                 EXPECT_EQ(reinterpret_cast<uintptr_t>(dst.line.data) % kLine,
                           reinterpret_cast<uintptr_t>(out.From(first).line.data) % kLine);
               });
    stage.Finish();
  }
}

TEST(RowStage, IsLeftOutWhereItGainsNothing) {
  const BlockShape blocks{.rows = 100, .pixels = 200};
  const Tensor5 large = LargeOutput(100, 200, 4, 0);
  EXPECT_TRUE(RowStage(large, blocks, 4).past_caches());
  EXPECT_FALSE(RowStage().past_caches());
  EXPECT_EQ(RowStage().bytes(), 0);
  Tensor5 small = large;
  small.shape[kN] = 1;
  EXPECT_FALSE(RowStage(small, blocks, 4).past_caches());
  EXPECT_EQ(RowStage(small, blocks, 4).bytes(), RowStage(large, blocks, 4).bytes());
  Tensor5 apart = large;  // pixels lie apart
  apart.stride_bytes[kW] = 8;
  EXPECT_FALSE(RowStage(apart, blocks, 4).past_caches());
  Tensor5 backwards = large;
  backwards.stride_bytes[kW] = -4;
  EXPECT_FALSE(RowStage(backwards, blocks, 4).past_caches());
  // Short rows count only together.
  EXPECT_TRUE(RowStage(LargeOutput(100, 20, 4, 0), {.rows = 100, .pixels = 20}, 4).past_caches());
  EXPECT_FALSE(RowStage(LargeOutput(100, 20, 4, 1), {.rows = 100, .pixels = 20}, 4).past_caches());
  Tensor5 empty = large;
  empty.shape[kW] = 0;
  EXPECT_FALSE(RowStage(empty, {.rows = 100, .pixels = 0}, 4).past_caches());
}

// They are made where they belong, but cleared past the caches.
TEST(RowStage, CollectsNoRowsThatAreTooLong) {
  const RowStage stage(LargeOutput(20, 10000, 4, 0), {.rows = 20, .pixels = 10000}, 4);
  EXPECT_TRUE(stage.past_caches());
  EXPECT_EQ(stage.bytes(), 0);
  const Call call{.width = 40000, .row_bytes = 40000, .rows = 7, .most = 3, .into = 20};
  CheckEmit(stage, 4, call, Flush::kEnd);
  CheckClear(stage, 4, call);
}

// A box of one channel of three that lie side by side: pixels lie apart.
TEST(RowStage, LeavesBoxesThatCutChannelsToTheirOwner) {
  Tensor5 output = LargeOutput(100, 300, 4, 0);
  output.shape[kC] = 3;
  output.shape[kW] = 100;
  output.stride_bytes[kW] = 12;
  output.stride_bytes[kC] = 4;
  const RowStage stage(output, {.channels = 3, .rows = 100, .pixels = 100}, 4);
  ASSERT_TRUE(stage.past_caches());
  std::vector<char> bytes(100 * 1200);
  const TargetRows out{{bytes.data(), 12}, 1200};
  EXPECT_TRUE(stage.Clears(out, {100, 3, true}));
  EXPECT_FALSE(stage.Clears(out, {100, 1, true}));
  EXPECT_TRUE(stage.Clears(out, {1, 1, true}));  // a single pixel has no neighbours
  int64_t made = 0;
  stage.Emit(nullptr, out, {100, 1, true}, 100, 8,
             [&](int64_t first, int64_t count, const TargetRows& dst) {
               EXPECT_EQ(dst.line.data, out.From(first).line.data);
               made += count;
             });
  EXPECT_EQ(made, 100);
}

// Then rows go where they belong at once, as many at a time as are asked for.
TEST(RowStage, HandsThroughWhatItDoesNotCollect) {
  TracedRandom random;
  const RowStage stage;
  for (int i = 0; i < 300; ++i) {
    const int64_t width = random.Int(1, 300);
    const int64_t apart = width + random.Int(0, 9);
    CheckEmit(stage, 1,
              {.width = width,
               .row_bytes = random.OneIn(2) ? apart : -apart,
               .rows = random.Int(1, 40),
               .most = random.Int(1, 40),
               .into = random.Int(0, kLine - 1)},
              Flush::kStart);
  }
}

}  // namespace
}  // namespace opscv::plan
