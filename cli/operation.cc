// SPDX-License-Identifier: Apache-2.0
#include "cli/operation.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace opscv::cli {
namespace {

constexpr int64_t kDefaultMemory = int64_t{256} << 20;

// Puts `count` dimensions of one element in front.
void AddDims(Storage& storage, int count) {
  const Dims shape = storage.shape;
  const Dims strides = storage.strides;
  int64_t all = 1;
  for (const int64_t extent : shape.values()) all *= std::max<int64_t>(extent, 1);
  storage.shape = Dims::Filled(shape.rank() + count, 1);
  storage.strides = Dims::Filled(shape.rank() + count, all);
  for (int i = 0; i < shape.rank(); ++i) {
    storage.shape[i + count] = shape[i];
    storage.strides[i + count] = strides[i];
  }
}

void DropDims(Storage& storage, int count) {
  storage.shape = Dims(storage.shape.values().subspan(static_cast<size_t>(count)));
  storage.strides = Dims(storage.strides.values().subspan(static_cast<size_t>(count)));
}

const IntList* FindList(const ops::OpCall& call, std::string_view name) {
  for (size_t i = 0; i < call.attrs.size(); ++i) {
    if (call.info->attrs[i].name == name) return std::get_if<IntList>(&call.attrs[i]);
  }
  return nullptr;
}

// N,C,spatial in the order of the layout.
Dims InLayout(const IntList& channels_first, Layout layout) {
  IntList sizes = channels_first;
  if (layout == Layout::kChannelsLast)
    std::rotate(sizes.begin() + 1, sizes.begin() + 2, sizes.end());
  return Dims(std::span<const int64_t>(sizes));
}

// The shape that the attributes ask for. Where their number is wrong, any shape of the operator's
// rank, so that the plan refuses the attribute and not the shape.
Dims OutputShape(const ops::OpCall& call) {
  const auto rank = static_cast<size_t>(call.info->rank);
  if (call.info->direction == plan::Direction::kBackward) {
    const IntList* sizes = FindList(call, "input_size");
    const bool fits = sizes != nullptr && sizes->size() == rank;
    return InLayout(fits ? *sizes : IntList(rank, 1), call.input.layout);
  }
  const IntList* sizes = FindList(call, "output_size");
  if (sizes == nullptr || sizes->size() + 2 != rank || call.input.shape.rank() != call.info->rank) {
    return Dims::Filled(call.info->rank, 1);
  }
  const Dims& shape = call.input.shape;
  const bool last = call.input.layout == Layout::kChannelsLast;
  IntList result = {shape[0], shape[last ? shape.rank() - 1 : 1]};
  result.insert(result.end(), sizes->begin(), sizes->end());
  return InLayout(result, call.input.layout);
}

bool Takes(const ops::OpInfo& info, DType dtype) {
  const auto has = [&](const std::vector<DType>& list) {
    return std::find(list.begin(), list.end(), dtype) != list.end();
  };
  return has(info.dtypes) || has(info.cpu_dtypes);
}

DType ChooseDType(const Operation& operation, std::optional<DType> asked) {
  if (asked) return *asked;
  const DType stored = operation.input.storage.encoding.dtype;
  if (Takes(*operation.info, stored)) return stored;
  throw InputFailure(
      "{}: holds elements of type {}, which {} does not take; give --dtype float32 to convert them",
      operation.input.path, NameOf(stored), operation.info->name);
}

ops::OpCall BindOrFail(const Spec& spec, const TensorDesc& input) {
  Result<ops::OpCall> call = ops::BindCall(spec, input, TensorDesc());
  if (!call) throw InputFailure("{}: {}", spec.op(), call.error().message());
  return *std::move(call);
}

}  // namespace

Operation Prepare(const OperatorOptions& options, const CommonOptions& common,
                  const std::string& input_path) {
  Operation operation;
  operation.info = options.info;
  operation.job = {.spec = options.ToSpec(),
                   .dtype = DType::kFloat32,
                   .layout = options.ToLayout(),
                   .threads = common.threads,
                   .memory = kDefaultMemory,
                   .progress = {}};
  const std::optional<DType> asked = options.ToDType();
  operation.input = OpenTensor(input_path, asked);
  operation.job.dtype = ChooseDType(operation, asked);

  Storage& input = operation.input.storage;
  const int missing = options.info->rank - input.shape.rank();
  const int spatial = options.info->rank - 2;
  const bool last = operation.job.layout == Layout::kChannelsLast;
  if (missing > 0 && input.shape.rank() >= spatial + (last ? 1 : 0)) {
    operation.added_dims = missing;
    AddDims(input, missing);
  }
  const ops::OpCall call = BindOrFail(operation.job.spec, {.dtype = operation.job.dtype,
                                                           .shape = input.shape,
                                                           .strides = input.strides,
                                                           .layout = operation.job.layout});
  operation.output.encoding.dtype = operation.job.dtype;
  operation.output.shape = OutputShape(call);
  operation.output.strides = input.shape.rank() == operation.output.shape.rank()
                                 ? DenseStridesLike(operation.output.shape, input.strides)
                                 : ContiguousStrides(operation.output.shape);
  return operation;
}

TensorOutput CreateOutput(const Operation& operation, const std::string& path) {
  Storage storage = operation.output;
  DropDims(storage, operation.added_dims);
  TensorOutput output = CreateTensor(path, storage);
  AddDims(output.storage, operation.added_dims);
  return output;
}

std::string ShapeText(const Dims& shape) {
  return fmt::format("({})", fmt::join(shape.values(), ", "));
}

Json DescribeJson(const Operation& operation) {
  const auto list = [](const Dims& dims) {
    return std::vector<int64_t>(dims.values().begin(), dims.values().end());
  };
  return {{"operator", operation.info->name},
          {"dtype", NameOf(operation.job.dtype)},
          {"input_shape", list(operation.input.storage.shape)},
          {"output_shape", list(operation.output.shape)}};
}

std::string DescribeText(const Operation& operation) {
  return fmt::format("{} {} {} -> {}", operation.info->name, NameOf(operation.job.dtype),
                     ShapeText(operation.input.storage.shape), ShapeText(operation.output.shape));
}

double BytesMoved(const Operation& operation) {
  double elements = 0.0;
  for (const Dims& shape : {operation.input.storage.shape, operation.output.shape}) {
    double count = 1.0;
    for (const int64_t extent : shape.values()) count *= static_cast<double>(extent);
    elements += count;
  }
  return elements * static_cast<double>(SizeOf(operation.job.dtype));
}

}  // namespace opscv::cli
