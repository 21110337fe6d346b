// SPDX-License-Identifier: Apache-2.0
#include "cli/operation.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/checked_math.h"
#include "cli/memory.h"
#include "cli/nifti.h"

namespace opscv::cli {
namespace {

// Puts `count` dimensions of one element in front.
void AddDims(Storage& storage, int count) {
  const Dims shape = storage.shape;
  const Dims strides = storage.strides;
  const int64_t all = std::max<int64_t>(CheckedProduct(shape.values()).value_or(1), 1);
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

Dims InLayout(const IntList& channels_first, Layout layout) {
  return ToLayout(Dims(std::span<const int64_t>(channels_first)), layout);
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

bool IsGradient(const ops::OpInfo& info) { return info.direction == plan::Direction::kBackward; }

// The type to compute in. Images and volumes become floats by themselves, unless the operator
// copies their elements; elements of a .npy are the user's own matter.
DType ChooseDType(const Operation& operation, std::optional<DType> asked) {
  if (asked) return *asked;
  const Encoding& encoding = operation.input.storage.encoding;
  if (IsImage(operation.input.format)) return DType::kFloat32;
  if (Takes(*operation.info, encoding.dtype)) {
    const bool copies = !IsGradient(*operation.info) && !IsFloating(encoding.dtype);
    if (copies || !encoding.scaled()) return encoding.dtype;
  }
  if (IsNifti(operation.input.format)) return FloatFor(encoding);
  throw InputFailure(
      "{}: holds elements of type {}, which {} does not take; give --dtype float32 to convert them",
      operation.input.path, NameOf(encoding.dtype), operation.info->name);
}

// Samples that lie `spacing` apart over the extent that the volume has now.
IntList SizeForSpacing(const Operation& operation, const std::vector<double>& spacing) {
  if (operation.input.nifti == nullptr) {
    throw UsageFailure("--spacing needs a NIfTI file for --input, got '{}'", operation.input.path);
  }
  const Spatial now = SpacingOf(*operation.input.nifti);
  const Dims shape = ToChannelsFirst(operation.input.storage.shape, operation.job.layout);
  IntList size(spacing.size());
  for (size_t axis = 0; axis < spacing.size(); ++axis) {  // W, H, D
    const auto extent = static_cast<double>(shape[shape.rank() - 1 - static_cast<int>(axis)]);
    if (now[axis] == 0.0) {
      throw InputFailure("{}: has no spacing along {}; give --output_size", operation.input.path,
                         "xyz"[axis]);
    }
    const double samples = std::round(extent * now[axis] / spacing[axis]);
    if (!(samples < 0x1p53)) {
      throw UsageFailure("--spacing must leave fewer than 2^53 samples, got {}", spacing[axis]);
    }
    size[spacing.size() - 1 - axis] = std::max<int64_t>(1, static_cast<int64_t>(samples));
  }
  return size;
}

ops::OpCall BindOrFail(const Spec& spec, const TensorDesc& input) {
  Result<ops::OpCall> call = ops::BindCall(spec, input, TensorDesc());
  if (!call) throw InputFailure("{}: {}", spec.op(), call.error().message());
  return *std::move(call);
}

// Elements that are copied keep their meaning through the slope and intercept of the output's
// header.
void KeepScaling(Operation& operation) {
  Encoding& encoding = operation.input.storage.encoding;
  operation.keeps_scaling = encoding.scaled() && operation.job.dtype == encoding.dtype &&
                            !IsFloating(encoding.dtype) && !IsGradient(*operation.info);
  if (!operation.keeps_scaling) return;
  encoding.slope = 1.0;
  encoding.intercept = 0.0;
}

void SettleOutput(Operation& operation) {
  const Storage& input = operation.input.storage;
  const ops::OpCall call = BindOrFail(operation.job.spec, {.dtype = operation.job.dtype,
                                                           .shape = input.shape,
                                                           .strides = input.strides,
                                                           .layout = operation.job.layout});
  operation.output.encoding.dtype = operation.job.dtype;
  operation.output.shape = OutputShape(call);
  operation.output.strides = input.shape.rank() == operation.output.shape.rank()
                                 ? DenseStridesLike(operation.output.shape, input.strides)
                                 : ContiguousStrides(operation.output.shape);
}

Operation Begin(const OperatorOptions& options, const CommonOptions& common,
                std::string_view derived) {
  Operation operation;
  operation.info = options.info;
  operation.job.spec = options.ToSpec(derived);
  operation.job.subject = options.info->name;
  operation.job.layout = options.ToLayout();
  operation.job.threads = common.threads;
  operation.job.memory_asked = common.memory > 0;
  operation.job.memory = operation.job.memory_asked ? common.memory : DefaultMemory();
  return operation;
}

Failure ImageOfGradient(const std::string& path) {
  return InputFailure(
      "{}: an image cannot hold a gradient: it has values below 0, above 255 and in between; "
      "expected .npy or NIfTI",
      path);
}

// N and C of input_size, then output_size.
Dims ShapeOfGradient(const Operation& operation) {
  const ops::OpCall call = BindOrFail(operation.job.spec, TensorDesc());
  const IntList* input_size = FindList(call, "input_size");
  const IntList* output_size = FindList(call, "output_size");
  const auto rank = static_cast<size_t>(operation.info->rank);
  if (input_size == nullptr || output_size == nullptr || input_size->size() != rank ||
      output_size->size() + 2 != rank) {
    throw UsageFailure("--input or --shape is required: {}", operation.info->input.doc);
  }
  IntList shape(input_size->begin(), input_size->begin() + 2);
  shape.insert(shape.end(), output_size->begin(), output_size->end());
  return InLayout(shape, operation.job.layout);
}

}  // namespace

void RefuseImageOfGradient(const ops::OpInfo& info, const std::string& path) {
  if (IsGradient(info) && IsImage(FormatOf(path))) throw ImageOfGradient(path);
}

void CheckOutputName(const ops::OpInfo& info, const std::string& path) {
  if (IsImage(FormatOfOutput(path)) && IsGradient(info)) throw ImageOfGradient(path);
}

DType FloatFor(const Encoding& encoding) {
  const bool wide = SizeOf(encoding.dtype) >= 4 && encoding.dtype != DType::kFloat32;
  return wide ? DType::kFloat64 : DType::kFloat32;
}

bool Takes(const ops::OpInfo& info, DType dtype) {
  const auto has = [&](const std::vector<DType>& list) {
    return std::find(list.begin(), list.end(), dtype) != list.end();
  };
  return has(info.dtypes) || has(info.cpu_dtypes);
}

int AddMissingDims(TensorInput& input, int rank, Layout layout) {
  Storage& storage = input.storage;
  const int fewest = rank - 2 + (layout == Layout::kChannelsLast ? 1 : 0);
  if (input.format != Format::kNpy || storage.shape.rank() >= rank ||
      storage.shape.rank() < fewest) {
    return 0;
  }
  const int added = rank - storage.shape.rank();
  AddDims(storage, added);
  return added;
}

Spatial StepOf(const ops::OpInfo& info, const Plan& plan) {
  Spatial step = {1.0, 1.0, 1.0};
  for (const AxisFacts& axis : plan.Facts().axes) {
    const auto sizes = static_cast<double>(axis.before) / static_cast<double>(axis.after);
    const double scale = axis.scale > 0.0 ? axis.scale : sizes;
    const size_t place = std::string_view("WHD").find(axis.name);
    step[place] = IsGradient(info) ? 1.0 / scale : scale;
  }
  return step;
}

Operation Prepare(const OperatorOptions& options, const CommonOptions& common,
                  const std::string& input_path) {
  const std::vector<double> spacing = options.ToSpacing();
  Operation operation = Begin(options, common, spacing.empty() ? "" : "output_size");
  RefuseImageOfGradient(*options.info, input_path);
  const std::optional<DType> asked = options.ToDType();
  operation.input = OpenTensor({.path = input_path,
                                .rank = options.info->rank,
                                .layout = operation.job.layout,
                                .raw = asked});
  operation.job.subject = fmt::format("{}: {}", input_path, options.info->name);
  operation.job.dtype = ChooseDType(operation, asked);
  if (!spacing.empty()) operation.job.spec.Set("output_size", SizeForSpacing(operation, spacing));
  KeepScaling(operation);
  operation.added_dims = AddMissingDims(operation.input, options.info->rank, operation.job.layout);
  SettleOutput(operation);
  return operation;
}

Operation PrepareShape(const OperatorOptions& options, const CommonOptions& common,
                       const std::vector<int64_t>& shape) {
  if (!options.ToSpacing().empty()) throw UsageFailure("--spacing needs a NIfTI file for --input");
  Operation operation = Begin(options, common, "");
  operation.job.dtype = options.ToDType().value_or(DType::kFloat32);
  Storage& input = operation.input.storage;
  input.encoding.dtype = operation.job.dtype;
  input.shape = shape.empty() ? ShapeOfGradient(operation) : Dims(std::span<const int64_t>(shape));
  input.strides = ContiguousStrides(input.shape);
  SettleOutput(operation);
  return operation;
}

Operation Settle(const ops::OpInfo& info, const Spec& spec, DType dtype, const Dims& shape) {
  Operation operation;
  operation.info = &info;
  operation.job.spec = spec;
  operation.job.subject = info.name;
  operation.job.dtype = dtype;
  operation.input.storage = {
      .encoding = {.dtype = dtype}, .shape = shape, .strides = ContiguousStrides(shape)};
  SettleOutput(operation);
  return operation;
}

TensorOutput CreateOutput(const Operation& operation, const Plan& plan, const std::string& path) {
  OutputRequest request = {.path = path,
                           .storage = operation.output,
                           .layout = operation.job.layout,
                           .source = &operation.input,
                           .step = StepOf(*operation.info, plan),
                           .keep_scaling = operation.keeps_scaling};
  const int dropped = FormatOfOutput(path) == Format::kNpy ? operation.added_dims : 0;
  DropDims(request.storage, dropped);
  TensorOutput output = CreateTensor(request);
  AddDims(output.storage, dropped);
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

void NoteOrientation(const CommonOptions& common, const TensorInput& input) {
  if (common.quiet || input.orientation == 1) return;
  const std::string line = fmt::format(
      "opscv: {}: its EXIF orientation is {}, which is not obeyed: pixels are taken as stored\n",
      input.path, input.orientation);
  std::fputs(line.c_str(), stderr);
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
