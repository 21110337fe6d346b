// SPDX-License-Identifier: Apache-2.0
// Streams, events, threads and processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "tests/capi/device.h"

#ifdef __SANITIZE_THREAD__
// Lets forked children start threads.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {
  return "die_after_fork=0";
}
#endif

namespace opscv::testing {
namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

class Streams : public ::testing::Test {
 protected:
  void TearDown() override { aclFinalize(); }

  static aclrtStream NewStream() {
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStream(&stream), 0);
    return stream;
  }
  static aclrtEvent NewEvent() {
    aclrtEvent event = nullptr;
    EXPECT_EQ(aclrtCreateEvent(&event), 0);
    return event;
  }
};

// A gradient small enough to know: sums of 2 x 2 x 2 ones.
class SumOfEight {
 public:
  SumOfEight()
      : input_(Dense({1, 1, 2, 2, 2}), DType::kFloat32, ACL_FORMAT_NCDHW),
        output_(Dense({1, 1, 1, 1, 1}), DType::kFloat32, ACL_FORMAT_NCDHW) {
    input_.Write(std::vector<uint64_t>(8, 0x3F800000));
  }
  [[nodiscard]] StageOne Args() const {
    return {.input = input_.handle(),
            .output_size = output_size_.get(),
            .input_size = input_size_.get(),
            .output = output_.handle()};
  }
  [[nodiscard]] bool Correct() const { return output_.Read()[0] == 0x41000000; }

 private:
  DeviceTensor input_;
  DeviceTensor output_;
  Ints output_size_{{2, 2, 2}};
  Ints input_size_{{1, 1, 1, 1, 1}};
};

TEST_F(Streams, StageTwoReturnsWhileTheStreamIsBlocked) {
  const SumOfEight sum;
  aclrtStream stream = NewStream();
  Gate gate;
  ASSERT_EQ(Launch(stream, [&] { gate.Wait(); }), 0);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(CallStageOne(Op::kNearestGrad, sum.Args(), &size, &executor), 0);
  std::vector<char> memory(size + 64);
  void* workspace = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
  ASSERT_EQ(CallStageTwo(Op::kNearestGrad, workspace, size, executor, stream), 0);
  EXPECT_FALSE(sum.Correct());
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_TRUE(sum.Correct());
}

TEST_F(Streams, AHostFunctionMayWaitForLaterWorkElsewhere) {
  aclrtStream a = NewStream();
  aclrtStream b = NewStream();
  Gate gate;
  ASSERT_EQ(Launch(a, [&] { gate.Wait(); }), 0);
  ASSERT_EQ(Launch(b, [&] { gate.Open(); }), 0);
  EXPECT_EQ(aclrtSynchronizeStream(a), 0);
}

TEST_F(Streams, WaitTakesTheRecordOfCallTime) {
  aclrtStream producer = NewStream();
  aclrtStream consumer = NewStream();
  aclrtEvent event = NewEvent();
  Gate gate;
  bool ran = false;
  EXPECT_EQ(aclrtStreamWaitEvent(consumer, event), 0) << "no record yet: nothing to wait for";
  ASSERT_EQ(aclrtRecordEvent(event, producer), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(consumer, event), 0);
  ASSERT_EQ(Launch(producer, [&] { gate.Wait(); }), 0);
  ASSERT_EQ(aclrtRecordEvent(event, producer), 0);
  ASSERT_EQ(Launch(consumer, [&] { ran = true; }), 0);
  EXPECT_EQ(aclrtSynchronizeStream(consumer), 0);
  EXPECT_TRUE(ran);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeEvent(event), 0);
}

TEST_F(Streams, AnEventMayGoWhileAStreamWaitsForIt) {
  aclrtStream producer = NewStream();
  aclrtStream consumer = NewStream();
  aclrtEvent event = NewEvent();
  int order = 0;
  Gate gate;
  ASSERT_EQ(Launch(producer,
                   [&] {
                     gate.Wait();
                     order = 1;
                   }),
            0);
  ASSERT_EQ(aclrtRecordEvent(event, producer), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(consumer, event), 0);
  ASSERT_EQ(Launch(consumer, [&] { order = order * 10 + 2; }), 0);
  ASSERT_EQ(aclrtDestroyEvent(event), 0);
  EXPECT_EQ(aclrtRecordEvent(event, producer), 107003);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(consumer), 0);
  EXPECT_EQ(order, 12);
}

