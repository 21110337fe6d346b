// SPDX-License-Identifier: Apache-2.0
#include "capi/config.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace opscv::capi {
namespace {

// Bounds the recursion; real files have three levels.
constexpr int kMaxDepth = 100;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Reads one JSON value and keeps nothing of it. Each method returns false at the first fault, after
// noting what was expected; `at_` then stands there.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Status Check() {
    SkipSpace();
    if (Peek() != '{') {
      Expect("'{'");
    } else if (Value(0)) {
      SkipSpace();
      if (at_ == text_.size() || !Expect("the end of the file")) return Verdict();
    }
    return Verdict();
  }

 private:
  [[nodiscard]] Status Verdict() const {
    if (expected_ == nullptr) return {};
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t last_break = before.rfind('\n');
    const size_t column = last_break == before.npos ? at_ + 1 : at_ - last_break;
    return InvalidArgument("line {}, column {}: expected {}", line, column, expected_);
  }

  [[nodiscard]] char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool Expect(const char* what) {
    expected_ = what;
    return false;
  }
  void SkipSpace() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  bool Take(char c, const char* what) {
    SkipSpace();
    if (Peek() != c) return Expect(what);
    ++at_;
    return true;
  }

  bool Value(int depth) {
    if (depth > kMaxDepth) return Expect("less than 100 levels of nesting");
    SkipSpace();
    switch (Peek()) {
      case '{':
        return Members(depth);
      case '[':
        return Elements(depth);
      case '"':
        return String();
      default:
        return Literal() || Number();
    }
  }

  bool Members(int depth) {
    ++at_;
    SkipSpace();
    if (Peek() == '}') return Take('}', "'}'");
    do {
      SkipSpace();
      if (Peek() != '"') return Expect("a name in quotation marks");
      if (!String() || !Take(':', "':'") || !Value(depth + 1)) return false;
    } while (Comma());
    return Take('}', "',' or '}'");
  }

  bool Elements(int depth) {
    ++at_;
    SkipSpace();
    if (Peek() == ']') return Take(']', "']'");
    do {
      if (!Value(depth + 1)) return false;
    } while (Comma());
    return Take(']', "',' or ']'");
  }

  bool Comma() {
    SkipSpace();
    if (Peek() != ',') return false;
    ++at_;
    return true;
  }

  bool String() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return Expect("no control character");
      if (text_[at_++] == '\\' && !Escape()) return false;
    }
    return Take('"', "'\"'");
  }

  bool Escape() {
    const char kind = Peek();
    if (kind == 'u') {
      const std::string_view digits = text_.substr(at_ + 1, 4);
      if (digits.size() < 4 || !std::all_of(digits.begin(), digits.end(), IsHexDigit)) {
        return Expect("four hexadecimal digits after \\u");
      }
      at_ += 5;
      return true;
    }
    if (kind == '\0' || std::strchr("\"\\/bfnrt", kind) == nullptr) {
      return Expect("one of \" \\ / b f n r t u after a backslash");
    }
    ++at_;
    return true;
  }

  bool Literal() {
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return true;
    }
    return false;
  }

  bool Digits() {
    const size_t begin = at_;
    while (IsDigit(Peek())) ++at_;
    return at_ > begin;
  }

  bool Number() {
    if (Peek() == '-') ++at_;
    const bool leading_zero = Peek() == '0';
    const size_t begin = at_;
    if (!Digits()) return Expect("a value");
    if (leading_zero && at_ - begin > 1) return Expect("no digit after a leading 0");
    if (Peek() == '.') {
      ++at_;
      if (!Digits()) return Expect("a digit after '.'");
    }
    if (Peek() != 'e' && Peek() != 'E') return true;
    ++at_;
    if (Peek() == '+' || Peek() == '-') ++at_;
    return Digits() || Expect("a digit in the exponent");
  }

  std::string_view text_;
  size_t at_ = 0;
  const char* expected_ = nullptr;
};

// False, with the reason in errno, when the file cannot be read.
bool ReadFile(const char* path, std::string& text) {
  std::FILE* file = std::fopen(path, "rbe");
  if (file == nullptr) return false;
  std::array<char, 4096> buffer;
  for (size_t got = 1; got > 0;) {
    got = std::fread(buffer.data(), 1, buffer.size(), file);
    text.append(buffer.data(), got);
  }
  const int reason = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  errno = reason;
  return reason == 0;
}

}  // namespace

Status CheckJsonObject(std::string_view text) { return JsonReader(text).Check(); }

Status CheckConfigFile(const char* path) {
  if (path == nullptr || *path == '\0') return {};
  std::string text;
  if (!ReadFile(path, text)) {
    return InvalidArgument("configPath '{}' cannot be read: {}.", path, std::strerror(errno));
  }
  const Status json = CheckJsonObject(text);
  if (json.ok()) return {};
  return InvalidArgument("configPath '{}' must hold a JSON object: {}.", path, json.message());
}

}  // namespace opscv::capi
