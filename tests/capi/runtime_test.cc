// SPDX-License-Identifier: Apache-2.0
// Beginning and end, device, contexts, options, memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

#include "opscv/version.h"
#include "tests/capi/device.h"

namespace opscv::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Runtime : public ::testing::Test {
 protected:
  void SetUp() override { aclFinalize(); }
  void TearDown() override { aclFinalize(); }
};

// The path of a file that holds the text until the test ends.
class TempFile {
 public:
  explicit TempFile(const char* text) {
    path_ = ::testing::TempDir() + "opscv_config_" + std::to_string(getpid()) + ".json";
    std::FILE* file = std::fopen(path_.c_str(), "w");
    std::fputs(text, file);
    std::fclose(file);
  }
  ~TempFile() { std::remove(path_.c_str()); }
  [[nodiscard]] const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

TEST_F(Runtime, InitIsOnceUntilFinalize) {
  EXPECT_EQ(aclInit(nullptr), 0);
  EXPECT_EQ(aclInit(""), 100002);
  EXPECT_EQ(Message(), "EZ9999: aclInit: aclInit was called already; aclFinalize ends it.");
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_EQ(aclFinalize(), 100001);
  EXPECT_EQ(aclInit(""), 0);
}

TEST_F(Runtime, CallsBeforeInitWorkAndInitStillSucceeds) {
  aclrtStream stream = nullptr;
  void* memory = nullptr;
  EXPECT_EQ(aclrtCreateStream(&stream), 0);
  EXPECT_EQ(aclrtMalloc(&memory, 16, ACL_MEM_MALLOC_NORMAL_ONLY), 0);
  EXPECT_EQ(aclInit(nullptr), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(aclrtFree(memory), 0);
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_EQ(aclrtCreateStream(&stream), 0);
  EXPECT_EQ(aclFinalize(), 0) << "implicit use can be ended too";
}

TEST_F(Runtime, InitReadsAConfigFile) {
  const TempFile good(R"({"dump": {"dump_path": "/x"}, "profiler": {"switch": "off"}})");
  EXPECT_EQ(aclInit(good.path()), 0);
  aclFinalize();
  const TempFile bad("{\"dump\": }");
  EXPECT_EQ(aclInit(bad.path()), 100000);
  EXPECT_THAT(Message(), StartsWith("EZ1001: aclInit: configPath '"));
  EXPECT_THAT(Message(), HasSubstr("line 1, column 10: expected a value"));
  EXPECT_EQ(aclInit("/nowhere/acl.json"), 100000);
  EXPECT_THAT(Message(), HasSubstr("No such file or directory"));
  EXPECT_EQ(aclInit(nullptr), 0) << "a refused aclInit did not count";
}

TEST_F(Runtime, TheHostIsOneDevice) {
  int32_t device = -1;
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), 0);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(aclrtGetDevice(&device), 0);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(aclrtSetDevice(1), 100000);
  EXPECT_EQ(Message(), "EZ1001: aclrtSetDevice: deviceId must be 0, the only device, got 1.");
  EXPECT_EQ(aclrtResetDevice(-1), 100000);
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_EQ(aclrtGetDeviceCount(nullptr), 100000);
  EXPECT_EQ(aclrtGetDevice(nullptr), 100000);
}

TEST_F(Runtime, VersionIsTheLibrarys) {
  int32_t numbers[3] = {-1, -1, -1};
  EXPECT_EQ(aclrtGetVersion(&numbers[0], &numbers[1], &numbers[2]), 0);
  EXPECT_EQ(numbers[0], OPSCV_VERSION_MAJOR);
  EXPECT_EQ(numbers[1], OPSCV_VERSION_MINOR);
  EXPECT_EQ(numbers[2], OPSCV_VERSION_PATCH);
  EXPECT_EQ(aclrtGetVersion(&numbers[0], nullptr, &numbers[2]), 100000);
}

TEST_F(Runtime, ResetAnswersTheFirstSet) {
  aclrtStream stream = nullptr;
  void* memory = nullptr;
  EXPECT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtCreateStream(&stream), 0);
  EXPECT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  EXPECT_EQ(aclrtResetDevice(0), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0) << "another user of the device is left";
  EXPECT_EQ(aclrtResetDevice(0), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 107003);
  EXPECT_EQ(aclrtFree(memory), 100000);
}

// What one thread makes between its set and its reset outlives the resets of all others.
TEST_F(Runtime, ThreadsMaySetAndResetIndependently) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        void* memory = nullptr;
        aclrtStream stream = nullptr;
        if (aclrtSetDevice(0) != 0 || aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_NORMAL_ONLY) != 0 ||
            aclrtCreateStream(&stream) != 0 || aclrtMemsetAsync(memory, 64, 1, 64, stream) != 0 ||
            aclrtDestroyStream(stream) != 0 || aclrtFree(memory) != 0 || aclrtResetDevice(0) != 0) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Runtime, FinalizeFinishesQueuedWork) {
  aclrtStream stream = nullptr;
  std::atomic<int> done = 0;
  ASSERT_EQ(aclrtCreateStream(&stream), 0);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(Launch(stream, [&] { ++done; }), 0);
  ASSERT_EQ(Launch(nullptr, [&] { ++done; }), 0);
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_EQ(done, 101);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 107003) << "the handle ended with it";
}

