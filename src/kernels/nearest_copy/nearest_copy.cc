// SPDX-License-Identifier: Apache-2.0
#include "kernels/nearest_copy/nearest_copy.h"

#include <cstring>

namespace opscv::kernels {
namespace {

// Where groups come from and go to. A local copy, since the compiler must assume that stores change
// whatever is reached by reference.
struct Groups {
  const char* src;
  int64_t src_step;
  const int64_t* source;
  int64_t origin;
  char* dst;
  int64_t dst_step;
  int64_t n;

  explicit Groups(const NearestCopyArgs& args)
      : src(static_cast<const char*>(args.src)),
        src_step(args.src_step_bytes),
        source(args.source),
        origin(args.source_origin),
        dst(static_cast<char*>(args.dst)),
        dst_step(args.dst_step_bytes),
        n(args.n) {}
};

template <typename Copy>
void ForEachGroup(const Groups& groups, Copy copy) {
  const Groups g = groups;
  if (g.source == nullptr) {
    for (int64_t o = 0; o < g.n; ++o) copy(g.dst + o * g.dst_step, g.src + o * g.src_step);
    return;
  }
  for (int64_t o = 0; o < g.n; ++o) {
    copy(g.dst + o * g.dst_step, g.src + (g.source[o] - g.origin) * g.src_step);
  }
}

// Groups of kBytes: loads and stores of a fixed size, and, where groups touch, of fixed steps.
template <size_t kBytes, bool kDense>
void CopyFixed(const NearestCopyArgs& args) noexcept {
  Groups groups(args);
  if constexpr (kDense) groups.src_step = groups.dst_step = kBytes;
  ForEachGroup(groups, [](char* to, const char* from) { std::memcpy(to, from, kBytes); });
}

void CopyAny(const NearestCopyArgs& args, int64_t bytes) noexcept {
  const auto size = static_cast<size_t>(bytes);
  ForEachGroup(Groups(args), [size](char* to, const char* from) { std::memcpy(to, from, size); });
}

template <size_t kElementBytes>
void CopyGroups(const NearestCopyArgs& args) noexcept {
  const int64_t bytes = args.group * static_cast<int64_t>(kElementBytes);
  const bool dense = args.src_step_bytes == bytes && args.dst_step_bytes == bytes;
  if (args.source == nullptr && dense) {
    std::memcpy(args.dst, args.src, static_cast<size_t>(args.n * bytes));
    return;
  }
  switch (args.group) {
    case 1:
      return dense ? CopyFixed<kElementBytes, true>(args) : CopyFixed<kElementBytes, false>(args);
    case 2:
      return CopyFixed<2 * kElementBytes, false>(args);
    case 3:
      return CopyFixed<3 * kElementBytes, false>(args);
    case 4:
      return CopyFixed<4 * kElementBytes, false>(args);
    default:
      return CopyAny(args, bytes);
  }
}

}  // namespace

NearestCopyKernel SelectNearestCopy(int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return &CopyGroups<1>;
    case 2:
      return &CopyGroups<2>;
    case 4:
      return &CopyGroups<4>;
    default:
      return &CopyGroups<8>;
  }
}

}  // namespace opscv::kernels
