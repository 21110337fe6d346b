// SPDX-License-Identifier: Apache-2.0
// The options of a subcommand that needs a tensor's shape but not its values.
#ifndef OPSCV_CLI_SHAPE_OPTIONS_H_
#define OPSCV_CLI_SHAPE_OPTIONS_H_

#include <string>
#include <vector>

#include "cli/operation.h"

namespace opscv::cli {

struct ShapeOptions {
  OperatorOptions op;
  CommonOptions common;
  std::string input;
  std::vector<std::string> shape;
};

// --input and --shape, of which one may be given.
void AddShapeOptions(CLI::App& sub, const ops::OpInfo& info, ShapeOptions& options);

[[nodiscard]] Operation PrepareEither(const ShapeOptions& options);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_SHAPE_OPTIONS_H_
