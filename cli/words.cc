// SPDX-License-Identifier: Apache-2.0
#include "cli/words.h"

#include <algorithm>
#include <cctype>

#include "base/checked_math.h"

namespace opscv::cli {
namespace {

constexpr std::string_view kUnits = "KMGT";

// The unit that the letters name: 1 for none or B, else a power of 1024.
std::optional<int64_t> UnitOf(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  if (text.empty() || text == "B") return 1;
  const size_t place = kUnits.find(text.front());
  const bool known = text.size() == 1 || text.substr(1) == "B" || text.substr(1) == "IB";
  if (place == std::string_view::npos || !known) return std::nullopt;
  return int64_t{1} << (10 * (place + 1));
}

}  // namespace

std::vector<std::string> SplitList(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool apart = !text.empty() && text.back() != ',' && (word.empty() || word.front() != ',');
    text += (apart ? "," : "") + word;
  }
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

int64_t ReadBytes(std::string_view option, const std::string& word) {
  int64_t number = -1;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, number);
  const std::optional<int64_t> unit = UnitOf(std::string(end, last));
  const std::optional<int64_t> bytes =
      error == std::errc() && number >= 0 && unit ? CheckedMul(number, *unit) : std::nullopt;
  if (bytes) return *bytes;
  throw UsageFailure("--{} must be a number of bytes such as 512M, got '{}'", option, word);
}

std::string BytesText(int64_t bytes) {
  size_t unit = 0;
  for (; bytes > 0 && bytes % 1024 == 0 && unit < kUnits.size(); ++unit) bytes /= 1024;
  return unit == 0 ? std::to_string(bytes) : std::to_string(bytes) + kUnits[unit - 1];
}

}  // namespace opscv::cli
