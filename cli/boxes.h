// SPDX-License-Identifier: Apache-2.0
// The boxes that a tensor falls into when each takes so many elements along each dimension. Knows
// nothing of what is done to them.
#ifndef OPSCV_CLI_BOXES_H_
#define OPSCV_CLI_BOXES_H_

#include <cstdint>
#include <vector>

#include "opscv/view.h"

namespace opscv::cli {

// Goes through all boxes of `step` elements (fewer at the ends), in the order in which a tensor
// with these strides stores them.
class Boxes {
 public:
  Boxes(const Dims& shape, const Dims& step, const Dims& strides);

  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] Box box() const;
  void Next();

 private:
  Dims shape_;
  Dims step_;
  std::vector<int> order_;  // outermost first
  Dims at_;
  bool done_;
};

// At most the largest int64_t.
[[nodiscard]] int64_t ElementsOf(const Box& box);

// The box that is everything.
[[nodiscard]] Box WholeOf(const Dims& shape);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_BOXES_H_
