// SPDX-License-Identifier: Apache-2.0
// What an operator is: its prototype, its checks and its meaning as a ResampleSpec. The registry,
// the command, the C interface, graphs and the documentation all read the same declaration.
#ifndef OPSCV_OPS_OP_INFO_H_
#define OPSCV_OPS_OP_INFO_H_

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "opscv/spec.h"
#include "opscv/view.h"
#include "plan/resample_spec.h"

namespace opscv::ops {

enum class AttrType : uint8_t { kBool, kFloat, kIntList, kFloatList };

// "BOOL", "FLOAT", "LISTINT", "LISTFLOAT", as graph prototypes write them.
[[nodiscard]] std::string_view NameOf(AttrType type);

struct AttrInfo {
  std::string_view name;  // in graphs, the command and Python
  // Parameters of the C function that carry it: one, or one per element of the list.
  std::vector<std::string_view> aclnn_names;
  AttrType type = AttrType::kBool;
  bool required = false;
  // The value where none is given, always of the attribute's type, and how documents write it
  // ("none" where 0 means not given).
  AttrValue default_value;
  std::string_view default_text;
  std::string_view doc;
  std::string_view doc_zh;
};

struct TensorInfo {
  std::string_view name;
  std::string_view aclnn_name;
  std::string_view doc;
  std::string_view doc_zh;
};

// The products that the device's operator library knows, and whether it has the operator there.
enum class Product : uint8_t {
  kAscend950,
  kAscend910_93,
  kAscend910B,
  kAscend310B,
  kAscend310P,
  kAscend910,
};
inline constexpr int kProducts = 6;

struct ProductName {
  const char* soc;    // what OPSCV_SOC says
  const char* title;  // the product's full name
};
// In the order of Product.
inline constexpr std::array<ProductName, kProducts> kProductNames = {
    {{"Ascend950", "Ascend 950PR / 950DT"},
     {"Ascend910_93", "Atlas A3 training / inference"},
     {"Ascend910B", "Atlas A2 training / inference"},
     {"Ascend310B", "Atlas 200I/500 A2 inference"},
     {"Ascend310P", "Atlas inference series"},
     {"Ascend910", "Atlas training series"}}};

struct ProductSupport {
  std::array<bool, kProducts> supported{};
  // Whether the device computes deterministically when nobody asks; says nothing about us, whose
  // bits are always defined.
  std::array<bool, kProducts> deterministic_by_default{};
};

struct OpInfo;

// One call as a door read it: tensors, attributes in the prototype's order, defaults filled in.
struct OpCall {
  const OpInfo* info = nullptr;
  TensorDesc input;
  TensorDesc output;
  std::vector<AttrValue> attrs;
  IndexRule rule = IndexRule::kAscend;
};

class DoorChecks;

struct OpInfo {
  std::string_view name;        // graph name, "UpsampleBicubic2dAAGrad"
  std::string_view aclnn_name;  // C function, "aclnnUpsampleBicubic2dAAGrad"
  std::string_view doc;
  std::string_view doc_zh;
  plan::Direction direction = plan::Direction::kForward;
  int rank = 4;
  TensorInfo input;
  TensorInfo output;
  std::vector<AttrInfo> attrs;
  std::vector<DType> dtypes;      // the device's, which the C interface takes
  std::vector<DType> cpu_dtypes;  // further ones, which the other doors take
  bool takes_rule = false;        // whether an IndexRule means anything to it
  ProductSupport products;
  // The ordered checks of a call; the first failure is answered. `door` adds what one door asks
  // for.
  Status (*validate)(const OpCall& call, const DoorChecks& door) = nullptr;
  // The meaning of a call that `validate` accepted.
  plan::ResampleSpec (*to_spec)(const OpCall& call) = nullptr;
};

// An operator and its gradient.
struct OpPair {
  OpInfo forward;
  OpInfo backward;
};

}  // namespace opscv::ops

#endif  // OPSCV_OPS_OP_INFO_H_
