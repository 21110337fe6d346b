// SPDX-License-Identifier: Apache-2.0
// UpsampleBicubic2dAA and its gradient; README.md beside this file has the formula.
#include "ops/check_rules.h"
#include "ops/pairs.h"

namespace opscv::ops {
namespace {

Status Validate(const OpCall& call, const DoorChecks& door) {
  return CheckResize(ReadResizeCall(call, door.names()), door, /*empty_batch_is_fine=*/false);
}

plan::ResampleSpec ToSpec(const OpCall& call) {
  plan::ResampleSpec spec =
      ResizeSpec(ReadResizeCall(call, NameStyle::kGraph), plan::Method::kTaps);
  spec.filter = taps::Filter::kCubicAntialias;
  return spec;
}

AttrInfo OutputSize(std::string_view doc, std::string_view doc_zh) {
  return {.name = "output_size",
          .aclnn_names = {"outputSize"},
          .type = AttrType::kIntList,
          .required = true,
          .default_value = IntList{},
          .default_text = "",
          .doc = doc,
          .doc_zh = doc_zh};
}

AttrInfo Scale(std::string_view name, std::string_view aclnn_name, std::string_view doc,
               std::string_view doc_zh) {
  return {.name = name,
          .aclnn_names = {aclnn_name},
          .type = AttrType::kFloat,
          .required = false,
          .default_value = 0.0,
          .default_text = "none",
          .doc = doc,
          .doc_zh = doc_zh};
}

// What the two directions share: the forward operator's prototype, without tensors and sizes.
OpInfo Common() {
  OpInfo info;
  info.rank = 4;
  info.dtypes = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
  info.cpu_dtypes = {DType::kFloat64};
  info.products.supported = {true, true, true, false, false, false};
  info.products.deterministic_by_default = {false, true, true, false, false, false};
  info.validate = &Validate;
  info.to_spec = &ToSpec;
  return info;
}

AttrInfo AlignCorners() {
  return {.name = "align_corners",
          .aclnn_names = {"alignCorners"},
          .type = AttrType::kBool,
          .required = false,
          .default_value = false,
          .default_text = "false",
          .doc = "whether the centres of the corner pixels coincide; then the scales are not used",
          .doc_zh = "是否对齐角像素的中心；为 true 时不使用 scales"};
}

std::vector<AttrInfo> Scales() {
  return {Scale("scales_h", "scalesH",
                "height after the forward operator per height before it; 0: the sizes decide",
                "前向输出与输入高度之比；0 表示由尺寸决定"),
          Scale("scales_w", "scalesW",
                "width after the forward operator per width before it; 0: the sizes decide",
                "前向输出与输入宽度之比；0 表示由尺寸决定")};
}

OpInfo Forward() {
  OpInfo info = Common();
  info.name = "UpsampleBicubic2dAA";
  info.aclnn_name = "aclnnUpsampleBicubic2dAA";
  info.doc = "bicubic resize with antialiasing";
  info.doc_zh = "双三次抗锯齿缩放";
  info.direction = plan::Direction::kForward;
  info.input = {"self", "self", "the image, N,C,H,W", "输入图像，N,C,H,W"};
  info.output = {"out", "out", "the resized image, N,C and output_size",
                 "缩放后的图像，形状为 N,C 与 output_size"};
  info.attrs = {OutputSize("height and width of the output", "输出的高和宽"), AlignCorners()};
  for (AttrInfo& scale : Scales()) info.attrs.push_back(std::move(scale));
  return info;
}

OpInfo Backward() {
  OpInfo info = Common();
  info.name = "UpsampleBicubic2dAAGrad";
  info.aclnn_name = "aclnnUpsampleBicubic2dAAGrad";
  info.doc = "gradient of bicubic resize with antialiasing";
  info.doc_zh = "双三次抗锯齿缩放的梯度";
  info.direction = plan::Direction::kBackward;
  info.input = {"grad_output", "gradOutput", "gradient of the resized image, N,C and output_size",
                "缩放后图像的梯度，形状为 N,C 与 output_size"};
  info.output = {"grad_input", "out", "gradient of the image, shape input_size",
                 "输入图像的梯度，形状为 input_size"};
  info.attrs = {OutputSize("height and width of grad_output", "grad_output 的高和宽"),
                {.name = "input_size",
                 .aclnn_names = {"inputSize"},
                 .type = AttrType::kIntList,
                 .required = true,
                 .default_value = IntList{},
                 .default_text = "",
                 .doc = "shape of grad_input, N,C,H,W",
                 .doc_zh = "grad_input 的形状，N,C,H,W"},
                AlignCorners()};
  for (AttrInfo& scale : Scales()) info.attrs.push_back(std::move(scale));
  return info;
}

}  // namespace

const OpPair& UpsampleBicubic2dAAPair() {
  static const OpPair pair = {.forward = Forward(), .backward = Backward()};
  return pair;
}

}  // namespace opscv::ops
