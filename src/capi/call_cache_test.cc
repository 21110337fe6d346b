// SPDX-License-Identifier: Apache-2.0
// First stages of the same values share what was planned; calls that differ in anything do not.
#include "capi/call_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_upsample_bicubic2d_aa.h"
#include "aclnnop/aclnn_upsample_bicubic2d_aa_grad.h"
#include "aclnnop/aclnn_upsample_nearest_exact3d_backward.h"
#include "capi/runtime.h"
#include "capi/stage_one.h"
#include "ops/pairs.h"

namespace opscv::capi {
namespace {

using Kept = std::shared_ptr<const PlannedCall>;

struct View {
  std::vector<int64_t> dims;
  std::vector<int64_t> strides = {};  // empty: contiguous
  std::vector<int64_t> storage = {};  // empty: the dims
  int64_t offset = 0;
  aclFormat format = ACL_FORMAT_ND;
};

// A call of one of three operators.
struct Wanted {
  enum class Op { kBicubic, kBicubicGrad, kNearestGrad } op = Op::kNearestGrad;
  aclDataType dtype = ACL_FLOAT;
  View input = {.dims = {1, 2, 4, 6, 8}};
  View output = {.dims = {1, 2, 2, 3, 4}};
  std::vector<int64_t> before = {1, 2, 2, 3, 4};
  std::vector<int64_t> after = {4, 6, 8};
  bool align_corners = false;
  std::vector<double> scales = {0.0, 0.0, 0.0};
  void* input_data = nullptr;
  void* output_data = nullptr;
};

Wanted Bicubic() {
  return {.op = Wanted::Op::kBicubicGrad,
          .input = {.dims = {1, 2, 6, 6}},
          .output = {.dims = {1, 2, 6, 6}},
          .before = {1, 2, 6, 6},
          .after = {6, 6}};
}

aclTensor* Make(const View& view, aclDataType dtype, void* data) {
  return aclCreateTensor(view.dims.data(), view.dims.size(), dtype,
                         view.strides.empty() ? nullptr : view.strides.data(), view.offset,
                         view.format, view.storage.empty() ? nullptr : view.storage.data(),
                         view.storage.size(), data);
}

struct Answer {
  int code = 0;
  Kept call;  // null where the first stage was refused
};

// The first stage with handles of its own, all of which are gone when it returns.
Answer Try(const Wanted& wanted) {
  aclTensor* input = Make(wanted.input, wanted.dtype, wanted.input_data);
  aclTensor* output = Make(wanted.output, wanted.dtype, wanted.output_data);
  aclIntArray* before = aclCreateIntArray(wanted.before.data(), wanted.before.size());
  aclIntArray* after = aclCreateIntArray(wanted.after.data(), wanted.after.size());
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  const std::vector<double>& scales = wanted.scales;
  Answer answer;
  switch (wanted.op) {
    case Wanted::Op::kBicubic:
      answer.code = aclnnUpsampleBicubic2dAAGetWorkspaceSize(
          input, after, wanted.align_corners, scales[1], scales[2], output, &bytes, &executor);
      break;
    case Wanted::Op::kBicubicGrad:
      answer.code = aclnnUpsampleBicubic2dAAGradGetWorkspaceSize(
          input, after, before, wanted.align_corners, scales[1], scales[2], output, &bytes,
          &executor);
      break;
    case Wanted::Op::kNearestGrad:
      answer.code = aclnnUpsampleNearestExact3dBackwardGetWorkspaceSize(
          input, after, before, scales[0], scales[1], scales[2], output, &bytes, &executor);
      break;
  }
  if (answer.code == 0) {
    answer.call = Runtime::Get().executors.Find(executor)->call;
    EXPECT_EQ(answer.call->workspace_bytes, bytes);
    aclDestroyAclOpExecutor(executor);
  }
  aclDestroyTensor(input);
  aclDestroyTensor(output);
  aclDestroyIntArray(before);
  aclDestroyIntArray(after);
  return answer;
}

Kept Plan(const Wanted& wanted) {
  Answer answer = Try(wanted);
  EXPECT_EQ(answer.code, 0) << aclGetRecentErrMsg();
  return answer.call;
}

size_t KeptCalls() { return Runtime::Get().planned_calls.size(); }
uint64_t KeptBytes() { return Runtime::Get().planned_calls.bytes(); }

// Begins and ends with nothing kept.
class CallCacheTest : public ::testing::Test {
 protected:
  CallCacheTest() { Restart(); }
  ~CallCacheTest() override {
    unsetenv("OPSCV_SOC");
    unsetenv("OPSCV_INDEX_RULE");
    Restart();
  }
  // The environment is read anew.
  static void Restart() {
    aclFinalize();
    EXPECT_EQ(aclInit(nullptr), 0) << aclGetRecentErrMsg();
  }
};

TEST_F(CallCacheTest, CallsOfTheSameValuesShareAPlan) {
  for (const Wanted& wanted : {Wanted(), Bicubic()}) {
    const Kept first = Plan(wanted);
    EXPECT_EQ(Plan(wanted), first);
    EXPECT_EQ(Plan(wanted), first);
  }
  EXPECT_EQ(KeptCalls(), 2U);
}

TEST_F(CallCacheTest, AddressesDoNotCountButAreChecked) {
  const Kept first = Plan({});
  std::vector<float> memory(800);
  Wanted placed;
  placed.input_data = memory.data();
  placed.output_data = memory.data() + 400;
  EXPECT_EQ(Plan(placed), first);
  placed.output_data = memory.data() + 100;
  EXPECT_EQ(Try(placed).code, ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(KeptCalls(), 1U);
}

TEST_F(CallCacheTest, EveryPartOfACallCounts) {
  std::vector<Wanted> calls(14);
  calls[1].dtype = ACL_FLOAT16;
  calls[2].dtype = ACL_BF16;
  calls[3].input.strides = {400, 192, 48, 8, 1};
  calls[3].input.storage = {800};
  calls[4].input.storage = {800};
  calls[5].input.storage = {800};
  calls[5].input.offset = 3;
  calls[6].output.strides = {100, 24, 12, 4, 1};
  calls[6].output.storage = {100};
  calls[7].output.storage = {100};
  calls[8].output.storage = {100};
  calls[8].output.offset = 3;
  calls[9].scales = {2.0, 2.0, 2.0};
  calls[10].scales = {2.0, 2.0, -1.0};
  calls[11].input.format = calls[11].output.format = ACL_FORMAT_NCDHW;
  for (View* view : {&calls[12].input, &calls[12].output}) view->format = ACL_FORMAT_NDHWC;
  calls[12].input.dims = {1, 4, 6, 8, 2};
  calls[12].output.dims = {1, 2, 3, 4, 2};
  calls[13].input.dims = {1, 2, 4, 6, 7};
  calls[13].after = {4, 6, 7};
  const std::vector<std::function<void(Wanted&)>> changes = {
      [](Wanted& call) { call.op = Wanted::Op::kBicubic; },
      [](Wanted& call) { call.align_corners = true; },
      [](Wanted& call) { call.scales[1] = 1.0; },
      [](Wanted& call) { call.scales[2] = 1.0; },
      [](Wanted& call) { call.input.format = call.output.format = ACL_FORMAT_NCHW; },
      [](Wanted& call) {
        call.input.dims = call.output.dims = call.before = {2, 1, 6, 6};
      },
  };
  calls.push_back(Bicubic());
  for (const auto& change : changes) change(calls.emplace_back(Bicubic()));
  std::vector<Kept> kept;
  for (const Wanted& call : calls) kept.push_back(Plan(call));
  EXPECT_EQ(std::set<Kept>(kept.begin(), kept.end()).size(), calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(Plan(calls[i]), kept[i]) << i;
    EXPECT_EQ(kept[i]->input.desc.dtype, kept[i]->output.desc.dtype) << i;
    EXPECT_EQ(kept[i]->input.offset, calls[i].input.offset) << i;
  }
}

TEST_F(CallCacheTest, ProductAndIndexRuleCount) {
  const Kept usual = Plan({});
  EXPECT_EQ(usual->rule, IndexRule::kAscend);
  setenv("OPSCV_INDEX_RULE", "torch_cpu", 1);
  // As a program would that starts the runtime anew while calls of before are still kept.
  CallCache& kept = Runtime::Get().planned_calls;
  Restart();
  const Kept torch = Plan({});
  EXPECT_EQ(torch->rule, IndexRule::kTorchCpu);
  EXPECT_EQ(kept.size(), 1U);

  Wanted shrinks = Bicubic();  // 60 times, which one product takes and another refuses
  shrinks.input.dims = {1, 2, 120, 6};
  shrinks.output.dims = shrinks.before = {1, 2, 2, 6};
  shrinks.after = {120, 6};
  EXPECT_EQ(Try(shrinks).code, 0);
  EXPECT_EQ(Try(shrinks).code, 0);
  setenv("OPSCV_SOC", "Ascend910B", 1);
  Restart();
  EXPECT_EQ(Try(shrinks).code, ACLNN_ERR_PARAM_INVALID);
}

// The settings are part of the key themselves: nothing relies on aclFinalize having emptied it.
TEST_F(CallCacheTest, SettingsArePartOfTheKey) {
  Arguments args(ops::UpsampleNearestExact3dPair().backward);
  args.profile = AllProfiles().data();
  args.input = std::make_shared<const Tensor>(Tensor{.dtype = ACL_FLOAT,
                                                     .format = ACL_FORMAT_ND,
                                                     .shape = {1, 2, 4, 4, 4},
                                                     .strides = ContiguousStrides({1, 2, 4, 4, 4}),
                                                     .storage = {1, 2, 4, 4, 4}});
  args.output = std::make_shared<const Tensor>(Tensor{.dtype = ACL_FLOAT,
                                                      .format = ACL_FORMAT_ND,
                                                      .shape = {1, 2, 2, 2, 2},
                                                      .strides = ContiguousStrides({1, 2, 2, 2, 2}),
                                                      .storage = {1, 2, 2, 2, 2}});
  args.attrs[0] = std::make_shared<const IntArray>(IntArray{1, 2, 2, 2, 2});
  args.attrs[1] = std::make_shared<const IntArray>(IntArray{4, 4, 4});
  args.attrs[2] = Scales{0.0, 0.0, 0.0};
  std::set<Kept> calls;
  for (const ProductProfile& profile : AllProfiles().first(3)) {
    for (const IndexRule rule : {IndexRule::kAscend, IndexRule::kTorchCpu, IndexRule::kExact}) {
      args.profile = &profile;
      args.rule = rule;
      Kept call;
      const Status planned = PlanCall(args, call);
      ASSERT_TRUE(planned.ok()) << planned.message();
      EXPECT_EQ(call->rule, rule);
      EXPECT_TRUE(calls.insert(call).second);
    }
  }
}

TEST_F(CallCacheTest, RefusalsAreAnsweredEachTimeAndNotKept) {
  Wanted wrong;
  wrong.scales = {3.0, 3.0, 3.0};
  const int code = Try(wrong).code;
  const std::string message = aclGetRecentErrMsg();
  EXPECT_EQ(code, ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(Try(wrong).code, code);
  EXPECT_EQ(aclGetRecentErrMsg(), message);
  EXPECT_EQ(KeptCalls(), 0U);
  wrong = {};
  wrong.after.assign(200, 4);  // longer than any key
  EXPECT_EQ(Try(wrong).code, ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(KeptCalls(), 0U);
}

TEST_F(CallCacheTest, EmptyCallsAreKeptToo) {
  Wanted empty;
  empty.input.dims[0] = empty.output.dims[0] = empty.before[0] = 0;
  const Kept first = Plan(empty);
  EXPECT_EQ(first->plan, nullptr);
  EXPECT_EQ(Plan(empty), first);
}

TEST_F(CallCacheTest, BoundedInNumber) {
  Wanted call;
  const Kept first = Plan(call);
  for (int64_t n = 2; n < 350; ++n) {
    call.input.dims[0] = call.output.dims[0] = call.before[0] = n;
    (void)Plan(call);
    EXPECT_LE(KeptCalls(), CallCache::kMostCalls);
  }
  EXPECT_EQ(KeptCalls(), CallCache::kMostCalls);
  EXPECT_NE(Plan({}), first) << "the oldest call was kept";
  EXPECT_EQ(first->plan->spec().output.shape[plan::kN], 1) << "what is in use lives on";
}

TEST_F(CallCacheTest, BoundedInBytesOfTables) {
  Wanted call;
  uint64_t most = 0;
  for (int64_t i = 0; i < 8; ++i) {
    const int64_t wide = (int64_t{1} << 18) + i;
    call.input.dims = {1, 1, 1, 1, wide / 2};
    call.output.dims = call.before = {1, 1, 1, 1, wide};
    call.after = {1, 1, wide / 2};
    const Kept kept = Plan(call);
    EXPECT_GE(TableBytes(*kept->plan), static_cast<uint64_t>(wide) * sizeof(int64_t));
    EXPECT_LE(KeptBytes(), CallCache::kMostBytes);
    most = std::max(most, KeptBytes());
  }
  EXPECT_GT(most, CallCache::kMostBytes / 2) << "nothing came near the bound";
  EXPECT_LT(KeptCalls(), 8U);
}

TEST_F(CallCacheTest, FinalizeFreesAllThatNobodyUses) {
  const std::weak_ptr<const PlannedCall> kept = Plan({});
  EXPECT_FALSE(kept.expired());
  aclFinalize();
  EXPECT_EQ(KeptCalls(), 0U);
  EXPECT_TRUE(kept.expired());
}

TEST_F(CallCacheTest, ManyThreadsAtOnce) {
  constexpr int kThreads = 8;
  std::vector<int> wrong(kThreads, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&wrong, t] {
      for (int i = 0; i < 300; ++i) {
        const int64_t n = 1 + (i * (t + 1)) % 7;
        Wanted call;
        call.input.dims[0] = call.output.dims[0] = call.before[0] = n;
        const Kept kept = Plan(call);
        if (kept == nullptr || kept->plan->spec().output.shape[plan::kN] != n) {
          ++wrong[static_cast<size_t>(t)];
        }
        if (t == 0 && i % 50 == 0) Runtime::Get().planned_calls.Clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(kThreads, 0));
  EXPECT_LE(KeptCalls(), 7U);
}

}  // namespace
}  // namespace opscv::capi
