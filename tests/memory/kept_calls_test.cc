// SPDX-License-Identifier: Apache-2.0
// What the C interface keeps of the calls that it has planned: 32 MiB of tables at most, whatever a
// program calls.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "acl/acl.h"
#include "aclnnop/aclnn_upsample_bicubic2d_aa_grad.h"
#include "aclnnop/aclnn_upsample_nearest_exact3d_backward.h"
#include "tests/memory/allocations.h"

namespace opscv::testing {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr int64_t kBound = 32 * kMebibyte;
// Executors, handles, and what the calls are found by.
constexpr int64_t kBeside = kMebibyte;

template <size_t kRank>
aclTensor* Make(const std::array<int64_t, kRank>& dims) {
  return aclCreateTensor(dims.data(), kRank, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0,
                         nullptr);
}

// The first stage of a gradient of rows, `before` wide from `after`.
template <size_t kRank>
void PlanRows(int64_t before, int64_t after) {
  std::array<int64_t, kRank> in_dims;
  std::array<int64_t, kRank> out_dims;
  in_dims.fill(1);
  out_dims.fill(1);
  in_dims.back() = after;
  out_dims.back() = before;
  aclTensor* input = Make(in_dims);
  aclTensor* output = Make(out_dims);
  aclIntArray* input_size = aclCreateIntArray(out_dims.data(), kRank);
  aclIntArray* output_size = aclCreateIntArray(in_dims.data() + 2, kRank - 2);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  const int code =
      kRank == 5 ? aclnnUpsampleNearestExact3dBackwardGetWorkspaceSize(
                       input, output_size, input_size, 0.0, 0.0, 0.0, output, &bytes, &executor)
                 : aclnnUpsampleBicubic2dAAGradGetWorkspaceSize(
                       input, output_size, input_size, false, 0.0, 0.0, output, &bytes, &executor);
  EXPECT_EQ(code, 0) << aclGetRecentErrMsg();
  aclDestroyAclOpExecutor(executor);
  aclDestroyTensor(input);
  aclDestroyTensor(output);
  aclDestroyIntArray(input_size);
  aclDestroyIntArray(output_size);
}

// The most that was in use at once during `calls` different calls.
template <size_t kRank>
int64_t PeakOf(int calls, int64_t before, int64_t after) {
  aclFinalize();
  StartPeak();
  for (int i = 0; i < calls; ++i) PlanRows<kRank>(before + i, after);
  return PeakBytes();
}

template <size_t kRank>
void ExpectBounded(int64_t before, int64_t after) {
  const int64_t one = PeakOf<kRank>(1, before, after);
  const int64_t many = PeakOf<kRank>(64, before, after);
  EXPECT_LE(many, kBound + one + kBeside);
  EXPECT_GE(many, kBound / 4) << "nothing is kept";
}

TEST(KeptCalls, TablesOfNearestGradientsAreBounded) { ExpectBounded<5>(200000, 100000); }
TEST(KeptCalls, TablesOfBicubicGradientsAreBounded) { ExpectBounded<4>(30000, 20000); }
TEST(KeptCalls, TablesOfShrinksAreBounded) { ExpectBounded<4>(100000, 4000); }

}  // namespace
}  // namespace opscv::testing
