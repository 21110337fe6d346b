// SPDX-License-Identifier: Apache-2.0
#include "cli/npy.h"

#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <charconv>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "cli/failure.h"
#include "cli/output_file.h"

namespace opscv::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// A header names a type and at most 8 extents; NumPy itself distrusts headers beyond 10000 bytes.
constexpr uint32_t kLongestHeader = 1 << 16;
constexpr size_t kAlign = 64;  // NumPy's own: data begin at a multiple of it

struct TypeCode {
  std::string_view code;
  DType dtype;
};
constexpr std::array<TypeCode, 14> kTypes = {{
    {"f8", DType::kFloat64},
    {"f4", DType::kFloat32},
    {"f2", DType::kFloat16},
    {"V2", DType::kBFloat16},
    {"i1", DType::kInt8},
    {"u1", DType::kUInt8},
    {"i2", DType::kInt16},
    {"u2", DType::kUInt16},
    {"i4", DType::kInt32},
    {"u4", DType::kUInt32},
    {"i8", DType::kInt64},
    {"u8", DType::kUInt64},
    {"b1", DType::kBool},
    {"?", DType::kBool},
}};

// Reads the few kinds of Python literals that a header holds.
class Literal {
 public:
  Literal(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  [[nodiscard]] Failure Bad(std::string_view expected) const {
    return InputFailure("{}: the .npy header is malformed at byte {}: expected {}", path_, at_,
                        expected);
  }
  bool Take(std::string_view token) {
    SkipSpace();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void Expect(std::string_view token) {
    if (!Take(token)) throw Bad(fmt::format("'{}'", token));
  }
  std::string String() {
    SkipSpace();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') throw Bad("a string");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) throw Bad("a string that ends");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool Bool() {
    if (Take("True")) return true;
    if (!Take("False")) throw Bad("True or False");
    return false;
  }
  std::vector<int64_t> Tuple() {
    std::vector<int64_t> values;
    Expect("(");
    while (!Take(")")) {
      values.push_back(Extent());
      if (values.size() > kMaxRank) throw Bad(fmt::format("at most {} dimensions", kMaxRank));
      if (!Take(",")) {
        Expect(")");
        break;
      }
    }
    return values;
  }
  void End() {
    SkipSpace();
    if (at_ != text_.size()) throw Bad("its end");
  }

 private:
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  int64_t Extent() {
    SkipSpace();
    int64_t value = -1;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) throw Bad("an extent from 0 to 2^63 - 1");
    at_ += static_cast<size_t>(end - begin);
    Take("L");  // as Python 2 wrote long integers
    return value;
  }

  const std::string& path_;
  std::string_view text_;
  size_t at_ = 0;
};

DType TypeOf(const std::string& path, std::string_view code, std::optional<DType> raw) {
  for (const TypeCode& type : kTypes) {
    if (type.code != code) continue;
    if (code == "V2" && raw != DType::kBFloat16) {
      throw InputFailure(
          "{}: holds elements of 2 bytes without a type (V2); give --dtype bfloat16 if they are "
          "bfloat16",
          path);
    }
    return type.dtype;
  }
  throw InputFailure(
      "{}: holds elements of the type '{}'; expected floats f8, f4, f2 or V2 (bfloat16), integers "
      "or bools",
      path, code);
}

Encoding EncodingOf(const std::string& path, std::string_view descr, std::optional<DType> raw) {
  const char order = descr.empty() ? '\0' : descr.front();
  if (std::string_view("<>|=").find(order) == std::string_view::npos || order == '\0') {
    throw InputFailure("{}: the .npy header has the type '{}'; expected one such as '<f4'", path,
                       descr);
  }
  constexpr bool kLittle = std::endian::native == std::endian::little;
  const DType dtype = TypeOf(path, descr.substr(1), raw);
  return {.dtype = dtype, .swapped = order == (kLittle ? '>' : '<') && SizeOf(dtype) > 1};
}

// The length of the header's text and where it begins.
struct Extent {
  size_t begin;
  size_t size;
};

Extent HeaderExtent(const InputFile& file) {
  const std::vector<char> start = file.Peek(0, 12);
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(start[i])); };
  const std::string_view text(start.data(), start.size());
  if (text.substr(0, kMagic.size()) != kMagic || start.size() < 10) {
    throw InputFailure("{}: is no .npy file: it does not begin as one", file.path());
  }
  const uint32_t version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0) {
    throw InputFailure("{}: is of .npy version {}.{}; expected 1.0, 2.0 or 3.0", file.path(),
                       version, byte(7));
  }
  if (version == 1) return {10, byte(8) | byte(9) << 8};
  if (start.size() < 12) throw InputFailure("{}: ends within the .npy header", file.path());
  return {12, byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24};
}

