// SPDX-License-Identifier: Apache-2.0
// opscv gen: inputs and float64 answers for a file of cases (tests/cases/README.md has its
// language).
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>
#include <vector>

#include "cli/boxes.h"
#include "cli/operation.h"
#include "cli/reference_plane.h"
#include "cli/words.h"

namespace opscv::cli {
namespace {

namespace fs = std::filesystem;

struct GenOptions {
  CommonOptions common;
  std::string cases;
  std::string output;
  std::string data;
  IndexRule rule = IndexRule::kAscend;
  std::vector<std::string> only;
};

constexpr int64_t kMostElements = int64_t{1} << 25;

// Why a case has no files; told, and no failure.
struct Skip : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Failure NoSuchData(const std::string& data) {
  return InputFailure("data '{}' is not in the language of cases; random data come from --data",
                      data);
}

template <typename T>
T NumberIn(const std::string& data, const std::string& word) {
  const std::optional<T> number = ParseNumber<T>(word);
  if (!number) throw NoSuchData(data);
  return *number;
}

// The value of element i; `count` are all.
using Values = std::function<double(int64_t i, int64_t count)>;

// The values that the case's `data` names without a generator of random numbers.
Values ValuesOf(const std::string& data) {
  static const std::regex kMod(R"(arange mod (\d+))");
  static const std::regex kHalf(R"(half \+([\d.]+) half -([\d.]+))");
  static const std::regex kConst(R"(const (-?[\d.]+))");
  std::smatch match;
  const auto constant = [](double value) {
    return [value](int64_t /*i*/, int64_t /*count*/) { return value; };
  };
  if (data == "zeros") return constant(0.0);
  if (data == "ones" || data == "expand 1") return constant(1.0);
  if (data == "arange") {
    return [](int64_t i, int64_t /*count*/) { return static_cast<double>(i + 1); };
  }
  if (data == "onehot at last") {
    return [](int64_t i, int64_t count) { return i + 1 == count ? 1.0 : 0.0; };
  }
  if (std::regex_match(data, match, kMod)) {
    const auto mod = NumberIn<int64_t>(data, match[1]);
    if (mod == 0) throw NoSuchData(data);
    return [mod](int64_t i, int64_t /*count*/) { return static_cast<double>(i % mod); };
  }
  if (std::regex_match(data, match, kConst)) return constant(NumberIn<double>(data, match[1]));
  if (std::regex_match(data, match, kHalf)) {
    const auto first = NumberIn<double>(data, match[1]);
    const auto second = NumberIn<double>(data, match[2]);
    return [=](int64_t i, int64_t count) { return i < count / 2 ? first : -second; };
  }
  throw NoSuchData(data);
}

// Takes ", nan at [..]" and ", inf at [..]" off the text and sets those elements.
std::string Overwrite(std::string data, const Dims& shape, std::vector<double>& values) {
  static const std::regex kAt(R"(, (nan|inf) at (\[[0-9, ]*\]))");
  std::string base = std::regex_replace(data, kAt, "");
  for (std::sregex_iterator it(data.begin(), data.end(), kAt), end; it != end; ++it) {
    const auto at = Json::parse((*it)[2].str()).get<std::vector<int64_t>>();
    bool within = static_cast<int>(at.size()) == shape.rank();
    int64_t offset = 0;
    for (int i = 0; within && i < shape.rank(); ++i) {
      within = at[static_cast<size_t>(i)] < shape[i];
      offset = offset * shape[i] + at[static_cast<size_t>(i)];
    }
    if (!within) throw NoSuchData(data);
    values[static_cast<size_t>(offset)] = (*it)[1] == "nan" ? NAN : INFINITY;
  }
  return base;
}

// One case of the file as a call.
class Case {
 public:
  Case(const Json& json, const GenOptions& options) : json_(json), options_(options) {
    const Result<const ops::OpInfo*> info = ops::FindOperator(json.at("op").get<std::string>());
    if (!info) throw InputFailure("{}", info.error().message());
    info_ = *info;
    shape_ = json.at(fmt::format("{}_shape", info_->input.name)).get<std::vector<int64_t>>();
    const std::string name = json.at("dtype").get<std::string>();
    const std::optional<DType> dtype = DTypeOfName(name);
    if (!dtype) throw Skip(fmt::format("type {}", name));
    dtype_ = *dtype;
  }

