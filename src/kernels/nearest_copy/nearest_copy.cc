// SPDX-License-Identifier: Apache-2.0
#include "kernels/nearest_copy/nearest_copy.h"

#include <cstring>

namespace opscv::kernels {
namespace {

int64_t SourceOf(const NearestCopyArgs& args, int64_t o) {
  return args.source == nullptr ? o : args.source[o] - args.source_origin;
}

// Groups of one element: loads and stores of a fixed size, and, where elements touch, of fixed
// steps.
template <size_t kBytes, bool kDense>
void CopyElements(const NearestCopyArgs& args) noexcept {
  const char* src = static_cast<const char*>(args.src);
  char* dst = static_cast<char*>(args.dst);
  const int64_t src_step = kDense ? kBytes : args.src_step_bytes;
  const int64_t dst_step = kDense ? kBytes : args.dst_step_bytes;
  for (int64_t o = 0; o < args.n; ++o) {
    std::memcpy(dst + o * dst_step, src + SourceOf(args, o) * src_step, kBytes);
  }
}

template <size_t kBytes>
void CopyGroups(const NearestCopyArgs& args) noexcept {
  const char* src = static_cast<const char*>(args.src);
  char* dst = static_cast<char*>(args.dst);
  const int64_t bytes = args.group * static_cast<int64_t>(kBytes);
  const bool dense = args.src_step_bytes == bytes && args.dst_step_bytes == bytes;
  if (args.source == nullptr && dense) {
    std::memcpy(dst, src, static_cast<size_t>(args.n * bytes));
    return;
  }
  if (args.group == 1) {
    return dense ? CopyElements<kBytes, true>(args) : CopyElements<kBytes, false>(args);
  }
  for (int64_t o = 0; o < args.n; ++o) {
    const int64_t source = SourceOf(args, o);
    std::memcpy(dst + o * args.dst_step_bytes, src + source * args.src_step_bytes,
                static_cast<size_t>(bytes));
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