Dims Reversed(const Dims& dims) {
  Dims result = dims;
  for (int i = 0; i < dims.rank(); ++i) result[i] = dims[dims.rank() - 1 - i];
  return result;
}

Dims StridesOf(const Dims& shape, bool fortran_order) {
  return fortran_order ? Reversed(ContiguousStrides(Reversed(shape))) : ContiguousStrides(shape);
}

void CheckLength(const InputFile& file, const NpyHeader& header, int64_t begin, int64_t element) {
  const std::optional<int64_t> count = CheckedProduct(header.shape.values());
  const std::optional<int64_t> bytes = count ? CheckedMul(*count, element) : std::nullopt;
  const std::string shape = fmt::format("({})", fmt::join(header.shape.values(), ", "));
  if (!bytes) throw InputFailure("{}: the shape {} is of 2^63 bytes or more", file.path(), shape);
  if (file.size() - begin < *bytes) {
    throw InputFailure("{}: holds {} bytes of data; expected {} for the shape {}", file.path(),
                       std::max<int64_t>(file.size() - begin, 0), *bytes, shape);
  }
}

std::string CodeOf(DType dtype) {
  for (const TypeCode& type : kTypes) {
    if (type.dtype != dtype) continue;
    return fmt::format("{}{}", SizeOf(dtype) == 1 ? '|' : '<', type.code);
  }
  return "";
}

std::string HeaderText(const Storage& storage, bool fortran_order) {
  const int rank = storage.shape.rank();
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}",
                                 CodeOf(storage.encoding.dtype), fortran_order ? "True" : "False",
                                 fmt::join(storage.shape.values(), ", "), rank == 1 ? "," : "");
  const size_t prefix = kMagic.size() + 4;
  text.append(kAlign - 1 - (prefix + text.size()) % kAlign, ' ');
  text += '\n';
  std::string file(kMagic);
  file +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return file + text;
}

}  // namespace

NpyHeader ParseNpyHeader(const std::string& path, std::string_view text) {
  Literal literal(path, text);
  NpyHeader header;
  std::array<bool, 3> seen{};
  literal.Expect("{");
  while (!literal.Take("}")) {
    const std::string key = literal.String();
    literal.Expect(":");
    if (key == "descr" && !seen[0]) {
      header.descr = literal.String();
      seen[0] = true;
    } else if (key == "fortran_order" && !seen[1]) {
      header.fortran_order = literal.Bool();
      seen[1] = true;
    } else if (key == "shape" && !seen[2]) {
      header.shape = Dims(literal.Tuple());
      seen[2] = true;
    } else {
      throw literal.Bad("each of the keys descr, fortran_order and shape once");
    }
    if (!literal.Take(",")) {
      literal.Expect("}");
      break;
    }
  }
  literal.End();
  if (seen != std::array<bool, 3>{true, true, true}) {
    throw literal.Bad("each of the keys descr, fortran_order and shape once");
  }
  return header;
}

TensorInput OpenNpy(InputFile file, std::optional<DType> raw) {
  const std::string path = file.path();
  const Extent extent = HeaderExtent(file);
  if (extent.size > kLongestHeader) {
    throw InputFailure("{}: has a .npy header of {} bytes; expected at most {}", path, extent.size,
                       kLongestHeader);
  }
  std::string text(extent.size, '\0');
  file.Read(static_cast<int64_t>(extent.begin), text);
  const NpyHeader header = ParseNpyHeader(path, text);
  const Encoding encoding = EncodingOf(path, header.descr, raw);
  const auto begin = static_cast<int64_t>(extent.begin + extent.size);
  CheckLength(file, header, begin, SizeOf(encoding.dtype));
  TensorInput input;
  input.path = path;
  input.storage = {.encoding = encoding,
                   .shape = header.shape,
                   .strides = StridesOf(header.shape, header.fortran_order)};
  input.bytes = SourceFrom(std::move(file), begin);
  return input;
}

TensorOutput CreateNpy(const OutputRequest& request) {
  TensorOutput output;
  output.path = request.path;
  output.storage = request.storage;
  const Dims fortran = StridesOf(request.storage.shape, true);
  const Dims c = StridesOf(request.storage.shape, false);
  const bool fortran_order = request.storage.strides == fortran && fortran != c;
  output.storage.strides = fortran_order ? fortran : c;
  const std::string header = HeaderText(output.storage, fortran_order);
  OutputFile file(request.path);
  file.Write(0, header);
  output.bytes = SinkTo(std::move(file), static_cast<int64_t>(header.size()));
  return output;
}

}  // namespace opscv::cli
