// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/fp_env.h"
#include "base/test_random.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace opscv {
namespace {

constexpr int kThreadCounts[] = {1, 2, 3, 8, 33};

void Spin(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(ParallelFor, RunsEveryBlockOnce) {
  testing::TracedRandom random;
  for (const int threads : kThreadCounts) {
    for (const int64_t blocks :
         {int64_t{0}, int64_t{1}, int64_t{2}, random.Int(3, 40), random.Int(1000, 5000)}) {
      const auto runs = std::make_unique<std::atomic<int>[]>(static_cast<size_t>(blocks));
      EXPECT_TRUE(ParallelFor(blocks, threads, nullptr, [&](int64_t block, int) {
        ASSERT_GE(block, 0);
        ASSERT_LT(block, blocks);
        ++runs[static_cast<size_t>(block)];
      }));
      for (int64_t b = 0; b < blocks; ++b) {
        EXPECT_EQ(runs[static_cast<size_t>(b)], 1)
            << "block " << b << " of " << blocks << ", " << threads << " threads";
      }
    }
  }
}

TEST(ParallelFor, SlotsOfRunningBlocksDiffer) {
  for (const int threads : kThreadCounts) {
    const auto busy = std::make_unique<std::atomic<bool>[]>(static_cast<size_t>(threads));
    std::atomic<int> running = 0;
    ParallelFor(200, threads, nullptr, [&](int64_t, int slot) {
      ASSERT_GE(slot, 0);
      ASSERT_LT(slot, threads);
      EXPECT_LE(++running, threads);
      EXPECT_FALSE(busy[static_cast<size_t>(slot)].exchange(true)) << "slot " << slot;
      Spin(std::chrono::microseconds(20));
      busy[static_cast<size_t>(slot)] = false;
      --running;
    });
  }
}

// Two blocks that wait for each other end only if both run at once.
TEST(ParallelFor, UsesMoreThanOneThread) {
  if (DefaultThreads() == 1) return;  // one processor has no second thread to give
  std::atomic<int> arrived = 0;
  std::atomic<bool> met = true;
  ParallelFor(2, 2, nullptr, [&](int64_t, int) {
    ++arrived;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    if (arrived < 2) met = false;
  });
  EXPECT_TRUE(met) << "the second block did not begin within 20 seconds of the first";
}

TEST(ParallelFor, CallsFromSeveralThreadsAtOnce) {
  std::atomic<int64_t> total = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        ParallelFor(50, 3, nullptr, [&](int64_t block, int) { total += block; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 20 * (50 * 49 / 2));
}

// More threads than processors is no reason to complain.
TEST(ParallelFor, PrintsNothing) {
  ::testing::internal::CaptureStderr();
  ParallelFor(2000, 1000, nullptr, [](int64_t, int) {});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(ParallelFor, OneThreadRunsInOrderOnTheCaller) {
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<int64_t> order;
  ParallelFor(5, 1, nullptr, [&](int64_t block, int slot) {
    EXPECT_EQ(slot, 0);
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(block);
  });
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

TEST(ParallelFor, NoBlockBeginsOnceStopped) {
  for (const int threads : kThreadCounts) {
    std::atomic<bool> stop = true;
    std::atomic<int> runs = 0;
    EXPECT_FALSE(ParallelFor(100, threads, &stop, [&](int64_t, int) { ++runs; }));
    EXPECT_EQ(runs, 0);
    stop = false;
    EXPECT_FALSE(ParallelFor(10000, threads, &stop, [&](int64_t, int) {
      if (++runs == 10) stop = true;
      Spin(std::chrono::microseconds(5));
    }));
    // Every other thread may have read the flag just before it was set.
    EXPECT_GE(runs, 10);
    EXPECT_LT(runs, 10 + threads);
  }
}

TEST(ParallelFor, AFlagThatStaysFalseStopsNothing) {
  const std::atomic<bool> stop = false;
  for (const int threads : kThreadCounts) {
    std::atomic<int> runs = 0;
    EXPECT_TRUE(ParallelFor(300, threads, &stop, [&](int64_t, int) { ++runs; }));
    EXPECT_EQ(runs, 300);
  }
}

TEST(ParallelFor, StopOfTheLastBlockComesTooLate) {
  std::atomic<bool> stop = false;
  EXPECT_TRUE(ParallelFor(3, 1, &stop, [&](int64_t block, int) { stop = block == 2; }));
}

TEST(DefaultThreads, IsPositiveAndUsedForNone) {
  EXPECT_GE(DefaultThreads(), 1);
  EXPECT_EQ(ResolveThreads(0), DefaultThreads());
  EXPECT_EQ(ResolveThreads(-1), DefaultThreads());
  EXPECT_EQ(ResolveThreads(5), 5);
}

// The control state that a caller may have left: where the machine has a switch for it, subnormals
// flushed, and rounding upwards.
class HostileFpEnv {
 public:
  HostileFpEnv() {
    std::fegetenv(&saved_);
    std::fesetround(FE_UPWARD);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_DIVBYZERO);
    SetFlush();
    before_ = Control();
  }
  ~HostileFpEnv() { std::fesetenv(&saved_); }
  HostileFpEnv(const HostileFpEnv&) = delete;
  HostileFpEnv& operator=(const HostileFpEnv&) = delete;

  void ExpectUntouched() const {
    EXPECT_EQ(Control(), before_);
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), FE_DIVBYZERO);
  }

 private:
#if defined(__SSE2__)
  static void SetFlush() { _mm_setcsr(_mm_getcsr() | 0x8040u); }
  static uint64_t Control() { return _mm_getcsr(); }
#elif defined(__aarch64__)
  static uint64_t Control() {
    uint64_t fpcr = 0;
    asm volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
  }
  static void SetFlush() { asm volatile("msr fpcr, %0" ::"r"(Control() | (uint64_t{1} << 24))); }
#else
  static void SetFlush() {}
  static uint64_t Control() { return 0; }
#endif

  std::fenv_t saved_;
  uint64_t before_;
};

// Not folded by the compiler, which would compute in its own environment.
bool KeepsSubnormals() {
  volatile float smallest = std::numeric_limits<float>::denorm_min();
  volatile float scaled = smallest * 0x1p100F;
  volatile float normal = std::numeric_limits<float>::min();
  volatile float halved = normal * 0.5F;
  return scaled > 0.0F && halved > 0.0F;
}

bool RoundsToNearest() {
  volatile float one = 1.0F;
  volatile float below_half_a_unit = 0x1p-26F;
  volatile float up = one + below_half_a_unit;
  volatile float down = -one - below_half_a_unit;
  return up == 1.0F && down == -1.0F;
}

TEST(FpEnv, TheHostileOneIsHostile) {
  const HostileFpEnv hostile;
  EXPECT_FALSE(RoundsToNearest());
#if defined(__SSE2__) || defined(__aarch64__)
  EXPECT_FALSE(KeepsSubnormals());
#endif
}

TEST(FpEnv, ScopeIsDefaultAndGivesBack) {
  const HostileFpEnv hostile;
  {
    const ScopedDefaultFpEnv scope;
    EXPECT_TRUE(RoundsToNearest());
    EXPECT_TRUE(KeepsSubnormals());
    volatile float zero = 0.0F;
    volatile float infinity = -1.0F / zero;  // raises a flag, must not trap
    EXPECT_LT(infinity, 0.0F);
  }
  hostile.ExpectUntouched();
}

TEST(ParallelFor, BlocksRunInTheDefaultFpEnv) {
  for (const int threads : kThreadCounts) {
    const HostileFpEnv hostile;
    std::atomic<int> bad = 0;
    ParallelFor(100, threads, nullptr, [&](int64_t, int) {
      if (!RoundsToNearest() || !KeepsSubnormals()) ++bad;
      Spin(std::chrono::microseconds(10));
    });
    hostile.ExpectUntouched();
    EXPECT_EQ(bad, 0) << threads << " threads";
  }
}

// A block may itself spoil the environment of its thread: neither its caller nor a later call sees
// it.
TEST(ParallelFor, ABlocksFpEnvDoesNotLeak) {
  for (const int threads : kThreadCounts) {
    ParallelFor(50, threads, nullptr, [](int64_t, int) { std::fesetround(FE_UPWARD); });
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    std::atomic<int> bad = 0;
    ParallelFor(50, threads, nullptr, [&](int64_t, int) {
      if (!RoundsToNearest()) ++bad;
    });
    EXPECT_EQ(bad, 0) << threads << " threads";
  }
}

TEST(FunctionRef, CallsWhatItRefersTo) {
  int calls = 0;
  auto count = [&](int by) { return calls += by; };
  const FunctionRef<int(int)> ref = count;
  EXPECT_EQ(ref(2), 2);
  const FunctionRef<int(int)> copy = ref;  // refers to `count`, not to `ref`
  EXPECT_EQ(copy(3), 5);
  EXPECT_EQ(calls, 5);
}

}  // namespace
}  // namespace opscv
