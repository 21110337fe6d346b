// SPDX-License-Identifier: Apache-2.0
// Values between Python and the library: sizes, attributes, tensors, and statuses as exceptions.
// Knows no plan and no graph.
#ifndef OPSCV_PYTHON_CONVERT_H_
#define OPSCV_PYTHON_CONVERT_H_

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "opscv/spec.h"
#include "opscv/status.h"
#include "opscv/view.h"

namespace opscv::python {

using Ints = std::vector<int64_t>;

Dims ToDims(const Ints& values);
Ints FromDims(const Dims& dims);

// Throws the status as the exception that Python has for it. Needs the interpreter lock.
void ThrowIfError(const Status& status);

template <typename T>
T ValueOrThrow(Result<T> result) {
  if (!result) ThrowIfError(result.error());
  return *std::move(result);
}

// A bool, an int, a float, or a list: of ints as IntList, any other as FloatList.
AttrValue ToAttrValue(nanobind::handle value);
Spec ToSpec(const std::string& op, const nanobind::dict& attrs, int rule);

TensorDesc ToDesc(int dtype, int layout, const Ints& shape, const Ints& strides);

// Python hands addresses over as numbers.
const void* ToInput(uintptr_t address);
void* ToOutput(uintptr_t address);

}  // namespace opscv::python

#endif  // OPSCV_PYTHON_CONVERT_H_
