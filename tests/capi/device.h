// SPDX-License-Identifier: Apache-2.0
// What tests of the C interface share: views of device memory, calls of any operator, messages.
#ifndef OPSCV_TESTS_CAPI_DEVICE_H_
#define OPSCV_TESTS_CAPI_DEVICE_H_

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "opscv/view.h"

namespace opscv::testing {

// The thread's message; "" where there is none.
std::string Message();

// Puts a value into the environment and starts the runtime afresh, so that it reads it; puts back
// what was there when it goes.
class ScopedSetting {
 public:
  ScopedSetting(const char* name, const char* value);
  ~ScopedSetting();
  ScopedSetting(const ScopedSetting&) = delete;
  ScopedSetting& operator=(const ScopedSetting&) = delete;

 private:
  std::string name_;
  std::string before_;
  bool was_set_;
};

// Opened once; everybody who waits goes on.
class Gate {
 public:
  void Open() { promise_.set_value(); }
  void Wait() const { future_.wait(); }
  [[nodiscard]] bool IsOpen() const { return OpensWithin(std::chrono::milliseconds(0)); }
  [[nodiscard]] bool OpensWithin(std::chrono::milliseconds time) const {
    return future_.wait_for(time) == std::future_status::ready;
  }

 private:
  std::promise<void> promise_;
  std::shared_future<void> future_ = promise_.get_future().share();
};

// Queues any callable as a host function. The queue owns it.
aclError Launch(aclrtStream stream, std::function<void()> work);

using Shape = std::vector<int64_t>;

// How a tensor lies in its storage.
struct View {
  Shape dims;
  Shape strides;
  int64_t offset = 0;
  int64_t storage = 0;  // elements

  [[nodiscard]] int64_t size() const;
  // The place in the storage of an element, counted row-major over dims.
  [[nodiscard]] int64_t At(int64_t element) const;
};

View Dense(const Shape& dims);
// Dims as given, memory ordered by `order` (outermost first), `step` elements apart, with an
// offset.
View Permuted(const Shape& dims, const std::vector<int>& order, int64_t step, int64_t offset);
// Every axis backwards.
View Reversed(const Shape& dims);

// A view of device memory of its own, whose every other element holds a pattern.
class DeviceTensor {
 public:
  DeviceTensor(const View& view, DType dtype, aclFormat format);
  ~DeviceTensor();
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;

  [[nodiscard]] aclTensor* handle() const { return handle_; }
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] const View& view() const { return view_; }

  // Bits of the elements, row-major over the view's dims.
  void Write(const std::vector<uint64_t>& bits);
  [[nodiscard]] std::vector<uint64_t> Read() const;
  [[nodiscard]] bool GapsUntouched() const;
  // Whether the elements have never been written either.
  [[nodiscard]] bool Untouched() const;

 private:
  [[nodiscard]] std::vector<unsigned char> Fetch() const;

  View view_;
  DType dtype_;
  void* data_ = nullptr;
  aclTensor* handle_ = nullptr;
};

int AclType(DType dtype);

// A call of one of the four operators, as its C function takes it.
enum class Op { kBicubic, kBicubicGrad, kNearest, kNearestGrad };
inline constexpr Op kOps[] = {Op::kBicubic, Op::kBicubicGrad, Op::kNearest, Op::kNearestGrad};
const char* FunctionName(Op op);
inline bool IsVolume(Op op) { return op == Op::kNearest || op == Op::kNearestGrad; }
inline bool IsGrad(Op op) { return op == Op::kBicubicGrad || op == Op::kNearestGrad; }

struct StageOne {
  aclTensor* input = nullptr;
  aclIntArray* output_size = nullptr;
  aclIntArray* input_size = nullptr;   // gradients
  bool align_corners = false;          // bicubic
  double scales[3] = {0.0, 0.0, 0.0};  // D, H, W
  aclTensor* output = nullptr;
};
aclnnStatus CallStageOne(Op op, const StageOne& args, uint64_t* workspace_size,
                         aclOpExecutor** executor);
aclnnStatus CallStageTwo(Op op, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                         aclrtStream stream);

// An int array that goes with its scope.
class Ints {
 public:
  explicit Ints(const Shape& values) : handle_(aclCreateIntArray(values.data(), values.size())) {}
  ~Ints() { aclDestroyIntArray(handle_); }
  Ints(const Ints&) = delete;
  Ints& operator=(const Ints&) = delete;
  [[nodiscard]] aclIntArray* get() const { return handle_; }

 private:
  aclIntArray* handle_;
};

// Both stages with a workspace of exactly the size told, and synchronisation. The first code that
// is not 0, or 0.
int RunAll(Op op, const StageOne& args, aclrtStream stream = nullptr);

}  // namespace opscv::testing

#endif  // OPSCV_TESTS_CAPI_DEVICE_H_
