// SPDX-License-Identifier: Apache-2.0
// How much memory a run may take for its boxes when nobody says.
#ifndef OPSCV_CLI_MEMORY_H_
#define OPSCV_CLI_MEMORY_H_

#include <cstdint>

namespace opscv::cli {

// 256 MiB, or a quarter of the least limit set on this process (ulimit -v, ulimit -d, its control
// group) where that is less.
[[nodiscard]] int64_t DefaultMemory();

}  // namespace opscv::cli

#endif  // OPSCV_CLI_MEMORY_H_