TEST_F(Streams, ElapsedTimeIsThatOfTheWork) {
  aclrtStream stream = NewStream();
  aclrtEvent start = NewEvent();
  aclrtEvent end = NewEvent();
  float best = 1e9f;
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(aclrtRecordEvent(start, stream), 0);
    ASSERT_EQ(Launch(stream, [] { std::this_thread::sleep_for(50ms); }), 0);
    ASSERT_EQ(aclrtRecordEvent(end, stream), 0);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    float ms = 0;
    ASSERT_EQ(aclrtEventElapsedTime(&ms, start, end), 0);
    EXPECT_GE(ms, 50.0f);
    best = std::min(best, ms);
  }
  EXPECT_LT(best, 60.0f);
  float ms = -1;
  EXPECT_EQ(aclrtEventElapsedTime(&ms, NewEvent(), end), 100000);
  EXPECT_EQ(Message(), "EZ1001: aclrtEventElapsedTime: startEvent was never recorded.");
  EXPECT_EQ(aclrtEventElapsedTime(nullptr, start, end), 100000);
  EXPECT_EQ(ms, -1);
}

TEST_F(Streams, AFailureInQueuedWorkSurfacesAtSynchronisation) {
  aclrtStream stream = NewStream();
  ASSERT_EQ(Launch(stream, [] { throw std::runtime_error("disk full"); }), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 500000);
  EXPECT_EQ(Message(),
            "EZ9999: aclrtSynchronizeStream: a host function on the stream threw: disk full.");
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0) << "told once";
  ASSERT_EQ(Launch(stream, [] { throw 1; }), 0);
  EXPECT_EQ(aclrtSynchronizeDevice(), 500000);
  ASSERT_EQ(Launch(stream, [] { throw std::runtime_error("late"); }), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 500000);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 107003) << "destroyed all the same";
}

TEST_F(Streams, HostFunctionsMustNotWaitForThemselves) {
  aclrtStream stream = NewStream();
  aclrtEvent event = NewEvent();
  std::vector<int> codes;
  ASSERT_EQ(Launch(stream,
                   [&] {
                     codes = {aclrtSynchronizeStream(stream),
                              aclrtDestroyStream(stream),
                              aclrtSynchronizeDevice(),
                              aclrtResetDevice(0),
                              aclFinalize(),
                              aclrtRecordEvent(event, stream),
                              aclrtSynchronizeEvent(event)};
                   }),
            0);
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_THAT(codes, ElementsAre(107003, 107003, 107003, 107003, 107003, 0, 107003));
  EXPECT_EQ(aclrtDestroyStream(stream), 0) << "the refused destruction left it alive";
}

