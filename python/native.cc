// SPDX-License-Identifier: Apache-2.0
// The module opscv._native: plans, addresses and DLPack as plain numbers. Knows no array library;
// what users see is the Python code beside it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "opscv/plan.h"
#include "opscv/targets.h"
#include "opscv/version.h"
#include "python/convert.h"
#include "python/graph.h"
#include "python/interrupt.h"
#include "python/judge.h"

namespace nb = nanobind;

namespace opscv::python {
namespace {

// A run shorter than this many bytes ends before anybody can interrupt it.
constexpr int64_t kWorthWatchingBytes = int64_t{1} << 20;

class BoundPlan {
 public:
  BoundPlan(const std::string& op, const nb::dict& attrs, int rule, int dtype, int layout,
            const Ints& in_shape, const Ints& in_strides, const Ints& out_shape,
            const Ints& out_strides, bool boxes_only)
      : plan_(Make(ToSpec(op, attrs, rule), ToDesc(dtype, layout, in_shape, in_strides),
                   ToDesc(dtype, layout, out_shape, out_strides), boxes_only)),
        is_long_(Bytes(in_shape, dtype) + Bytes(out_shape, dtype) >= kWorthWatchingBytes) {}

  void Run(uintptr_t input, uintptr_t output, int threads) const {
    const Dims origin = Dims::Filled(plan_.output().shape.rank(), 0);
    RunUntilDone({.begin = origin, .end = plan_.output().shape}, input, origin, output, threads);
  }

  void RunBox(const Ints& begin, const Ints& end, uintptr_t input, const Ints& input_origin,
              uintptr_t output, int threads) const {
    RunUntilDone({.begin = ToDims(begin), .end = ToDims(end)}, input, ToDims(input_origin), output,
                 threads);
  }

  std::pair<Ints, Ints> InputBox(const Ints& begin, const Ints& end) const {
    const Box box = plan_.InputBox({.begin = ToDims(begin), .end = ToDims(end)});
    return {FromDims(box.begin), FromDims(box.end)};
  }

  std::string Describe() const { return plan_.Describe(); }

 private:
  static int64_t Bytes(const Ints& shape, int dtype) {
    int64_t bytes = SizeOf(static_cast<DType>(dtype));
    for (const int64_t extent : shape) bytes *= extent;  // the plan has checked the product
    return bytes;
  }

  static Plan Make(const Spec& spec, const TensorDesc& input, const TensorDesc& output,
                   bool boxes_only) {
    Result<Plan> plan = [&] {
      const nb::gil_scoped_release release;
      return MakePlan(spec, input, output, {.boxes_only = boxes_only});
    }();
    return ValueOrThrow(std::move(plan));
  }

  // A run that Ctrl-C stopped ends in the exception that Python's handler raises. Where the handler
  // raises none, the program wants to go on, and the run begins anew.
  void RunUntilDone(const Box& box, uintptr_t input, const Dims& origin, uintptr_t output,
                    int threads) const {
    while (true) {
      Status status;
      {
        const InterruptWatch watch(is_long_);
        const nb::gil_scoped_release release;
        status = plan_.RunBox(box, ToInput(input), origin, ToOutput(output),
                              {.threads = threads, .stop = watch.flag()});
      }
      if (status.code() != StatusCode::kCancelled) return ThrowIfError(status);
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
  }

  Plan plan_;
  bool is_long_;
};

// Asks the kernel for huge pages in a fresh block of memory. Only advice: what it answers does not
// matter. Pages that the block shares with others are advised too: were they left out, the last
// huge page of a block that ends within it would be 512 small ones.
void AdviseHugePages(uintptr_t address, size_t bytes) {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = address / page * page;
  const uintptr_t end = (address + bytes + page - 1) / page * page;
  madvise(ToOutput(begin), end - begin, MADV_HUGEPAGE);
}

struct DLPackType {
  DType dtype;
  nb::dlpack::dtype_code code;
};

constexpr DLPackType kDLPackTypes[] = {
    {DType::kFloat64, nb::dlpack::dtype_code::Float},
    {DType::kFloat32, nb::dlpack::dtype_code::Float},
    {DType::kFloat16, nb::dlpack::dtype_code::Float},
    {DType::kBFloat16, nb::dlpack::dtype_code::Bfloat},
    {DType::kInt8, nb::dlpack::dtype_code::Int},
    {DType::kUInt8, nb::dlpack::dtype_code::UInt},
    {DType::kInt16, nb::dlpack::dtype_code::Int},
    {DType::kUInt16, nb::dlpack::dtype_code::UInt},
    {DType::kInt32, nb::dlpack::dtype_code::Int},
    {DType::kUInt32, nb::dlpack::dtype_code::UInt},
    {DType::kInt64, nb::dlpack::dtype_code::Int},
    {DType::kUInt64, nb::dlpack::dtype_code::UInt},
    {DType::kBool, nb::dlpack::dtype_code::Bool},
};

nb::dlpack::dtype ToDLPackType(DType dtype) {
  for (const DLPackType& type : kDLPackTypes) {
    if (type.dtype == dtype) {
      return {static_cast<uint8_t>(type.code), static_cast<uint8_t>(SizeOf(dtype) * 8), 1};
    }
  }
  throw nb::type_error("there is no such type");
}

// The number of a type that DLPack told, or -1.
int FromDLPackType(const nb::dlpack::dtype& got) {
  for (const DLPackType& type : kDLPackTypes) {
    if (ToDLPackType(type.dtype) == got) return static_cast<int>(type.dtype);
  }
  return -1;
}

// Memory that an object lent by DLPack, for as long as this lives.
template <typename Array>
class Loan {
 public:
  explicit Loan(Array array) : array_(std::move(array)) {}
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(array_.data()); }
  int dtype() const { return FromDLPackType(array_.dtype()); }
  Ints shape() const { return Each(&Array::shape); }
  Ints strides() const { return Each(&Array::stride); }

