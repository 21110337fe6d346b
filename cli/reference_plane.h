// SPDX-License-Identifier: Apache-2.0
// The float64 reference asked about a planned operation, one plane (n, c) at a time.
#ifndef OPSCV_CLI_REFERENCE_PLANE_H_
#define OPSCV_CLI_REFERENCE_PLANE_H_

#include <span>

#include "cli/operation.h"
#include "reference/bound.h"
#include "reference/reference.h"

namespace opscv::cli {

// The answer for one plane, its values in the order of the spatial dimensions. The operation has
// been planned, so its attributes are sound.
[[nodiscard]] reference::Answer ReferencePlane(const Operation& operation,
                                               std::span<const double> plane);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_REFERENCE_PLANE_H_
