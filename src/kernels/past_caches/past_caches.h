// SPDX-License-Identifier: Apache-2.0
// Stores that leave no trace in the caches, for results that are larger than they: lines of them
// need not be read before they are written.
#ifndef OPSCV_KERNELS_PAST_CACHES_PAST_CACHES_H_
#define OPSCV_KERNELS_PAST_CACHES_PAST_CACHES_H_

#include <cstddef>

namespace opscv::kernels {

// Copies bytes that do not overlap. Whole lines of 64 bytes of the destination are stored past the
// caches; fastest where the source lies in its line as the destination does.
using CopyPastCachesKernel = void (*)(void* to, const void* from, size_t bytes) noexcept;

[[nodiscard]] CopyPastCachesKernel SelectCopyPastCaches();

// Stores +0 bytes, whole lines past the caches.
using ClearPastCachesKernel = void (*)(void* to, size_t bytes) noexcept;

[[nodiscard]] ClearPastCachesKernel SelectClearPastCaches();

// To be called on the thread that stored past the caches, after the last of its kernels: makes what
// it stored visible to other threads.
void FinishStores() noexcept;

}  // namespace opscv::kernels

#endif  // OPSCV_KERNELS_PAST_CACHES_PAST_CACHES_H_
