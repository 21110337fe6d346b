// SPDX-License-Identifier: Apache-2.0
#include "tests/capi/device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "aclnnop/aclnn_upsample_bicubic2d_aa.h"
#include "aclnnop/aclnn_upsample_bicubic2d_aa_grad.h"
#include "aclnnop/aclnn_upsample_nearest_exact3d.h"
#include "aclnnop/aclnn_upsample_nearest_exact3d_backward.h"

namespace opscv::testing {
namespace {

constexpr unsigned char kPattern = 0xA5;

bool IsPattern(const std::vector<unsigned char>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](unsigned char byte) { return byte == kPattern; });
}

void StartAfresh() {
  aclFinalize();
  aclInit(nullptr);
}

}  // namespace

std::string Message() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? "" : text;
}

ScopedSetting::ScopedSetting(const char* name, const char* value)
    : name_(name), was_set_(std::getenv(name) != nullptr) {
  if (was_set_) before_ = std::getenv(name);
  setenv(name, value, 1);
  StartAfresh();
}

ScopedSetting::~ScopedSetting() {
  if (was_set_) {
    setenv(name_.c_str(), before_.c_str(), 1);
  } else {
    unsetenv(name_.c_str());
  }
  StartAfresh();
}

aclError Launch(aclrtStream stream, std::function<void()> work) {
  auto owned = std::make_unique<std::function<void()>>(std::move(work));
  const aclError code = aclrtLaunchHostFunc(
      stream,
      [](void* data) {
        const std::unique_ptr<std::function<void()>> mine(
            static_cast<std::function<void()>*>(data));
        (*mine)();
      },
      owned.get());
  if (code == ACL_SUCCESS) static_cast<void>(owned.release());
  return code;
}

int64_t View::size() const {
  int64_t count = 1;
  for (const int64_t extent : dims) count *= extent;
  return count;
}

int64_t View::At(int64_t element) const {
  int64_t place = offset;
  for (size_t i = dims.size(); i-- > 0;) {
    place += element % dims[i] * strides[i];
    element /= dims[i];
  }
  return place;
}

View Dense(const Shape& dims) {
  std::vector<int> order;
  for (size_t i = 0; i < dims.size(); ++i) order.push_back(static_cast<int>(i));
  return Permuted(dims, order, 1, 0);
}

View Permuted(const Shape& dims, const std::vector<int>& order, int64_t step, int64_t offset) {
  View view{.dims = dims, .strides = Shape(dims.size()), .offset = offset, .storage = 0};
  int64_t stride = step;
  for (size_t i = order.size(); i-- > 0;) {
    const auto dim = static_cast<size_t>(order[i]);
    view.strides[dim] = stride;
    stride *= dims[dim];
  }
  view.storage = offset + stride;
  return view;
}

View Reversed(const Shape& dims) {
  View view = Dense(dims);
  view.offset = view.size() - 1;
  for (int64_t& stride : view.strides) stride = -stride;
  return view;
}

DeviceTensor::DeviceTensor(const View& view, DType dtype, aclFormat format)
    : view_(view), dtype_(dtype) {
  const auto bytes = static_cast<size_t>(view.storage * SizeOf(dtype));
  if (bytes > 0) {
    aclrtMalloc(&data_, bytes, ACL_MEM_MALLOC_NORMAL_ONLY);
    aclrtMemset(data_, bytes, kPattern, bytes);
  }
  handle_ =
      aclCreateTensor(view.dims.data(), view.dims.size(), static_cast<aclDataType>(AclType(dtype)),
                      view.strides.data(), view.offset, format, &view.storage, 1, data_);
}

DeviceTensor::~DeviceTensor() {
  aclDestroyTensor(handle_);
  if (data_ != nullptr) aclrtFree(data_);
}

std::vector<unsigned char> DeviceTensor::Fetch() const {
  std::vector<unsigned char> bytes(static_cast<size_t>(view_.storage * SizeOf(dtype_)));
  aclrtMemcpy(bytes.data(), bytes.size(), data_, bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST);
  return bytes;
}

void DeviceTensor::Write(const std::vector<uint64_t>& bits) {
  std::vector<unsigned char> bytes = Fetch();
  const auto element = static_cast<size_t>(SizeOf(dtype_));
  for (size_t i = 0; i < bits.size(); ++i) {
    const auto place = static_cast<size_t>(view_.At(static_cast<int64_t>(i)));
    std::memcpy(bytes.data() + place * element, &bits[i], element);
  }
  aclrtMemcpy(data_, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE);
}

