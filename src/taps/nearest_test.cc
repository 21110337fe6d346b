// SPDX-License-Identifier: Apache-2.0
#include "taps/nearest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/test_random.h"
#include "reference/axis_rules.h"

namespace opscv::taps {
namespace {

using testing::TracedRandom;

constexpr IndexRule kRules[] = {IndexRule::kAscend, IndexRule::kTorchCpu, IndexRule::kExact};

std::string Say(const NearestAxis& axis, IndexRule rule) {
  return "in " + std::to_string(axis.in) + " out " + std::to_string(axis.out) + " multiplier " +
         std::to_string(axis.multiplier) + " rule " + std::string(NameOf(rule));
}

// One comparison of whole vectors each: element by element these tables would take minutes.
void ExpectIsReference(const NearestAxis& axis, IndexRule rule) {
  SCOPED_TRACE(Say(axis, rule));
  const std::vector<int64_t> bounds = NearestBounds(axis, rule);
  ASSERT_EQ(bounds.size(), static_cast<size_t>(axis.in) + 1);
  EXPECT_EQ(bounds.front(), 0);
  EXPECT_EQ(bounds.back(), axis.out);
  EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
  const auto expected = reference::NearestBounds(axis.in, axis.out, axis.multiplier, rule);
  const auto [ours, theirs] = std::mismatch(bounds.begin(), bounds.end(), expected.begin());
  EXPECT_TRUE(ours == bounds.end())
      << "bound " << ours - bounds.begin() << " is " << *ours << ", expected " << *theirs;
}

// Every output sample reads one sample of the input, the one whose window holds it.
void ExpectSourcesFit(const NearestAxis& axis, IndexRule rule) {
  SCOPED_TRACE(Say(axis, rule));
  const std::vector<int64_t> bounds = NearestBounds(axis, rule);
  const std::vector<int64_t> sources = NearestSources(bounds);
  ASSERT_EQ(sources.size(), static_cast<size_t>(axis.out));
  for (int64_t o = 0; o < axis.out; ++o) {
    const auto source = static_cast<size_t>(sources[static_cast<size_t>(o)]);
    EXPECT_LE(bounds[source], o);
    EXPECT_GT(bounds[source + 1], o);
  }
  EXPECT_EQ(sources, reference::NearestSources(axis.in, axis.out, axis.multiplier, rule));
}

void ExpectAll(const NearestAxis& axis) {
  for (const IndexRule rule : kRules) {
    if (rule == IndexRule::kExact && axis.multiplier > 0) continue;
    ExpectIsReference(axis, rule);
    ExpectSourcesFit(axis, rule);
  }
}

// A multiplier with out == floor(in * multiplier), or just below a whole number that `out` is.
NearestAxis ScaledAxis(TracedRandom& random, int64_t largest) {
  NearestAxis axis;
  axis.in = random.Int(1, largest);
  axis.out = random.Int(1, largest);
  const double whole = static_cast<double>(axis.out) / static_cast<double>(axis.in);
  switch (random.Int(0, 3)) {
    case 0:
      axis.multiplier = whole;
      break;
    case 1:
      axis.multiplier = whole * (1.0 - 0x1p-24);
      break;
    case 2:
      axis.multiplier = static_cast<double>(std::nextafter(static_cast<float>(whole), 0.0F));
      break;
    default:
      axis.multiplier =
          (static_cast<double>(axis.out) + random.Real(0.0, 0.9999)) / static_cast<double>(axis.in);
      break;
  }
  return axis;
}

TEST(NearestBounds, IsTheReferenceOnAllSmallSizes) {
  for (int64_t in = 1; in <= 60; ++in) {
    for (int64_t out = 1; out <= 60; ++out) ExpectAll({.in = in, .out = out});
  }
}

TEST(NearestBounds, IsTheReferenceOnRandomSizes) {
  TracedRandom random;
  for (int i = 0; i < 300; ++i) ExpectAll({.in = random.Int(1, 3000), .out = random.Int(1, 3000)});
}

TEST(NearestBounds, IsTheReferenceWithScales) {
  TracedRandom random;
  for (int i = 0; i < 600; ++i) ExpectAll(ScaledAxis(random, i < 300 ? 40 : 3000));
}

// Where the ascend rule leaves float for double.
TEST(NearestBounds, IsTheReferenceAroundTheFloatLimit) {
  constexpr int64_t kLimit = int64_t{1} << 21;
  TracedRandom random;
  for (const int64_t extent : {kLimit - 1, kLimit, kLimit + 1}) {
    const int64_t other = random.Int(2, random.OneIn(2) ? 1000 : kLimit);
    for (const IndexRule rule : kRules) {
      ExpectIsReference({.in = extent, .out = other}, rule);
      ExpectIsReference({.in = other, .out = extent}, rule);
    }
  }
}

// Where o + 0.5 and the extents themselves no longer fit a float.
TEST(NearestBounds, IsTheReferenceBeyondFloats) {
  TracedRandom random;
  const int64_t out = (int64_t{1} << 24) + random.Int(1, 1000);
  for (const IndexRule rule : kRules) {
    ExpectIsReference({.in = random.Int(1, 100), .out = out}, rule);
    ExpectIsReference({.in = random.Int(7000000, 9000000), .out = out}, rule);
    ExpectIsReference({.in = out, .out = random.Int(1, 1000)}, rule);
  }
}

TEST(NearestBounds, ScalesBeyondFloats) {
  TracedRandom random;
  NearestAxis axis{.in = random.Int(4000000, 5000000)};
  axis.multiplier = random.Real(3.5, 4.5);
  axis.out = static_cast<int64_t>(static_cast<double>(axis.in) * axis.multiplier);
  ExpectIsReference(axis, IndexRule::kAscend);
  ExpectIsReference(axis, IndexRule::kTorchCpu);
}

// Enlarging 2 to 41, sample 20 lies on the middle: float rounding decides, and not alike by all
// rules.
TEST(NearestBounds, RulesDifferAtATie) {
  const NearestAxis axis{.in = 2, .out = 41};
  EXPECT_EQ(NearestBounds(axis, IndexRule::kAscend)[1], 20);
  EXPECT_EQ(NearestBounds(axis, IndexRule::kExact)[1], 20);
  EXPECT_EQ(NearestBounds(axis, IndexRule::kTorchCpu)[1], 21);
}

}  // namespace
}  // namespace opscv::taps
