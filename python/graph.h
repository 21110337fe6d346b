// SPDX-License-Identifier: Apache-2.0
// Graphs and sessions for opscv/graph.py.
#ifndef OPSCV_PYTHON_GRAPH_H_
#define OPSCV_PYTHON_GRAPH_H_

#include <nanobind/nanobind.h>

namespace opscv::python {

// Adds Graph and Session to the module; opscv/_native.pyi has their contract.
void BindGraph(nanobind::module_& module);

}  // namespace opscv::python

#endif  // OPSCV_PYTHON_GRAPH_H_