TEST_F(Runtime, FinalizeEndsEveryHandle) {
  const int64_t dims[] = {1, 2};
  aclTensor* tensor =
      aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
  aclIntArray* array = aclCreateIntArray(dims, 2);
  aclrtEvent event = nullptr;
  void* host = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), 0);
  ASSERT_EQ(aclrtMallocHost(&host, 8), 0);
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_EQ(aclDestroyTensor(tensor), 161002);
  EXPECT_EQ(aclDestroyIntArray(array), 161002);
  EXPECT_EQ(aclrtDestroyEvent(event), 107003);
  EXPECT_EQ(aclrtFreeHost(host), 100000);
}

TEST_F(Runtime, MessageIsTheThreadsOwnAndStays) {
  EXPECT_EQ(aclrtFree(nullptr), 100000);
  EXPECT_EQ(Message(), "EZ1001: aclrtFree: devPtr must not be null.");
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_EQ(Message(), "EZ1001: aclrtFree: devPtr must not be null.");
  std::thread([] { EXPECT_EQ(aclGetRecentErrMsg(), nullptr); }).join();
}

TEST_F(Runtime, MemoryIsAlignedAndChecked) {
  void* memory = nullptr;
  for (const size_t size : {size_t{1}, size_t{100}, size_t{5} << 20}) {
    for (const auto policy :
         {ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY}) {
      ASSERT_EQ(aclrtMalloc(&memory, size, policy), 0);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
      EXPECT_EQ(aclrtMemset(memory, size, 7, size), 0);
      EXPECT_EQ(aclrtFree(memory), 0);
      EXPECT_EQ(aclrtFree(memory), 100000) << "freed twice";
    }
  }
  EXPECT_EQ(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
  EXPECT_EQ(Message(), "EZ1001: aclrtMalloc: size must be > 0, got 0.");
  EXPECT_EQ(aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
  EXPECT_EQ(aclrtMallocHost(&memory, 0), 100000);
  EXPECT_EQ(aclrtMallocHost(nullptr, 8), 100000);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they end the process instead
TEST_F(Runtime, AbsurdSizesAreNoMemory) {
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST), 207001);
  EXPECT_THAT(Message(), StartsWith("EZ9999: aclrtMalloc: 18446744073709551615 bytes"));
  EXPECT_EQ(memory, nullptr);
}
#endif

TEST_F(Runtime, PinnedAndDeviceMemoryAreNotMixed) {
  void* device = nullptr;
  void* host = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 8, ACL_MEM_MALLOC_NORMAL_ONLY), 0);
  ASSERT_EQ(aclrtMallocHost(&host, 8), 0);
  EXPECT_EQ(aclrtFree(host), 100000);
  EXPECT_THAT(Message(), HasSubstr("must come from aclrtMalloc"));
  EXPECT_EQ(aclrtFreeHost(device), 100000);
  EXPECT_EQ(aclrtFree(static_cast<char*>(device) + 1), 100000);
  EXPECT_EQ(aclrtFree(device), 0);
  EXPECT_EQ(aclrtFreeHost(host), 0);
}

TEST_F(Runtime, CopiesAreChecked) {
  char from[4] = {1, 2, 3, 4};
  char to[4] = {0, 0, 0, 0};
  EXPECT_EQ(aclrtMemcpy(to, 4, from, 4, ACL_MEMCPY_HOST_TO_HOST), 0);
  EXPECT_EQ(std::memcmp(from, to, 4), 0);
  EXPECT_EQ(aclrtMemcpy(to, 3, from, 4, ACL_MEMCPY_HOST_TO_HOST), 100000);
  EXPECT_EQ(Message(), "EZ1001: aclrtMemcpy: count must be <= destMax (3), got 4.");
  EXPECT_EQ(aclrtMemcpy(nullptr, 4, from, 4, ACL_MEMCPY_HOST_TO_HOST), 100000);
  EXPECT_EQ(aclrtMemcpy(to, 4, nullptr, 4, ACL_MEMCPY_HOST_TO_HOST), 100000);
  EXPECT_EQ(aclrtMemcpy(to, 4, from, 4, static_cast<aclrtMemcpyKind>(7)), 100000);
  EXPECT_THAT(Message(), HasSubstr("got 7"));
  EXPECT_EQ(aclrtMemset(to, 4, 9, 5), 100000);
  EXPECT_EQ(aclrtMemset(nullptr, 4, 9, 4), 100000);
  EXPECT_EQ(aclrtMemcpyAsync(to, 3, from, 4, ACL_MEMCPY_HOST_TO_HOST, nullptr), 100000);
  EXPECT_EQ(aclrtMemsetAsync(to, 4, 9, 5, nullptr), 100000);
}