 private:
  template <typename T>
  Ints Each(T (Array::*value)(size_t) const) const {
    Ints values;
    for (size_t i = 0; i < array_.ndim(); ++i) {
      values.push_back(static_cast<int64_t>((array_.*value)(i)));
    }
    return values;
  }

  Array array_;
};

using ReadLoan = Loan<nb::ndarray<nb::ro, nb::device::cpu>>;
using WriteLoan = Loan<nb::ndarray<nb::device::cpu>>;

template <typename L>
void BindLoan(nb::module_& module, const char* name) {
  nb::class_<L>(module, name)
      .def_prop_ro("address", &L::address)
      .def_prop_ro("dtype", &L::dtype)
      .def_prop_ro("shape", &L::shape)
      .def_prop_ro("strides", &L::strides);
}

// A DLPack capsule for memory that `owner` keeps alive.
nb::ndarray<> ToCapsule(uintptr_t address, int dtype, const Ints& shape, const Ints& strides,
                        const nb::object& owner) {
  std::vector<size_t> extents(shape.begin(), shape.end());
  return nb::ndarray<>(ToOutput(address), extents.size(), extents.data(), owner, strides.data(),
                       ToDLPackType(static_cast<DType>(dtype)));
}

void BindPlan(nb::module_& module) {
  nb::class_<BoundPlan>(module, "Plan")
      .def(nb::init<const std::string&, const nb::dict&, int, int, int, const Ints&, const Ints&,
                    const Ints&, const Ints&, bool>(),
           nb::arg("op"), nb::arg("attrs"), nb::arg("rule"), nb::arg("dtype"), nb::arg("layout"),
           nb::arg("in_shape"), nb::arg("in_strides"), nb::arg("out_shape"), nb::arg("out_strides"),
           nb::arg("boxes_only") = false)
      .def("run", &BoundPlan::Run, nb::arg("input"), nb::arg("output"), nb::arg("threads"))
      .def("run_box", &BoundPlan::RunBox, nb::arg("begin"), nb::arg("end"), nb::arg("input"),
           nb::arg("input_origin"), nb::arg("output"), nb::arg("threads"))
      .def("input_box", &BoundPlan::InputBox, nb::arg("begin"), nb::arg("end"))
      .def("describe", &BoundPlan::Describe);
}

}  // namespace

NB_MODULE(_native, module) {
  // Plans that PyTorch or a cache still holds at exit are no leak.
  nb::set_leak_warnings(false);
  RememberMainThread();
  BindPlan(module);
  BindGraph(module);
  BindLoan<ReadLoan>(module, "ReadLoan");
  BindLoan<WriteLoan>(module, "WriteLoan");
  BindJudge(module);
  module.def("borrow",
             [](nb::ndarray<nb::ro, nb::device::cpu> array) { return ReadLoan(std::move(array)); });
  module.def("borrow_for_writing",
             [](nb::ndarray<nb::device::cpu> array) { return WriteLoan(std::move(array)); });
  module.def("to_capsule", &ToCapsule, nb::arg("address"), nb::arg("dtype"), nb::arg("shape"),
             nb::arg("strides"), nb::arg("owner"));
  module.def("advise_huge_pages", &AdviseHugePages, nb::arg("address"), nb::arg("bytes"));
  module.def("version", [] { return std::string(Version()); });
  module.def("supported_targets", &SupportedTargets);
  module.def("current_target", [] { return ValueOrThrow(CurrentTarget()); });
  module.def("default_threads", &DefaultThreadCount);
}

}  // namespace opscv::python
