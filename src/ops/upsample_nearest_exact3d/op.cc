// SPDX-License-Identifier: Apache-2.0
// UpsampleNearestExact3d and its gradient; README.md beside this file has the formula.
#include "ops/check_rules.h"
#include "ops/pairs.h"

namespace opscv::ops {
namespace {

ResizeCall Read(const OpCall& call, NameStyle names) {
  ResizeCall result = ReadResizeCall(call, names);
  result.negative_scale_is_none = true;
  return result;
}

Status Validate(const OpCall& call, const DoorChecks& door) {
  return CheckResize(Read(call, door.names()), door, /*empty_batch_is_fine=*/true);
}

plan::ResampleSpec ToSpec(const OpCall& call) {
  return ResizeSpec(Read(call, NameStyle::kGraph), plan::Method::kNearest);
}

OpInfo Common() {
  OpInfo info;
  info.rank = 5;
  info.takes_rule = true;
  info.dtypes = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
  info.products.supported = {true, true, true, false, false, false};
  info.products.deterministic_by_default = {true, true, true, false, false, false};
  info.validate = &Validate;
  info.to_spec = &ToSpec;
  return info;
}

AttrInfo Scales() {
  return {.name = "scales",
          .aclnn_names = {"scalesD", "scalesH", "scalesW"},
          .type = AttrType::kFloatList,
          .required = false,
          .default_value = FloatList{0.0, 0.0, 0.0},
          .default_text = "{0.0, 0.0, 0.0}",
          .doc =
              "extents after the forward operator per extents before it, for D, H, W; used when "
              "all are above 0, otherwise the sizes decide",
          .doc_zh = "前向输出与输入在 D、H、W 上的尺寸之比；全部大于 0 时使用，否则由尺寸决定"};
}

OpInfo Forward() {
  OpInfo info = Common();
  info.name = "UpsampleNearestExact3d";
  info.aclnn_name = "aclnnUpsampleNearestExact3d";
  info.doc = "nearest-exact resize of volumes";
  info.doc_zh = "三维最近邻精确缩放";
  info.direction = plan::Direction::kForward;
  info.cpu_dtypes = {DType::kFloat64, DType::kInt8,   DType::kUInt8, DType::kInt16,  DType::kUInt16,
                     DType::kInt32,   DType::kUInt32, DType::kInt64, DType::kUInt64, DType::kBool};
  info.input = {"self", "self", "the volume, N,C,D,H,W or N,D,H,W,C",
                "输入体数据，N,C,D,H,W 或 N,D,H,W,C"};
  info.output = {"out", "out", "the resized volume, N,C and output_size",
                 "缩放后的体数据，形状为 N,C 与 output_size"};
  info.attrs = {{.name = "output_size",
                 .aclnn_names = {"outputSize"},
                 .type = AttrType::kIntList,
                 .required = true,
                 .default_value = IntList{},
                 .default_text = "",
                 .doc = "depth, height and width of the output",
                 .doc_zh = "输出的深、高和宽"},
                Scales()};
  return info;
}

OpInfo Backward() {
  OpInfo info = Common();
  info.name = "UpsampleNearestExact3dGrad";
  info.aclnn_name = "aclnnUpsampleNearestExact3dBackward";
  info.doc = "gradient of nearest-exact resize of volumes";
  info.doc_zh = "三维最近邻精确缩放的梯度";
  info.direction = plan::Direction::kBackward;
  info.cpu_dtypes = {DType::kFloat64};
  info.input = {"grad_output", "gradOut", "gradient of the resized volume, N,C and output_size",
                "缩放后体数据的梯度，形状为 N,C 与 output_size"};
  info.output = {"y", "gradInput", "gradient of the volume, shape input_size",
                 "输入体数据的梯度，形状为 input_size"};
  info.attrs = {{.name = "input_size",
                 .aclnn_names = {"inputSize"},
                 .type = AttrType::kIntList,
                 .required = true,
                 .default_value = IntList{},
                 .default_text = "",
                 .doc = "shape of the gradient, N,C,D,H,W in every layout",
                 .doc_zh = "输出梯度的形状，任何布局下都按 N,C,D,H,W 给出"},
                {.name = "output_size",
                 .aclnn_names = {"outputSize"},
                 .type = AttrType::kIntList,
                 .required = false,
                 .default_value = IntList{0, 0, 0},
                 .default_text = "{0, 0, 0}",
                 .doc = "depth, height and width of grad_output; zeros: those it has",
                 .doc_zh = "grad_output 的深、高和宽；全为 0 时取其自身尺寸"},
                Scales()};
  return info;
}

}  // namespace

const OpPair& UpsampleNearestExact3dPair() {
  static const OpPair pair = {.forward = Forward(), .backward = Backward()};
  return pair;
}

}  // namespace opscv::ops