  void Write(const fs::path& folder) {
    if (json_.value("expect", "").rfind("error", 0) == 0) throw Skip("a refusal is expected");
    Operation operation = Describe();
    const Box whole = WholeOf(operation.input.storage.shape);
    if (std::max(ElementsOf(whole), ElementsOf(WholeOf(operation.output.shape))) > kMostElements) {
      throw Skip(fmt::format("more than {} elements", kMostElements));
    }
    const std::vector<char> input = InputOf(operation, whole);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw WriteFailure("{}: cannot be made: {}", folder.string(), error.message());
    WriteNpy(folder / fmt::format("{}.npy", info_->input.name), operation.input.storage, dtype_,
             input.data());
    const std::vector<double> answer = AnswerOf(operation, input);
    Storage expected = operation.output;
    expected.encoding.dtype = DType::kFloat64;
    WriteNpy(folder / "expected.npy", expected, DType::kFloat64,
             reinterpret_cast<const char*>(answer.data()));
  }

 private:
  // The attributes that the case gives under the prototype's names; `scales` may stand for a float
  // attribute per axis. null is not given.
  [[nodiscard]] Spec ToSpec() const {
    Spec spec(info_->name);
    size_t scale = 0;
    for (const ops::AttrInfo& attr : info_->attrs) {
      Json value = json_.contains(attr.name) ? json_[std::string(attr.name)] : Json();
      if (attr.type == ops::AttrType::kFloat && attr.name.rfind("scales_", 0) == 0) {
        value = json_.value("scales", Json::array()).at(scale++);
      }
      if (!value.is_null()) Set(attr, value, spec);
    }
    if (info_->takes_rule) spec.SetRule(options_.rule);
    return spec;
  }

  static void Set(const ops::AttrInfo& attr, const Json& value, Spec& spec) {
    switch (attr.type) {
      case ops::AttrType::kBool:
        spec.Set(attr.name, value.get<bool>());
        return;
      case ops::AttrType::kFloat:
        spec.Set(attr.name, value.get<double>());
        return;
      case ops::AttrType::kIntList:
        spec.Set(attr.name, value.get<IntList>());
        return;
      case ops::AttrType::kFloatList: {
        FloatList list;
        for (const Json& element : value)
          list.push_back(element.is_null() ? 0.0 : element.get<double>());
        spec.Set(attr.name, list);
        return;
      }
    }
  }

  [[nodiscard]] Operation Describe() const {
    Operation operation = Settle(*info_, ToSpec(), dtype_, Dims(std::span<const int64_t>(shape_)));
    (void)PlanJob(operation.job, operation.input.storage, operation.output);
    return operation;
  }

  [[nodiscard]] std::vector<char> InputOf(const Operation& operation, const Box& whole) const {
    const std::string data = json_.at("data").get<std::string>();
    const int64_t size = SizeOf(dtype_);
    std::vector<char> elements(static_cast<size_t>(ElementsOf(whole) * size));
    const Dims& strides = operation.input.storage.strides;
    if (data.rfind("randn", 0) == 0) {
      if (options_.data.empty()) throw Skip("random data are read from --data, which is not given");
      const fs::path path = fs::path(options_.data) / json_.at("id").get<std::string>() /
                            fmt::format("{}.npy", info_->input.name);
      TensorInput file = OpenTensor({.path = path.string(), .raw = dtype_});
      if (!(file.storage.shape == operation.input.storage.shape)) {
        throw InputFailure("{}: has the shape {}, the case says {}", path.string(),
                           ShapeText(file.storage.shape), ShapeText(operation.input.storage.shape));
      }
      ReadBox(file, whole, dtype_, strides, elements.data());
      return elements;
    }
    std::vector<double> values(static_cast<size_t>(ElementsOf(whole)));
    const Values base = ValuesOf(Overwrite(data, operation.input.storage.shape, values));
    for (size_t i = 0; i < values.size(); ++i) {
      const bool overwritten = !std::isfinite(values[i]);
      const double value = overwritten
                               ? values[i]
                               : base(static_cast<int64_t>(i), static_cast<int64_t>(values.size()));
      FromDouble(value, dtype_, &elements[i * static_cast<size_t>(size)]);
    }
    return elements;
  }

