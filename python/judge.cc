// SPDX-License-Identifier: Apache-2.0
#include "python/judge.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "opscv/spec.h"
#include "opscv/view.h"
#include "reference/bound.h"
#include "reference/reference.h"

namespace nb = nanobind;

namespace opscv::python {
namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Array = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

reference::Answer Cubic(bool backward, int64_t batch, const std::vector<int64_t>& in,
                        const std::vector<int64_t>& out, bool align_corners,
                        const std::vector<double>& scales, std::span<const double> data) {
  const reference::Bicubic2dAAProblem problem = {.batch = batch,
                                                 .in_h = in.at(0),
                                                 .in_w = in.at(1),
                                                 .out_h = out.at(0),
                                                 .out_w = out.at(1),
                                                 .align_corners = align_corners,
                                                 .scales_h = scales.at(0),
                                                 .scales_w = scales.at(1)};
  return backward ? reference::UpsampleBicubic2dAAGrad(problem, data)
                  : reference::UpsampleBicubic2dAA(problem, data);
}

reference::Answer Nearest(bool backward, int64_t batch, const std::vector<int64_t>& in,
                          const std::vector<int64_t>& out, const std::vector<double>& scales,
                          int rule, std::span<const double> data) {
  reference::NearestExact3dProblem problem;
  problem.batch = batch;
  problem.rule = static_cast<IndexRule>(rule);
  for (size_t axis = 0; axis < 3; ++axis) {
    problem.in[axis] = in.at(axis);
    problem.out[axis] = out.at(axis);
    problem.scales[axis] = scales.at(axis);
  }
  return backward ? reference::UpsampleNearestExact3dGrad(problem, data)
                  : reference::UpsampleNearestExact3d(problem, data);
}

Array ToArray(std::vector<double> values) {
  auto owned = std::make_unique<std::vector<double>>(std::move(values));
  double* data = owned->data();
  const size_t size = owned->size();
  const nb::capsule owner(owned.get(),
                          [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  (void)owned.release();
  return Array(data, {size}, owner);
}

nb::tuple Judge(const std::string& op, int64_t batch, const std::vector<int64_t>& in,
                const std::vector<int64_t>& out, bool align_corners,
                const std::vector<double>& scales, int rule, int dtype, const Vector& data,
                const Vector& actual) {
  const std::span<const double> values(data.data(), data.size());
  const bool backward = op.ends_with("Grad");
  reference::Answer answer = op.starts_with("UpsampleBicubic2dAA")
                                 ? Cubic(backward, batch, in, out, align_corners, scales, values)
                                 : Nearest(backward, batch, in, out, scales, rule, values);
  if (actual.size() != answer.value.size()) throw nb::value_error("actual has another size.");
  std::vector<double> fractions(answer.value.size());
  for (size_t i = 0; i < fractions.size(); ++i) {
    fractions[i] =
        reference::ErrorFraction(static_cast<DType>(dtype), actual.data()[i], answer.value[i],
                                 answer.magnitude[i], answer.TapsOf(static_cast<int64_t>(i)));
  }
  return nb::make_tuple(ToArray(std::move(fractions)), ToArray(std::move(answer.value)));
}

}  // namespace

void BindJudge(nb::module_& module) {
  module.def("judge", &Judge, nb::arg("op"), nb::arg("batch"), nb::arg("in_size"),
             nb::arg("out_size"), nb::arg("align_corners"), nb::arg("scales"), nb::arg("rule"),
             nb::arg("dtype"), nb::arg("data"), nb::arg("actual"));
}

}  // namespace opscv::python
