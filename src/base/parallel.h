// SPDX-License-Identifier: Apache-2.0
// Runs independent blocks on several threads. Two backends, chosen when building: oneTBB, and plain
// std::thread for tools that do not understand oneTBB. Knows nothing of what a block computes.
#ifndef OPSCV_BASE_PARALLEL_H_
#define OPSCV_BASE_PARALLEL_H_

#include <atomic>
#include <cstdint>

#include "base/function_ref.h"
#include "base/status.h"

namespace opscv {

// The threads a computation uses when nobody says: OPSCV_THREADS if it is a number from 1 to 1024,
// else the processors in this process's affinity mask. Read once.
[[nodiscard]] int DefaultThreads();

// kInvalidArgument when OPSCV_THREADS is set to anything else. Read once.
[[nodiscard]] const Status& CheckThreadsVariable();

// `threads` if positive, else DefaultThreads().
[[nodiscard]] inline int ResolveThreads(int threads) {
  return threads > 0 ? threads : DefaultThreads();
}

// Calls run(block, slot) once for every block in [0, blocks), on at most `threads` threads of which
// the caller is one, in the default floating-point environment. Blocks that run at the same time
// have different slots in [0, threads). Before each block `stop` (may be null) is read; once it is
// true no block begins. Returns whether all blocks ran. `run` must not throw.
bool ParallelFor(int64_t blocks, int threads, const std::atomic<bool>* stop,
                 FunctionRef<void(int64_t block, int slot)> run);

// Sees to it, once, that a forked child can compute: with threads of its own where the parent's
// could be ended before the copy, else on one thread. ParallelFor does it when it first uses
// threads; a caller with fork handlers of its own calls it before it installs those, so that they
// run first.
void InstallForkHandlers();

}  // namespace opscv

#endif  // OPSCV_BASE_PARALLEL_H_
