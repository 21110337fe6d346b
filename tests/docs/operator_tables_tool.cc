// SPDX-License-Identifier: Apache-2.0
// Prints the tables of the C interface's operator pages, made from the prototypes: for every
// language, operator and table a line "@ <language> <C function> <table>", then the markdown.
// operator_pages_test.py holds the pages to them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "ops/registry.h"

namespace opscv {
namespace {

// A text in both languages; kEnglish and kChinese are its indices.
using Text = std::array<std::string_view, 2>;
enum Language : size_t { kEnglish, kChinese };
constexpr Text kLanguages = {"en", "zh"};

struct ProductText {
  std::string_view soc;
  Text name;
};
// In the order of ops::Product.
constexpr std::array<ProductText, ops::kProducts> kProducts = {{
    {"Ascend950", {"Ascend 950PR / 950DT", "Ascend 950PR / 950DT"}},
    {"Ascend910_93", {"Atlas A3 training / inference", "Atlas A3 训练 / 推理系列"}},
    {"Ascend910B", {"Atlas A2 training / inference", "Atlas A2 训练 / 推理系列"}},
    {"Ascend310B", {"Atlas 200I/500 A2 inference", "Atlas 200I/500 A2 推理"}},
    {"Ascend310P", {"Atlas inference series", "Atlas 推理系列"}},
    {"Ascend910", {"Atlas training series", "Atlas 训练系列"}},
}};

using Row = std::vector<std::string>;

void PrintRow(const Row& row) { fmt::print("| {} |\n", fmt::join(row, " | ")); }

void PrintHeader(const Row& titles) {
  PrintRow(titles);
  PrintRow(Row(titles.size(), "---"));
}

std::string Code(std::string_view text) { return fmt::format("`{}`", text); }

std::string Pick(const Text& text, Language language) { return std::string(text[language]); }

std::string YesOrNo(bool value, Language language) {
  return Pick(value ? Text{"yes", "是"} : Text{"no", "否"}, language);
}

void PrintProducts(const ops::OpInfo& info, Language language) {
  PrintHeader({"OPSCV_SOC", Pick({"product", "产品"}, language),
               Pick({"supported", "是否支持"}, language),
               Pick({"deterministic by default on the device", "设备上默认确定性计算"}, language)});
  for (size_t i = 0; i < kProducts.size(); ++i) {
    const bool supported = info.products.supported[i];
    PrintRow({Code(kProducts[i].soc), Pick(kProducts[i].name, language),
              YesOrNo(supported, language),
              supported ? YesOrNo(info.products.deterministic_by_default[i], language) : "-"});
  }
}

std::string_view AclName(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "ACL_FLOAT";
    case DType::kFloat16:
      return "ACL_FLOAT16";
    case DType::kBFloat16:
      return "ACL_BF16";
    default:
      return "a type that the C interface has not";
  }
}

// The prototype speaks of arguments by their graph names; the page by those of the C function.
std::string WithCNames(std::string_view doc, const ops::OpInfo& info) {
  std::string text(doc);
  const auto rename = [&](std::string_view name, std::string_view c_name) {
    if (name.find('_') == name.npos) return;  // "out" and "self" are words as well
    text = std::regex_replace(text, std::regex(fmt::format("\\b{}\\b", name)), Code(c_name));
  };
  rename(info.input.name, info.input.aclnn_name);
  rename(info.output.name, info.output.aclnn_name);
  for (const ops::AttrInfo& attr : info.attrs) rename(attr.name, attr.aclnn_names.front());
  return text;
}

// Sizes must always be given here; what follows a semicolon says how a graph may leave them out.
std::string SizeDoc(std::string_view doc) {
  return std::string(doc.substr(0, std::min(doc.find(';'), doc.find("；"))));
}

std::string CType(ops::AttrType type) {
  switch (type) {
    case ops::AttrType::kBool:
      return "bool";
    case ops::AttrType::kIntList:
      return "const aclIntArray*";
    case ops::AttrType::kFloat:
    case ops::AttrType::kFloatList:
      return "double";
  }
  return "";
}

void PrintTensor(const ops::OpInfo& info, const ops::TensorInfo& tensor, bool is_input,
                 Language language) {
  std::vector<std::string_view> types;
  for (const DType dtype : info.dtypes) types.push_back(AclName(dtype));
  PrintRow({Code(tensor.aclnn_name), Code(is_input ? "const aclTensor*" : "aclTensor*"),
            Pick(is_input ? Text{"in", "输入"} : Text{"out", "输出"}, language),
            WithCNames(language == kEnglish ? tensor.doc : tensor.doc_zh, info),
            fmt::format("{}", fmt::join(types, ", ")), info.rank == 5 ? "NCDHW, NDHWC" : "NCHW, ND",
            std::to_string(info.rank), YesOrNo(true, language)});
}

void PrintAttr(const ops::OpInfo& info, const ops::AttrInfo& attr, Language language) {
  const std::string_view doc = language == kEnglish ? attr.doc : attr.doc_zh;
  PrintRow({fmt::format("`{}`", fmt::join(attr.aclnn_names, "`, `")), Code(CType(attr.type)),
            Pick({"in", "输入"}, language),
            WithCNames(attr.type == ops::AttrType::kIntList ? SizeDoc(doc) : doc, info), "-", "-",
            "-", "-"});
}

void PrintParameters(const ops::OpInfo& info, Language language) {
  PrintHeader({Pick({"parameter", "参数"}, language), Pick({"type", "类型"}, language),
               Pick({"direction", "方向"}, language), Pick({"meaning", "含义"}, language),
               Pick({"data types", "数据类型"}, language), Pick({"formats", "数据格式"}, language),
               Pick({"dimensions", "维数"}, language), Pick({"any strides", "非连续"}, language)});
  PrintTensor(info, info.input, /*is_input=*/true, language);
  // The C functions take outputSize before inputSize, whatever the graph's order is.
  std::vector<ops::AttrInfo> attrs = info.attrs;
  std::stable_partition(attrs.begin(), attrs.end(), [](const ops::AttrInfo& attr) {
    return attr.aclnn_names.front() == "outputSize";
  });
  for (const ops::AttrInfo& attr : attrs) PrintAttr(info, attr, language);
  PrintTensor(info, info.output, /*is_input=*/false, language);
  PrintRow({"`workspaceSize`", "`uint64_t*`", Pick({"out", "输出"}, language),
            Pick({"bytes of workspace that the second stage needs; may be 0",
                  "第二段接口所需 workspace 的字节数，可以为 0"},
                 language),
            "-", "-", "-", "-"});
  PrintRow({"`executor`", "`aclOpExecutor**`", Pick({"out", "输出"}, language),
            Pick({"the planned call, for the second stage", "已完成规划的调用，交给第二段接口"},
                 language),
            "-", "-", "-", "-"});
}

void PrintOperator(const ops::OpInfo& info) {
  for (const Language language : {kEnglish, kChinese}) {
    fmt::print("@ {} {} products\n", kLanguages[language], info.aclnn_name);
    PrintProducts(info, language);
    fmt::print("@ {} {} parameters\n", kLanguages[language], info.aclnn_name);
    PrintParameters(info, language);
  }
}

}  // namespace
}  // namespace opscv

int main() {
  for (const opscv::ops::OpPair* pair : opscv::ops::AllPairs()) {
    opscv::PrintOperator(pair->forward);
    opscv::PrintOperator(pair->backward);
  }
}
