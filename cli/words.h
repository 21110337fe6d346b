// SPDX-License-Identifier: Apache-2.0
// What words of the command line say. UsageFailure, naming the option, what was expected and what
// was given, where they say nothing. Knows no option.
#ifndef OPSCV_CLI_WORDS_H_
#define OPSCV_CLI_WORDS_H_

#include <fmt/ranges.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/failure.h"

namespace opscv::cli {

// The number that is the whole word.
template <typename T>
[[nodiscard]] std::optional<T> ParseNumber(const std::string& word) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// That, or a failure; `kind` says what is meant: "a number above 0".
template <typename T>
[[nodiscard]] T ReadNumber(std::string_view option, std::string_view kind,
                           const std::string& word) {
  if (const std::optional<T> value = ParseNumber<T>(word)) return *value;
  throw UsageFailure("--{} must be {}, got '{}'", option, kind, word);
}

// The same from `least` to `most`; NaN is not.
template <typename T>
[[nodiscard]] T ReadNumberWithin(std::string_view option, std::string_view kind,
                                 const std::string& word, T least, T most) {
  const T value = ReadNumber<T>(option, kind, word);
  if (value >= least && value <= most) return value;
  throw UsageFailure("--{} must be {}, got '{}'", option, kind, word);
}

// Words of a list, which may be written "1,2,3", "1 2 3" or "1, 2, 3".
[[nodiscard]] std::vector<std::string> SplitList(const std::vector<std::string>& words);

template <typename T>
[[nodiscard]] std::vector<T> ReadNumbers(std::string_view option, std::string_view kind,
                                         const std::vector<std::string>& words) {
  std::vector<T> values;
  for (const std::string& word : SplitList(words)) {
    const std::optional<T> value = ParseNumber<T>(word);
    if (!value) {
      throw UsageFailure("--{} must be {}, got '{}'", option, kind, fmt::join(words, " "));
    }
    values.push_back(*value);
  }
  return values;
}

// Bytes: a whole number from 0, and K, M, G or T for powers of 1024 (KB and KiB are the same).
[[nodiscard]] int64_t ReadBytes(std::string_view option, const std::string& word);

// How ReadBytes would take it, in the largest unit that divides it: "4K".
[[nodiscard]] std::string BytesText(int64_t bytes);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_WORDS_H_