  [[nodiscard]] std::vector<double> AnswerOf(const Operation& operation,
                                             const std::vector<char>& input) const {
    const auto size = static_cast<size_t>(SizeOf(dtype_));
    std::vector<double> values(input.size() / size);
    for (size_t i = 0; i < values.size(); ++i) values[i] = ToDouble(dtype_, &input[i * size]);
    const Dims& shape = operation.input.storage.shape;
    const auto planes = static_cast<size_t>(shape[0] * shape[1]);
    std::vector<double> answer;
    for (size_t plane = 0; plane < planes; ++plane) {
      const size_t count = values.size() / planes;
      const reference::Answer part =
          ReferencePlane(operation, std::span(values).subspan(plane * count, count));
      answer.insert(answer.end(), part.value.begin(), part.value.end());
    }
    return answer;
  }

  static void WriteNpy(const fs::path& path, const Storage& storage, DType dtype,
                       const char* elements) {
    TensorOutput output = CreateTensor({.path = path.string(), .storage = storage});
    WriteRange(output, 0, ElementsOf(WholeOf(storage.shape)), dtype, elements);
    output.bytes->Commit();
  }

  const Json& json_;
  const GenOptions& options_;
  const ops::OpInfo* info_ = nullptr;
  std::vector<int64_t> shape_;
  DType dtype_ = DType::kFloat32;
};

Json ReadCases(const std::string& path) {
  Json cases = Json::parse(InputFile(path).ReadAll(), nullptr, /*allow_exceptions=*/false);
  if (!cases.is_array()) throw InputFailure("{}: is no JSON array of cases", path);
  return cases;
}

// An id names a folder below the output, and nothing else.
std::string IdOf(const std::string& path, const Json& json) {
  const auto found = json.is_object() ? json.find("id") : json.end();
  std::string id = found != json.end() && found->is_string() ? found->get<std::string>() : "";
  const bool plain = !id.empty() && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  if (!plain) {
    throw InputFailure("{}: a case has the id '{}'; expected letters, digits, - and _", path, id);
  }
  return id;
}

Exit Gen(const GenOptions& options) {
  const Json cases = ReadCases(options.cases);
  std::vector<std::string> made;
  Json skipped = Json::object();
  for (const Json& json : cases) {
    const std::string id = IdOf(options.cases, json);
    const bool wanted = options.only.empty() || std::find(options.only.begin(), options.only.end(),
                                                          id) != options.only.end();
    if (!wanted) continue;
    try {
      Case(json, options).Write(fs::path(options.output) / id);
      made.push_back(id);
    } catch (const Skip& reason) {
      skipped[id] = reason.what();
    } catch (const Failure& failure) {
      throw Failure(failure.exit(), fmt::format("case {}: {}", id, failure.what()));
    } catch (const Json::exception& error) {
      throw InputFailure("{}: case {}: {}", options.cases, id, error.what());
    }
  }
  if (made.empty() && skipped.empty()) throw InputFailure("{}: holds no such case", options.cases);
  std::string text = fmt::format("{} cases written to {}", made.size(), options.output);
  for (const auto& [id, reason] : skipped.items()) {
    text += fmt::format("\n{}: nothing written: {}", id, reason.get<std::string>());
  }
  Print(options.common, {{"made", made}, {"skipped", skipped}}, text);
  return Exit::kOk;
}

}  // namespace

void AddGen(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("gen", "write inputs and float64 answers for a file of cases");
  auto options = std::make_shared<GenOptions>();
  sub->add_option("CASES", options->cases, "a JSON file such as tests/cases/cases.json")
      ->required()
      ->type_name("FILE");
  sub->add_option("--output", options->output, "the folder to write to, a folder for each case")
      ->required()
      ->type_name("DIR");
  sub->add_option("--data", options->data,
                  "a folder that tests/cases/make_data.py has written: seeded random data are read "
                  "from it")
      ->type_name("DIR");
  AddWord(*sub, "--rule", "RULE",
          fmt::format("index rule of the answers: {} (default: {})", RuleNames(),
                      NameOf(options->rule)),
          [rule = &options->rule](const std::string& word) { *rule = ReadRule(word); });
  sub->add_option("--case", options->only, "just these, by their ids")->type_name("ID");
  AddReportOptions(*sub, options->common);
  sub->callback([options, &action] { action = [options] { return Gen(*options); }; });
}

}  // namespace opscv::cli
