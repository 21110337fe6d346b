// SPDX-License-Identifier: Apache-2.0
#include "graph/memory.h"

#include <algorithm>
#include <numeric>

#include "base/checked_math.h"

namespace opscv::graph {
namespace {

constexpr int64_t kAlign = 64;

bool Meet(const Life& a, const Life& b) { return a.first <= b.last && b.first <= a.last; }

// Places the largest first, each at the lowest offset that nothing placed and alive with it covers:
// small pieces then fill the gaps that large ones leave.
class Placer {
 public:
  explicit Placer(std::span<const Life> lives) : lives_(lives), offsets_(lives.size(), 0) {
    std::vector<size_t> order(lives.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order,
                             [&](size_t a, size_t b) { return lives[a].bytes > lives[b].bytes; });
    for (const size_t piece : order) Place(piece);
  }

  [[nodiscard]] const std::vector<int64_t>& offsets() const { return offsets_; }
  [[nodiscard]] int64_t end() const { return end_; }

 private:
  void Place(size_t piece) {
    const int64_t size = RoundUp(lives_[piece].bytes, kAlign);
    int64_t offset = 0;
    for (const size_t other : placed_) {  // by offset
      if (!Meet(lives_[piece], lives_[other])) continue;
      if (offset + size <= offsets_[other]) break;
      offset = std::max(offset, offsets_[other] + RoundUp(lives_[other].bytes, kAlign));
    }
    offsets_[piece] = offset;
    end_ = std::max(end_, offset + size);
    const auto at = std::ranges::upper_bound(placed_, offset, {},
                                             [&](size_t other) { return offsets_[other]; });
    placed_.insert(at, piece);
  }

  std::span<const Life> lives_;
  std::vector<int64_t> offsets_;
  std::vector<size_t> placed_;
  int64_t end_ = 0;
};

}  // namespace

MemoryPlan PlanMemory(std::span<const Life> lives, int steps) {
  const Placer placer(lives);
  MemoryPlan plan;
  plan.offsets = placer.offsets();
  plan.arena_bytes = placer.end();
  plan.live_bytes.assign(static_cast<size_t>(steps), 0);
  for (const Life& life : lives) {
    for (int step = life.first; step <= life.last; ++step) {
      plan.live_bytes[static_cast<size_t>(step)] += life.bytes;
    }
  }
  for (const int64_t bytes : plan.live_bytes) plan.peak_bytes = std::max(plan.peak_bytes, bytes);
  return plan;
}

}  // namespace opscv::graph
