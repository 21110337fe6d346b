// SPDX-License-Identifier: Apache-2.0
#include "cli/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace opscv::cli {
namespace {

constexpr int64_t kPlenty = int64_t{256} << 20;  // larger boxes are no faster
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

int64_t LimitOf(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, kNoLimit));
}

// The limit of the control group, by cgroup 2 or 1; "max" is no number and means none.
int64_t GroupLimit() {
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    int64_t limit = 0;
    if (file >> limit && limit > 0) return limit;
  }
  return kNoLimit;
}

}  // namespace

int64_t DefaultMemory() {
  const int64_t limit = std::min({LimitOf(RLIMIT_AS), LimitOf(RLIMIT_DATA), GroupLimit()});
  return std::min(kPlenty, limit / 4);
}

}  // namespace opscv::cli
