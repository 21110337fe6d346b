// SPDX-License-Identifier: Apache-2.0
#include "cli/boxes.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "cli/tensor_file.h"

namespace opscv::cli {

Boxes::Boxes(const Dims& shape, const Dims& step, const Dims& strides)
    : shape_(shape),
      step_(step),
      order_(OuterToInner(strides)),
      at_(Dims::Filled(shape.rank(), 0)),
      done_(std::any_of(shape.values().begin(), shape.values().end(),
                        [](int64_t extent) { return extent == 0; })) {}

Box Boxes::box() const {
  Box box{.begin = at_, .end = at_};
  for (int i = 0; i < at_.rank(); ++i) box.end[i] = std::min(at_[i] + step_[i], shape_[i]);
  return box;
}

void Boxes::Next() {
  for (size_t level = order_.size(); level-- > 0;) {
    const int dim = order_[level];
    at_[dim] += step_[dim];
    if (at_[dim] < shape_[dim]) return;
    at_[dim] = 0;
  }
  done_ = true;
}

int64_t ElementsOf(const Box& box) {
  Dims extent = box.end;
  for (int i = 0; i < extent.rank(); ++i) extent[i] -= box.begin[i];
  return CheckedProduct(extent.values()).value_or(std::numeric_limits<int64_t>::max());
}

Box WholeOf(const Dims& shape) { return {.begin = Dims::Filled(shape.rank(), 0), .end = shape}; }

}  // namespace opscv::cli
