// SPDX-License-Identifier: Apache-2.0
// Counts what this whole program allocates, whoever calls for it: C++, C, the libraries it has
// loaded. Memory mapped from the system directly is not seen. Replaces glibc's
// malloc, so it goes with no sanitizer that does so too.
#ifndef OPSCV_TESTS_MEMORY_ALLOCATIONS_H_
#define OPSCV_TESTS_MEMORY_ALLOCATIONS_H_

#include <cstdint>

namespace opscv::testing {

// Begins to measure: PeakBytes() is the most that was in use at once since, beyond what was then.
void StartPeak();
[[nodiscard]] int64_t PeakBytes();

}  // namespace opscv::testing

#endif  // OPSCV_TESTS_MEMORY_ALLOCATIONS_H_
