// SPDX-License-Identifier: Apache-2.0
#include "cli/shape_options.h"

#include <CLI/CLI.hpp>

#include <charconv>

namespace opscv::cli {
namespace {

std::vector<int64_t> ReadShape(const std::vector<std::string>& words) {
  std::vector<int64_t> shape;
  for (const std::string& word : words) {
    int64_t extent = -1;
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, extent);
    if (error != std::errc() || stop != end || extent < 0) {
      throw UsageFailure("--shape must be a list of whole numbers such as 1,3,224,224, got '{}'",
                         word);
    }
    shape.push_back(extent);
  }
  return shape;
}

}  // namespace

void AddShapeOptions(CLI::App& sub, const ops::OpInfo& info, ShapeOptions& options) {
  CLI::Option* input =
      sub.add_option("--input", options.input, fmt::format("{}; {}", info.input.doc, kFormats))
          ->type_name("FILE");
  const bool gradient = info.direction == plan::Direction::kBackward;
  sub.add_option("--shape", options.shape,
                 fmt::format("instead: a shape for {}{}", info.input.name,
                             gradient ? " (default: the one that the sizes give)" : ""))
      ->expected(1, kMaxRank)
      ->delimiter(',')
      ->excludes(input)
      ->type_name("LISTINT");
}

Operation PrepareEither(const ShapeOptions& options) {
  if (!options.input.empty()) return Prepare(options.op, options.common, options.input);
  const std::vector<int64_t> shape = ReadShape(options.shape);
  const bool gradient = options.op.info->direction == plan::Direction::kBackward;
  if (shape.empty() && !gradient) {
    throw UsageFailure("--input or --shape is required: {}", options.op.info->input.doc);
  }
  return PrepareShape(options.op, options.common, shape);
}

}  // namespace opscv::cli
