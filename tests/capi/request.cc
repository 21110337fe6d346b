// SPDX-License-Identifier: Apache-2.0
#include "tests/capi/request.h"

namespace opscv::testing {
namespace {

aclTensor* Make(const TensorArg& arg, const Shape& usual_dims) {
  if (arg.state == HandleState::kNull) return nullptr;
  const Shape& dims = arg.dims ? *arg.dims : usual_dims;
  std::optional<Shape> strides = arg.strides;
  if (strides) strides->resize(dims.size(), 1);  // another fault may have changed the rank
  aclTensor* tensor = aclCreateTensor(
      dims.data(), dims.size(), static_cast<aclDataType>(arg.dtype),
      strides ? strides->data() : nullptr, arg.offset, static_cast<aclFormat>(arg.format),
      arg.storage ? arg.storage->data() : nullptr, arg.storage ? arg.storage->size() : 0, arg.data);
  if (arg.state == HandleState::kDestroyed) aclDestroyTensor(tensor);
  return tensor;
}

aclIntArray* Make(const ArrayArg& arg, const Shape& usual) {
  if (arg.state == HandleState::kNull) return nullptr;
  const Shape& values = arg.values ? *arg.values : usual;
  aclIntArray* array = aclCreateIntArray(values.data(), values.size());
  if (arg.state == HandleState::kDestroyed) aclDestroyIntArray(array);
  return array;
}

}  // namespace

Request::Request(Op which) : op(which) {
  in = IsVolume(op) ? Shape{2, 8, 10} : Shape{8, 10};
  out = IsVolume(op) ? Shape{4, 4, 5} : Shape{4, 5};
}

Shape Request::Dims(const Shape& spatial) const {
  Shape dims = {n, c};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

const char* Request::InputName() const {
  if (!IsGrad(op)) return "self";
  return IsVolume(op) ? "gradOut" : "gradOutput";
}

const char* Request::OutputName() const { return op == Op::kNearestGrad ? "gradInput" : "out"; }

std::string Request::InputSizeName(int element) const {
  const std::string index = "[" + std::to_string(element) + "]";
  return IsGrad(op) ? "inputSize" + index : "self.shape" + index;
}

Outcome Try(const Request& request) {
  const StageOne args = {.input = Make(request.input, request.InputDims()),
                         .output_size = Make(request.output_size, request.out),
                         .input_size = Make(request.input_size, request.InputSize()),
                         .align_corners = request.align_corners,
                         .scales = {request.scales[0], request.scales[1], request.scales[2]},
                         .output = Make(request.output, request.OutputDims())};
  constexpr uint64_t kSize = 0x1234567;
  uint64_t size = kSize;
  auto* const marker = reinterpret_cast<aclOpExecutor*>(&size);
  aclOpExecutor* executor = marker;
  Outcome outcome;
  outcome.code = CallStageOne(request.op, args, request.null_workspace_size ? nullptr : &size,
                              request.null_executor ? nullptr : &executor);
  outcome.untouched = size == kSize && executor == marker;
  outcome.workspace = size;
  if (outcome.code != 0) outcome.message = Message();
  if (outcome.code == 0) aclDestroyAclOpExecutor(executor);
  aclDestroyTensor(args.input);
  aclDestroyTensor(args.output);
  aclDestroyIntArray(args.output_size);
  aclDestroyIntArray(args.input_size);
  return outcome;
}

}  // namespace opscv::testing
