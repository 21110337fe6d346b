// SPDX-License-Identifier: Apache-2.0
// Plans by call: for programs that meet the same calls again and again and keep no plans
// themselves.
//
//   opscv::PlanCache plans;
//   auto plan = plans.Get(spec, input, output);  // planned the first time, then found
#ifndef OPSCV_PLAN_CACHE_H_
#define OPSCV_PLAN_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "opscv/export.h"
#include "opscv/plan.h"
#include "opscv/spec.h"
#include "opscv/status.h"
#include "opscv/view.h"

namespace opscv {

// Keeps the plans that were asked for last, up to a number of them. A call is the same when
// operator, attributes (in any order), rule, and type, shape, strides and layout of both tensors
// are. Any number of threads may use it at once.
class OPSCV_API PlanCache {
 public:
  static constexpr size_t kDefaultCapacity = 64;

  // Keeps at most `capacity` plans, one at least. A plan holds the tables of its axes: some bytes
  // for every tap.
  explicit PlanCache(size_t capacity = kDefaultCapacity);
  ~PlanCache();
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  // What MakePlan answers. A plan that is kept is found without checking, planning or allocating
  // anything; errors are not kept. Plans made before OPSCV_TARGET was pinned otherwise keep their
  // target.
  [[nodiscard]] Result<Plan> Get(const Spec& spec, const TensorDesc& input,
                                 const TensorDesc& output);

  [[nodiscard]] size_t capacity() const;
  [[nodiscard]] size_t size() const;
  // Calls of Get that found their plan, and those that did not.
  [[nodiscard]] int64_t hits() const;
  [[nodiscard]] int64_t misses() const;

  // Forgets all plans; those in use live on.
  void Clear();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opscv

#endif  // OPSCV_PLAN_CACHE_H_