TEST_F(Runtime, AsynchronousCopiesKeepTheStreamsOrder) {
  aclrtStream stream = nullptr;
  char data[4] = {0, 0, 0, 0};
  char copy[4] = {0, 0, 0, 0};
  ASSERT_EQ(aclrtCreateStream(&stream), 0);
  Gate gate;
  ASSERT_EQ(Launch(stream, [&] { gate.Wait(); }), 0);
  ASSERT_EQ(aclrtMemsetAsync(data, 4, 5, 4, stream), 0);
  ASSERT_EQ(aclrtMemcpyAsync(copy, 4, data, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream), 0);
  EXPECT_EQ(copy[3], 0);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(copy[3], 5);
}

TEST_F(Runtime, ContextsAreThreadsOwnChoice) {
  aclrtContext device_context = nullptr;
  aclrtContext first = nullptr;
  aclrtContext current = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&device_context), 0);
  ASSERT_NE(device_context, nullptr);
  ASSERT_EQ(aclrtCreateContext(&first, 0), 0);
  ASSERT_EQ(aclrtGetCurrentContext(&current), 0);
  EXPECT_EQ(current, first);
  std::thread([&] {
    aclrtContext other = nullptr;
    EXPECT_EQ(aclrtGetCurrentContext(&other), 0);
    EXPECT_EQ(other, device_context);
    EXPECT_EQ(aclrtSetCurrentContext(first), 0);
    EXPECT_EQ(aclrtDestroyContext(first), 0);
    EXPECT_EQ(aclrtGetCurrentContext(&other), 0) << "back at the device's own";
  }).join();
  EXPECT_EQ(aclrtGetCurrentContext(&current), 107002) << "another thread destroyed it";
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCreateStream(&stream), 107002);
  EXPECT_EQ(aclrtSetCurrentContext(first), 107002);
  EXPECT_EQ(aclrtDestroyContext(first), 107002);
  EXPECT_EQ(aclrtDestroyContext(device_context), 100000);
  EXPECT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtGetCurrentContext(&current), 0);
  EXPECT_EQ(aclrtCreateContext(&first, 3), 100000);
  EXPECT_EQ(aclrtSetCurrentContext(nullptr), 107002);
}

TEST_F(Runtime, DeterminismIsReadAndWrittenAtBothLevels) {
  int64_t value = -1;
  EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), 0);
  EXPECT_EQ(value, 0) << "the default product's default";
  EXPECT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), 0);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), 0);
  EXPECT_EQ(value, 1) << "a context without its own follows the process";
  EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0), 0);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), 0);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), 0);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 2), 100000);
  EXPECT_EQ(aclrtCtxSetSysParamOpt(static_cast<aclSysParamOpt>(1), 0), 100000);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), 100000);
  aclFinalize();
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), 0);
  EXPECT_EQ(value, 0) << "aclFinalize ends both settings";
}

TEST_F(Runtime, ProductsAndTheirDefaults) {
  struct Row {
    const char* soc;
    int64_t deterministic;
  };
  EXPECT_STREQ(aclrtGetSocName(), "Ascend950");
  for (const Row& row : {Row{"Ascend950", 0}, Row{"Ascend910_93", 1}, Row{"Ascend910B", 1},
                         Row{"Ascend310B", 0}, Row{"Ascend310P", 0}, Row{"Ascend910", 0}}) {
    const ScopedSetting product("OPSCV_SOC", row.soc);
    int64_t value = -1;
    EXPECT_STREQ(aclrtGetSocName(), row.soc);
    EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), 0);
    EXPECT_EQ(value, row.deterministic) << row.soc;
  }
}

TEST_F(Runtime, AnUnknownProductIsAnErrorThatListsTheKnownOnes) {
  const ScopedSetting product("OPSCV_SOC", "Ascend9000");
  EXPECT_EQ(aclInit(nullptr), 100000);
  EXPECT_EQ(Message(),
            "EZ1001: aclInit: OPSCV_SOC must be one of Ascend950, Ascend910_93, Ascend910B, "
            "Ascend310B, Ascend310P, Ascend910, got 'Ascend9000'.");
  EXPECT_EQ(aclrtGetSocName(), nullptr);
  EXPECT_THAT(Message(), StartsWith("EZ1001: aclrtGetSocName: OPSCV_SOC must be one of"));
}

TEST_F(Runtime, TypesHaveSizes) {
  EXPECT_EQ(aclDataTypeSize(ACL_BOOL), 1u);
  EXPECT_EQ(aclDataTypeSize(ACL_BF16), 2u);
  EXPECT_EQ(aclDataTypeSize(ACL_FLOAT), 4u);
  EXPECT_EQ(aclDataTypeSize(ACL_INT64), 8u);
  EXPECT_EQ(aclDataTypeSize(ACL_COMPLEX128), 16u);
  EXPECT_EQ(aclDataTypeSize(ACL_DT_UNDEFINED), 0u);
  EXPECT_EQ(aclDataTypeSize(ACL_STRING), 0u);
}

}  // namespace
}  // namespace opscv::testing