TEST_F(Streams, DestroyingFinishesTheWork) {
  aclrtStream stream = NewStream();
  int done = 0;
  for (int i = 0; i < 50; ++i) ASSERT_EQ(Launch(stream, [&] { ++done; }), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
  EXPECT_EQ(done, 50);
  EXPECT_EQ(aclrtDestroyStream(stream), 107003);
  EXPECT_EQ(Launch(stream, [] {}), 107003);
  EXPECT_EQ(aclrtLaunchHostFunc(nullptr, nullptr, nullptr), 100000);
  EXPECT_EQ(aclrtDestroyStream(nullptr), 100000) << "the default stream stays";
}

TEST_F(Streams, TheDefaultStreamIsAnOrdinaryOne) {
  const SumOfEight sum;
  EXPECT_EQ(RunAll(Op::kNearestGrad, sum.Args(), nullptr), 0);
  EXPECT_TRUE(sum.Correct());
}

TEST_F(Streams, StagesOnDifferentThreadsAndHandlesGoneAtOnce) {
  DeviceTensor input(Dense({1, 1, 2, 2, 2}), DType::kFloat32, ACL_FORMAT_NCDHW);
  DeviceTensor output(Dense({1, 1, 1, 1, 1}), DType::kFloat32, ACL_FORMAT_NCDHW);
  input.Write(std::vector<uint64_t>(8, 0x3F800000));
  aclrtStream stream = NewStream();
  Gate gate;
  ASSERT_EQ(Launch(stream, [&] { gate.Wait(); }), 0);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  void* workspace = nullptr;
  std::thread([&] {
    const Ints output_size({2, 2, 2});
    const Ints input_size({1, 1, 1, 1, 1});
    ASSERT_EQ(CallStageOne(Op::kNearestGrad,
                           {.input = input.handle(),
                            .output_size = output_size.get(),
                            .input_size = input_size.get(),
                            .output = output.handle()},
                           &size, &executor),
              0);
  }).join();
  std::thread([&] {
    ASSERT_GT(size, 0u);
    ASSERT_EQ(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    ASSERT_EQ(CallStageTwo(Op::kNearestGrad, workspace, size, executor, stream), 0);
  }).join();
  aclDestroyTensor(input.handle());
  aclDestroyTensor(output.handle());
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(output.Read()[0], 0x41000000u);
  if (workspace != nullptr) aclrtFree(workspace);
}

TEST_F(Streams, SixtyFourThreadsWithTheirOwnStreams) {
  std::vector<std::thread> threads;
  std::atomic<int> correct = 0;
  for (int t = 0; t < 64; ++t) {
    threads.emplace_back([&] {
      aclrtStream stream = nullptr;
      if (aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0) return;
      bool all = true;
      for (int i = 0; i < 5; ++i) {
        const SumOfEight sum;
        all = RunAll(Op::kNearestGrad, sum.Args(), stream) == 0 && sum.Correct() && all;
      }
      if (aclrtDestroyStream(stream) == 0 && all) ++correct;
      aclrtResetDevice(0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(correct, 64);
}

TEST_F(Streams, SixtyFourStreamsThatWaitForAnotherAllFinish) {
  std::vector<aclrtStream> streams;
  Gate gate;
  std::atomic<int> passed = 0;
  for (int i = 0; i < 64; ++i) {
    streams.push_back(NewStream());
    ASSERT_EQ(Launch(streams.back(),
                     [&] {
                       gate.Wait();
                       ++passed;
                     }),
              0);
  }
  ASSERT_EQ(Launch(NewStream(), [&] { gate.Open(); }), 0);
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_EQ(passed, 64);
}

// A stream that waits for an event must hold no thread: a thousand of them would be a thousand.
TEST_F(Streams, WaitingStreamsHoldNoThread) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                         std::filesystem::directory_iterator());
  };
  aclrtStream producer = NewStream();
  aclrtEvent event = NewEvent();
  Gate gate;
  std::atomic<int> passed = 0;
  ASSERT_EQ(Launch(producer, [&] { gate.Wait(); }), 0);
  ASSERT_EQ(aclrtRecordEvent(event, producer), 0);
  const auto before = threads();
  for (int i = 0; i < 1000; ++i) {
    aclrtStream stream = NewStream();
    ASSERT_EQ(aclrtStreamWaitEvent(stream, event), 0);
    ASSERT_EQ(Launch(stream, [&] { ++passed; }), 0);
  }
  EXPECT_LE(threads(), before + 2);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_EQ(passed, 1000);
}

// Runs the body in a forked child; true if it returned true there within the time.
bool ChildSucceeds(std::chrono::seconds time, const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(static_cast<unsigned>(time.count()));
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Large enough that the engine uses every thread it has.
bool ComputesLargeSum() {
  const Shape in_dims = {1, 4, 8, 128, 128};
  const Shape out_dims = {1, 4, 4, 64, 64};
  DeviceTensor input(Dense(in_dims), DType::kFloat32, ACL_FORMAT_NCDHW);
  DeviceTensor output(Dense(out_dims), DType::kFloat32, ACL_FORMAT_NCDHW);
  input.Write(std::vector<uint64_t>(static_cast<size_t>(input.view().size()), 0x3F800000));
  const Ints output_size({8, 128, 128});
  const Ints input_size(out_dims);
  aclrtStream stream = nullptr;
  if (aclrtCreateStream(&stream) != 0) return false;
  const int code = RunAll(Op::kNearestGrad,
                          {.input = input.handle(),
                           .output_size = output_size.get(),
                           .input_size = input_size.get(),
                           .output = output.handle()},
                          stream);
  const std::vector<uint64_t> bits = output.Read();
  return code == 0 && aclrtDestroyStream(stream) == 0 &&
         std::all_of(bits.begin(), bits.end(), [](uint64_t b) { return b == 0x41000000; });
}

TEST_F(Streams, AForkedChildComputes) {
  ASSERT_TRUE(ComputesLargeSum());
  EXPECT_TRUE(ChildSucceeds(10s, ComputesLargeSum));
  EXPECT_TRUE(ComputesLargeSum()) << "and so does the parent afterwards";
}

// The parent's workers have computed, so that the engine's threads may be beyond ending.
TEST_F(Streams, AForkedChildComputesAfterWorkersDid) {
  aclrtStream busy = NewStream();
  Gate gate;
  Gate computed;
  ASSERT_EQ(Launch(busy,
                   [&] {
                     EXPECT_TRUE(ComputesLargeSum());
                     computed.Open();
                     gate.Wait();
                   }),
            0);
  computed.Wait();
  EXPECT_TRUE(ChildSucceeds(10s, ComputesLargeSum));
  EXPECT_TRUE(ChildSucceeds(10s, [] { return ChildSucceeds(5s, ComputesLargeSum); }));
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(busy), 0);
  EXPECT_TRUE(ComputesLargeSum());
}

// A parent that is in the middle of work on two streams, and has planned more.
class BusyParent {
 public:
  BusyParent() {
    EXPECT_EQ(aclrtCreateStream(&stream), 0);
    EXPECT_EQ(aclrtCreateEvent(&event), 0);
    EXPECT_EQ(Launch(stream, [this] { gate_.Wait(); }), 0);
    EXPECT_EQ(Launch(nullptr, [this] { gate_.Wait(); }), 0);
    EXPECT_EQ(CallStageOne(Op::kNearestGrad, sum.Args(), &size, &executor), 0);
  }
  ~BusyParent() {
    gate_.Open();
    EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  }
  BusyParent(const BusyParent&) = delete;
  BusyParent& operator=(const BusyParent&) = delete;

  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  const SumOfEight sum;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;

 private:
  Gate gate_;
};

TEST_F(Streams, AForkedChildRefusesTheParentsHandles) {
  const BusyParent parent;
  EXPECT_TRUE(ChildSucceeds(10s, [&] {
    return aclrtSynchronizeStream(parent.stream) == 107003 &&
           aclrtDestroyStream(parent.stream) == 107003 &&
           aclrtSynchronizeEvent(parent.event) == 107003 &&
           CallStageTwo(Op::kNearestGrad, nullptr, parent.size, parent.executor, nullptr) ==
               161002 &&
           aclrtSynchronizeStream(nullptr) == 0 && aclrtSynchronizeDevice() == 0;
  }));
}

#ifndef __SANITIZE_THREAD__  // it takes the child's new thread for the parent's, by its address
TEST_F(Streams, AForkedChildOfABusyParentComputes) {
  const BusyParent parent;
  EXPECT_TRUE(ChildSucceeds(10s, [&] {
    aclrtStream own = nullptr;
    return aclrtCreateStream(&own) == 0 && own != parent.stream &&
           RunAll(Op::kNearestGrad, parent.sum.Args(), own) == 0 && parent.sum.Correct() &&
           aclFinalize() == 0;
  }));
}
#endif

TEST_F(Streams, AHostFunctionMayFork) {
  aclrtStream stream = NewStream();
  bool child_succeeded = false;
  ASSERT_EQ(Launch(stream,
                   [&] {
                     child_succeeded = ChildSucceeds(10s, [&] {
                       return aclrtSynchronizeStream(stream) == 107003 &&
                              aclrtSynchronizeDevice() == 0 && ComputesLargeSum();
                     });
                   }),
            0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_TRUE(child_succeeded);
}

// Forks while other threads are in the middle of everything: no lock may stay behind in the child.
TEST_F(Streams, ForkingAmidWorkLeavesNoLockBehind) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        aclrtStream stream = NewStream();
        const SumOfEight sum;
        EXPECT_EQ(RunAll(Op::kNearestGrad, sum.Args(), stream), 0);
        EXPECT_EQ(aclrtDestroyStream(stream), 0);
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(ChildSucceeds(10s, [] {
      aclrtStream stream = nullptr;
      const SumOfEight sum;
      return aclrtCreateStream(&stream) == 0 && RunAll(Op::kNearestGrad, sum.Args(), stream) == 0 &&
             sum.Correct();
    }));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace opscv::testing
