// SPDX-License-Identifier: Apache-2.0
// The float64 reference and the accuracy bound, for the acceptance runner and the tests.
#ifndef OPSCV_PYTHON_JUDGE_H_
#define OPSCV_PYTHON_JUDGE_H_

#include <nanobind/nanobind.h>

namespace opscv::python {

// Adds judge() to the module; opscv/_native.pyi has its contract.
void BindJudge(nanobind::module_& module);

}  // namespace opscv::python

#endif  // OPSCV_PYTHON_JUDGE_H_
