// SPDX-License-Identifier: Apache-2.0
#include "opscv/plan_cache.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/lru_cache.h"
#include "base/status.h"
#include "base/view_key.h"

namespace opscv {
namespace {

using Attr = std::pair<std::string, AttrValue>;

uint64_t HashOf(std::string_view text) { return std::hash<std::string_view>()(text); }

uint64_t HashOfValue(double value) { return std::bit_cast<uint64_t>(value); }
template <std::integral T>
uint64_t HashOfValue(T value) {
  return static_cast<uint64_t>(value);
}
template <typename T>
uint64_t HashOfValue(const std::vector<T>& list) {
  uint64_t hash = list.size();
  for (const T value : list) hash = HashWith(hash, HashOfValue(value));
  return hash;
}

uint64_t HashOf(const Attr& attr) {
  const uint64_t value =
      std::visit([](const auto& alternative) { return HashOfValue(alternative); }, attr.second);
  return HashWith(HashWith(HashOf(std::string_view(attr.first)), attr.second.index()), value);
}

uint64_t HashOf(const Spec& spec) {
  uint64_t attrs = 0;  // a sum: their order does not count
  for (const Attr& attr : spec.attrs()) attrs += HashOf(attr);
  const auto rule = static_cast<uint64_t>(spec.rule());
  return HashWith(HashWith(HashOf(std::string_view(spec.op())), rule), attrs);
}

// A Spec names no attribute twice.
bool SameSpec(const Spec& a, const Spec& b) {
  if (a.op() != b.op() || a.rule() != b.rule() || a.attrs().size() != b.attrs().size()) {
    return false;
  }
  if (a.attrs() == b.attrs()) return true;
  return std::ranges::all_of(a.attrs(), [&](const Attr& attr) {
    return std::ranges::find(b.attrs(), attr) != b.attrs().end();
  });
}

struct Call {
  Spec spec;
  TensorDesc input;
  TensorDesc output;

  bool operator==(const Call& other) const {
    return SameView(input, other.input) && SameView(output, other.output) &&
           SameSpec(spec, other.spec);
  }
};

}  // namespace

struct PlanCache::Impl {
  explicit Impl(size_t capacity) : plans(capacity) {}

  LruCache<Call, Plan> plans;
  std::atomic<int64_t> hits{0};
  std::atomic<int64_t> misses{0};
};

PlanCache::PlanCache(size_t capacity) : impl_(std::make_unique<Impl>(capacity)) {}
PlanCache::~PlanCache() = default;

Result<Plan> PlanCache::Get(const Spec& spec, const TensorDesc& input, const TensorDesc& output) {
  const uint64_t hash =
      HashWith(HashWith(HashOf(spec), opscv::HashOf(input)), opscv::HashOf(output));
  std::optional<Plan> found = impl_->plans.Find(hash, [&](const Call& call) {
    return SameView(call.input, input) && SameView(call.output, output) &&
           SameSpec(call.spec, spec);
  });
  if (found) {
    impl_->hits.fetch_add(1, std::memory_order_relaxed);
    return *std::move(found);
  }
  impl_->misses.fetch_add(1, std::memory_order_relaxed);
  Result<Plan> plan = MakePlan(spec, input, output);
  if (!plan) return plan;
  return impl_->plans.Insert(hash, {.spec = spec, .input = input, .output = output},
                             *std::move(plan));
}

size_t PlanCache::capacity() const { return impl_->plans.capacity(); }
size_t PlanCache::size() const { return impl_->plans.size(); }
int64_t PlanCache::hits() const { return impl_->hits.load(std::memory_order_relaxed); }
int64_t PlanCache::misses() const { return impl_->misses.load(std::memory_order_relaxed); }
void PlanCache::Clear() { impl_->plans.Clear(); }

}  // namespace opscv
