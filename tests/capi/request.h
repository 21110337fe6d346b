// SPDX-License-Identifier: Apache-2.0
// A first-stage call as data, so that tests can break any part of it: sizes are given once, and
// every dim, length and address that follows from them can be overridden.
#ifndef OPSCV_TESTS_CAPI_REQUEST_H_
#define OPSCV_TESTS_CAPI_REQUEST_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/capi/device.h"

namespace opscv::testing {

enum class HandleState { kLive, kNull, kDestroyed };

struct TensorArg {
  std::optional<Shape> dims;     // else what the sizes say
  std::optional<Shape> strides;  // else contiguous
  std::optional<Shape> storage;  // else the dims
  int64_t offset = 0;
  int dtype = ACL_FLOAT;
  int format = ACL_FORMAT_ND;
  void* data = nullptr;
  HandleState state = HandleState::kLive;
};

struct ArrayArg {
  std::optional<Shape> values;  // else what the sizes say
  HandleState state = HandleState::kLive;
};

struct Request {
  Op op = Op::kBicubic;
  int64_t n = 2;
  int64_t c = 3;
  Shape in;   // spatial, before the forward operator
  Shape out;  // and after it
  TensorArg input;
  TensorArg output;
  ArrayArg output_size;
  ArrayArg input_size;
  bool align_corners = false;
  double scales[3] = {0.0, 0.0, 0.0};  // D, H, W
  bool null_workspace_size = false;
  bool null_executor = false;

  // A small call that is accepted; no data.
  explicit Request(Op which);

  [[nodiscard]] Shape InputDims() const { return Dims(IsGrad(op) ? out : in); }
  [[nodiscard]] Shape OutputDims() const { return Dims(IsGrad(op) ? in : out); }
  [[nodiscard]] Shape InputSize() const { return Dims(in); }
  [[nodiscard]] const char* InputName() const;
  [[nodiscard]] const char* OutputName() const;
  // How messages name an element of the input size.
  [[nodiscard]] std::string InputSizeName(int element) const;
  // Index of the last spatial axis in in, out; its scale is scales[2].
  [[nodiscard]] size_t last() const { return in.size() - 1; }

 private:
  [[nodiscard]] Shape Dims(const Shape& spatial) const;
};

struct Outcome {
  int code = 0;
  std::string message;    // empty on success
  bool untouched = true;  // *workspaceSize and *executor are as they were
  uint64_t workspace = 0;
};

// The first stage; an executor that comes of it is destroyed.
Outcome Try(const Request& request);

}  // namespace opscv::testing

#endif  // OPSCV_TESTS_CAPI_REQUEST_H_