std::vector<uint64_t> DeviceTensor::Read() const {
  const std::vector<unsigned char> bytes = Fetch();
  const auto element = static_cast<size_t>(SizeOf(dtype_));
  std::vector<uint64_t> bits(static_cast<size_t>(view_.size()));
  for (size_t i = 0; i < bits.size(); ++i) {
    const auto place = static_cast<size_t>(view_.At(static_cast<int64_t>(i)));
    std::memcpy(&bits[i], bytes.data() + place * element, element);
  }
  return bits;
}

bool DeviceTensor::GapsUntouched() const {
  std::vector<unsigned char> bytes = Fetch();
  const auto element = static_cast<size_t>(SizeOf(dtype_));
  for (int64_t i = 0; i < view_.size(); ++i) {
    std::memset(bytes.data() + static_cast<size_t>(view_.At(i)) * element, kPattern, element);
  }
  return IsPattern(bytes);
}

bool DeviceTensor::Untouched() const { return IsPattern(Fetch()); }

int AclType(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return ACL_FLOAT;
    case DType::kFloat16:
      return ACL_FLOAT16;
    case DType::kBFloat16:
      return ACL_BF16;
    case DType::kFloat64:
      return ACL_DOUBLE;
    case DType::kInt32:
      return ACL_INT32;
    default:
      return ACL_DT_UNDEFINED;
  }
}

const char* FunctionName(Op op) {
  switch (op) {
    case Op::kBicubic:
      return "aclnnUpsampleBicubic2dAA";
    case Op::kBicubicGrad:
      return "aclnnUpsampleBicubic2dAAGrad";
    case Op::kNearest:
      return "aclnnUpsampleNearestExact3d";
    case Op::kNearestGrad:
      return "aclnnUpsampleNearestExact3dBackward";
  }
  return "";
}

aclnnStatus CallStageOne(Op op, const StageOne& a, uint64_t* workspace_size,
                         aclOpExecutor** executor) {
  switch (op) {
    case Op::kBicubic:
      return aclnnUpsampleBicubic2dAAGetWorkspaceSize(a.input, a.output_size, a.align_corners,
                                                      a.scales[1], a.scales[2], a.output,
                                                      workspace_size, executor);
    case Op::kBicubicGrad:
      return aclnnUpsampleBicubic2dAAGradGetWorkspaceSize(a.input, a.output_size, a.input_size,
                                                          a.align_corners, a.scales[1], a.scales[2],
                                                          a.output, workspace_size, executor);
    case Op::kNearest:
      return aclnnUpsampleNearestExact3dGetWorkspaceSize(a.input, a.output_size, a.scales[0],
                                                         a.scales[1], a.scales[2], a.output,
                                                         workspace_size, executor);
    case Op::kNearestGrad:
      return aclnnUpsampleNearestExact3dBackwardGetWorkspaceSize(
          a.input, a.output_size, a.input_size, a.scales[0], a.scales[1], a.scales[2], a.output,
          workspace_size, executor);
  }
  return -1;
}

aclnnStatus CallStageTwo(Op op, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                         aclrtStream stream) {
  switch (op) {
    case Op::kBicubic:
      return aclnnUpsampleBicubic2dAA(workspace, workspace_size, executor, stream);
    case Op::kBicubicGrad:
      return aclnnUpsampleBicubic2dAAGrad(workspace, workspace_size, executor, stream);
    case Op::kNearest:
      return aclnnUpsampleNearestExact3d(workspace, workspace_size, executor, stream);
    case Op::kNearestGrad:
      return aclnnUpsampleNearestExact3dBackward(workspace, workspace_size, executor, stream);
  }
  return -1;
}

int RunAll(Op op, const StageOne& args, aclrtStream stream) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  if (const int code = CallStageOne(op, args, &size, &executor); code != 0) return code;
  void* workspace = nullptr;
  if (size > 0) {
    if (const int code = aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST); code != 0) {
      return code;
    }
  }
  int code = CallStageTwo(op, workspace, size, executor, stream);
  if (code == 0) code = aclrtSynchronizeStream(stream);
  if (workspace != nullptr) aclrtFree(workspace);
  return code;
}

}  // namespace opscv::testing
