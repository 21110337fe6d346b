// SPDX-License-Identifier: Apache-2.0
#include "capi/limits.h"

#include <fmt/ranges.h>

#include <string>

#include "base/checked_math.h"
#include "capi/dtypes.h"

namespace opscv::capi {
namespace {

constexpr int64_t kMaxShrink = 50;
constexpr int64_t kMaxExtent = int64_t{1} << 20;
constexpr int64_t kMaxIndex = int64_t{1} << 31;
constexpr int64_t kMaxBytes = int64_t{60} << 30;

// Products of five extents up to 2^20 each.
using Wide = unsigned __int128;

bool IsVolume(const ops::ResizeCall& call) { return call.axes == 3; }

Status CheckImageFormats(const Call& call) {
  const int input = call.args.input->format;
  const int output = call.args.output->format;
  if (input != ACL_FORMAT_NCHW && input != ACL_FORMAT_ND) {
    return InvalidArgument("{} must have the format ACL_FORMAT_NCHW or ACL_FORMAT_ND, got {}.",
                           call.input.name, FormatText(input));
  }
  if (output == input) return {};
  return InvalidArgument("{} must have the format of {}, {}, got {}.", call.output.name,
                         call.input.name, FormatText(input), FormatText(output));
}

// Every format but NDHWC is read as NCDHW.
Status CheckVolumeFormats(const Call& call) {
  if (call.input.desc.layout == call.output.desc.layout) return {};
  const auto text = [](const Operand& operand) {
    return FormatText(operand.desc.layout == Layout::kChannelsLast ? ACL_FORMAT_NDHWC
                                                                   : ACL_FORMAT_NCDHW);
  };
  return InvalidArgument("{} must have the format of {}, read as {}, got one read as {}.",
                         call.output.name, call.input.name, text(call.input), text(call.output));
}

Status CheckBelow(Wide value, int64_t limit, const std::string& what, const char* limit_text) {
  if (value < static_cast<Wide>(limit)) return {};
  return InvalidArgument("{} must be < {} ({}), got {}.", what, limit_text, limit, value);
}

Status CheckExtents(const Operand& operand) {
  for (int i = 0; i < operand.desc.shape.rank(); ++i) {
    if (operand.desc.shape[i] > kMaxExtent) {
      return InvalidArgument("{}.shape[{}] must be <= 2^20 ({}), got {}.", operand.name, i,
                             kMaxExtent, operand.desc.shape[i]);
    }
  }
  return {};
}

// The sizes of a call whose extents are all within 2^20.
struct Sizes {
  Wide batch;  // N * C
  std::array<Wide, 3> out;
  std::array<Wide, 3> in;
  Wide element;
};

Sizes SizesOf(const ops::ResizeCall& call, DType dtype) {
  Sizes sizes{
      .batch = static_cast<Wide>(call.input_size[0]) * static_cast<Wide>(call.input_size[1]),
      .out = {1, 1, 1},
      .in = {1, 1, 1},
      .element = static_cast<Wide>(SizeOf(dtype))};
  for (int axis = 0; axis < call.axes; ++axis) {
    const auto to = static_cast<size_t>(axis + 3 - call.axes);
    sizes.out[to] = static_cast<Wide>(call.output_size[static_cast<size_t>(axis)]);
    sizes.in[to] = static_cast<Wide>(call.input_size[static_cast<size_t>(axis) + 2]);
  }
  return sizes;
}

// Letters D, H, W of outputSize are oD, oH, oW, those of inputSize iD, iH, iW.
Status CheckImageMemory(const Call& call, const Sizes& s) {
  const auto& [o, i] = std::pair(s.out, s.in);
  const Wide elements = o[1] * o[2] + i[1] * i[2] + o[1] * i[2];
  OPSCV_RETURN_IF_ERROR(
      CheckBelow(elements * s.batch * s.element, kMaxBytes,
                 fmt::format("the memory of {} and {}, (oH*oW + iH*iW + oH*iW)*N*C*{} bytes,",
                             call.input.name, call.output.name, static_cast<int>(s.element)),
                 "60 GiB"));
  return CheckBelow(s.batch * o[1], kMaxIndex,
                    fmt::format("N*C*oH of {} and outputSize", call.output.name), "2^31");
}

Status CheckVolumeMemory(const Call& call, const Sizes& s) {
  const auto& [o, i] = std::pair(s.out, s.in);
  const Wide elements =
      o[0] * o[1] * o[2] + i[0] * i[1] * i[2] + o[0] * o[1] * i[2] + o[0] * i[1] * i[2];
  OPSCV_RETURN_IF_ERROR(CheckBelow(
      s.batch * elements * s.element, kMaxBytes,
      fmt::format(
          "the memory of {} and {}, N*C*(oD*oH*oW + iD*iH*iW + oD*oH*iW + oD*iH*iW)*{} bytes,",
          call.input.name, call.output.name, static_cast<int>(s.element)),
      "60 GiB"));
  OPSCV_RETURN_IF_ERROR(CheckBelow(s.batch * o[0] * o[1], kMaxIndex,
                                   fmt::format("N*C*oD*oH of {} and outputSize", call.output.name),
                                   "2^31"));
  const bool backward = call.args.info->direction == plan::Direction::kBackward;
  return CheckBelow(i[2] * i[1], kMaxIndex,
                    fmt::format("iW*iH of {}", backward ? call.output.name : call.input.name),
                    "2^31");
}

// The first and the last element that a view reaches, as numbers in its storage.
Status CheckWithinStorage(const Operand& operand, const Tensor& tensor) {
  const std::optional<int64_t> count = CheckedProduct(tensor.storage.values());
  if (!count) {
    return InvalidArgument("{} must have storage of less than 2^63 elements, got dims ({}).",
                           operand.name, fmt::join(tensor.storage.values(), ", "));
  }
  const ops::Reach reach = ops::ReachOf(operand.desc);
  const int64_t element = SizeOf(operand.desc.dtype);
  const std::optional<int64_t> first = CheckedAdd(operand.offset, -(reach.below / element));
  const std::optional<int64_t> end = CheckedAdd(operand.offset, reach.above / element);
  if (first && end && *first >= 0 && *end <= *count) return {};
  return InvalidArgument(
      "{} must address only its storage of {} elements, got shape ({}), strides ({}), offset {}.",
      operand.name, *count, fmt::join(operand.desc.shape.values(), ", "),
      fmt::join(operand.desc.strides.values(), ", "), operand.offset);
}

}  // namespace

Status DeviceDoor::CheckFormats(const ops::ResizeCall& call) const {
  return IsVolume(call) ? CheckVolumeFormats(call_) : CheckImageFormats(call_);
}

Status DeviceDoor::CheckShrink(const ops::ResizeCall& call) const {
  const ops::Product product = call_.args.profile->product;
  const bool limited = IsVolume(call) || product == ops::Product::kAscend910B ||
                       product == ops::Product::kAscend910_93;
  if (!limited) return {};
  for (int axis = 0; axis < call.axes; ++axis) {
    const int64_t out = call.output_size[static_cast<size_t>(axis)];
    const int64_t in = call.input_size[static_cast<size_t>(axis) + 2];
    if ((out - 1) / kMaxShrink >= in) {  // out > 50 * in, whatever their size
      return InvalidArgument("{} must be <= {} * {} on {}, got {} for {}.",
                             call.ElementName("output_size", axis), kMaxShrink,
                             call.InputSizeName(axis + 2), call_.args.profile->soc, out, in);
    }
    if (call.UsedScale(axis) > static_cast<double>(kMaxShrink)) {
      return InvalidArgument("{} must be <= {} on {}, got {}.", call.ScaleName(axis), kMaxShrink,
                             call_.args.profile->soc, call.UsedScale(axis));
    }
  }
  return {};
}

Status DeviceDoor::CheckDeviceSize(const ops::ResizeCall& call) const {
  OPSCV_RETURN_IF_ERROR(CheckExtents(call_.input));
  OPSCV_RETURN_IF_ERROR(CheckExtents(call_.output));
  const Sizes sizes = SizesOf(call, call_.input.desc.dtype);
  return IsVolume(call) ? CheckVolumeMemory(call_, sizes) : CheckImageMemory(call_, sizes);
}

Status DeviceDoor::CheckStorage(const ops::ResizeCall& /*call*/) const {
  OPSCV_RETURN_IF_ERROR(CheckWithinStorage(call_.input, *call_.args.input));
  return CheckWithinStorage(call_.output, *call_.args.output);
}

}  // namespace opscv::capi
