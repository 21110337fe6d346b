// SPDX-License-Identifier: Apache-2.0
#include "cli/shape_options.h"

#include <CLI/CLI.hpp>

#include "cli/words.h"

namespace opscv::cli {
namespace {

std::vector<int64_t> ReadShape(const std::vector<std::string>& words) {
  constexpr std::string_view kKind = "a list of whole numbers from 0 such as 1,3,224,224";
  if (words.empty()) return {};
  std::vector<int64_t> shape = ReadNumbers<int64_t>("shape", kKind, words);
  for (const int64_t extent : shape) {
    if (extent < 0) throw UsageFailure("--shape must be {}, got {}", kKind, extent);
  }
  return shape;
}

}  // namespace

void AddShapeOptions(CLI::App& sub, const ops::OpInfo& info, ShapeOptions& options) {
  sub.add_option("--input", options.input, fmt::format("{}; {}", info.input.doc, kFormats))
      ->type_name("FILE");
  const bool gradient = info.direction == plan::Direction::kBackward;
  sub.add_option("--shape", options.shape,
                 fmt::format("instead: a shape for {}{}", info.input.name,
                             gradient ? " (default: the one that the sizes give)" : ""))
      ->expected(1, kMaxRank)
      ->type_name("LISTINT");
}

Operation PrepareEither(const ShapeOptions& options) {
  if (!options.input.empty() && !options.shape.empty()) {
    throw UsageFailure("--input and --shape say the same thing; give one of them");
  }
  if (!options.input.empty()) return Prepare(options.op, options.common, options.input);
  const std::vector<int64_t> shape = ReadShape(options.shape);
  const bool gradient = options.op.info->direction == plan::Direction::kBackward;
  if (shape.empty() && !gradient) {
    throw UsageFailure("--input or --shape is required: {}", options.op.info->input.doc);
  }
  return PrepareShape(options.op, options.common, shape);
}

}  // namespace opscv::cli
