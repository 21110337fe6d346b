// SPDX-License-Identifier: Apache-2.0
#include "kernels/past_caches/past_caches.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/past_caches/past_caches.cc"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace opscv::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void CopyPastCaches(void* to, const void* from, size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}
void ClearPastCaches(void* to, size_t bytes) noexcept { std::memset(to, 0, bytes); }

#else

constexpr hn::ScalableTag<uint8_t> kBytes;
constexpr size_t kLine = 64;

// The bytes of `bytes` before the first whole line, and those in whole lines.
struct Parts {
  size_t head;
  size_t lines;
};
HWY_INLINE Parts PartsOf(const void* to, size_t bytes) {
  const size_t into = reinterpret_cast<uintptr_t>(to) % kLine;
  const size_t head = HWY_MIN((kLine - into) % kLine, bytes);
  return {head, (bytes - head) / kLine * kLine};
}

void CopyPastCaches(void* to, const void* from, size_t bytes) noexcept {
  const size_t lanes = hn::Lanes(kBytes);
  const Parts parts = PartsOf(to, bytes);
  auto* target = static_cast<uint8_t*>(to) + parts.head;
  const auto* source = static_cast<const uint8_t*>(from) + parts.head;
  std::memcpy(to, from, parts.head);
  for (size_t i = 0; i < parts.lines; i += lanes) {
    hn::Stream(hn::LoadU(kBytes, source + i), kBytes, target + i);
  }
  std::memcpy(target + parts.lines, source + parts.lines, bytes - parts.head - parts.lines);
}

void ClearPastCaches(void* to, size_t bytes) noexcept {
  const size_t lanes = hn::Lanes(kBytes);
  const Parts parts = PartsOf(to, bytes);
  auto* target = static_cast<uint8_t*>(to) + parts.head;
  std::memset(to, 0, parts.head);
  for (size_t i = 0; i < parts.lines; i += lanes) {
    hn::Stream(hn::Zero(kBytes), kBytes, target + i);
  }
  std::memset(target + parts.lines, 0, bytes - parts.head - parts.lines);
}

#endif  // HWY_TARGET == HWY_SCALAR

CopyPastCachesKernel SelectCopyPastCachesHere() { return &CopyPastCaches; }
ClearPastCachesKernel SelectClearPastCachesHere() { return &ClearPastCaches; }

}  // namespace opscv::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opscv::kernels {

HWY_EXPORT(SelectCopyPastCachesHere);
HWY_EXPORT(SelectClearPastCachesHere);

CopyPastCachesKernel SelectCopyPastCaches() {
  return HWY_DYNAMIC_DISPATCH(SelectCopyPastCachesHere)();
}
ClearPastCachesKernel SelectClearPastCaches() {
  return HWY_DYNAMIC_DISPATCH(SelectClearPastCachesHere)();
}

void FinishStores() noexcept { hwy::FlushStream(); }

}  // namespace opscv::kernels
#endif  // HWY_ONCE
