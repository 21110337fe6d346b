// SPDX-License-Identifier: Apache-2.0
#include "python/convert.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <string>
#include <variant>

namespace nb = nanobind;

namespace opscv::python {

Dims ToDims(const Ints& values) { return Dims(std::span<const int64_t>(values)); }

Ints FromDims(const Dims& dims) { return {dims.values().begin(), dims.values().end()}; }

void ThrowIfError(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return;
    case StatusCode::kOutOfMemory:
      PyErr_SetString(PyExc_MemoryError, status.message().c_str());
      break;
    case StatusCode::kNullPointer:
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
      PyErr_SetString(PyExc_ValueError, status.message().c_str());
      break;
    case StatusCode::kCancelled:
    case StatusCode::kInternal:
      PyErr_SetString(PyExc_RuntimeError, status.message().c_str());
      break;
  }
  throw nb::python_error();
}

AttrValue ToAttrValue(nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
  if (nb::isinstance<nb::int_>(value)) return nb::cast<int64_t>(value);
  if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
  if (Ints ints; nb::try_cast(value, ints, /*convert=*/false)) return ints;
  return nb::cast<FloatList>(value);
}

Spec ToSpec(const std::string& op, const nb::dict& attrs, int rule) {
  Spec spec(op);
  spec.SetRule(static_cast<IndexRule>(rule));
  for (const auto& [key, value] : attrs) {
    const auto name = nb::cast<std::string>(key);
    std::visit([&](const auto& alternative) { spec.Set(name, alternative); }, ToAttrValue(value));
  }
  return spec;
}

TensorDesc ToDesc(int dtype, int layout, const Ints& shape, const Ints& strides) {
  return {.dtype = static_cast<DType>(dtype),
          .shape = ToDims(shape),
          .strides = ToDims(strides),
          .layout = static_cast<Layout>(layout)};
}

// NOLINTNEXTLINE(performance-no-int-to-ptr)
const void* ToInput(uintptr_t address) { return reinterpret_cast<const void*>(address); }
// NOLINTNEXTLINE(performance-no-int-to-ptr)
void* ToOutput(uintptr_t address) { return reinterpret_cast<void*>(address); }

}  // namespace opscv::python
