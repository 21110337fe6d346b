// SPDX-License-Identifier: Apache-2.0
// Values through the two stages: views of every kind, types, workspaces, executors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/capi/device.h"
#include "tests/support/random.h"
#include "tests/support/tensor.h"

namespace opscv::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

class Operators : public ::testing::TestWithParam<Op> {
 protected:
  void TearDown() override { aclFinalize(); }
};
INSTANTIATE_TEST_SUITE_P(All, Operators, ::testing::ValuesIn(kOps),
                         [](const auto& info) { return std::string(FunctionName(info.param)); });

// A call with sizes that no axis treats alike, in the order N,C,spatial.
struct Sizes {
  Shape input;
  Shape output;
  Shape output_size;
  Shape input_size;
};

Sizes SizesOf(Op op, int64_t n = 2, int64_t c = 3) {
  const Shape small = IsVolume(op) ? Shape{3, 5, 7} : Shape{5, 7};
  const Shape large = IsVolume(op) ? Shape{5, 7, 19} : Shape{9, 19};
  Shape small_dims = {n, c};
  Shape large_dims = {n, c};
  small_dims.insert(small_dims.end(), small.begin(), small.end());
  large_dims.insert(large_dims.end(), large.begin(), large.end());
  if (IsGrad(op)) return {large_dims, small_dims, large, small_dims};
  return {small_dims, large_dims, large, {}};
}

aclFormat FormatOf(Op op) { return IsVolume(op) ? ACL_FORMAT_NCDHW : ACL_FORMAT_NCHW; }

std::vector<uint64_t> RandomBits(DType dtype, int64_t count, Random& random) {
  std::vector<uint64_t> bits(static_cast<size_t>(count));
  for (uint64_t& each : bits) each = ToBits(dtype, random.Normal());
  return bits;
}

// A complete call on tensors that the test makes.
class Call {
 public:
  Call(Op op, const Sizes& sizes, const View& in, const View& out, DType dtype, aclFormat format)
      : op_(op),
        input(in, dtype, format),
        output(out, dtype, format),
        output_size_(sizes.output_size),
        input_size_(sizes.input_size) {}
  Call(Op op, DType dtype = DType::kFloat32)
      : Call(op, SizesOf(op), Dense(SizesOf(op).input), Dense(SizesOf(op).output), dtype,
             FormatOf(op)) {}

  [[nodiscard]] StageOne Args() const {
    return {.input = input.handle(),
            .output_size = output_size_.get(),
            .input_size = input_size_.get(),
            .output = output.handle()};
  }
  [[nodiscard]] int Run() const { return RunAll(op_, Args()); }

 private:
  Op op_;

 public:
  DeviceTensor input;
  DeviceTensor output;

 private:
  Ints output_size_;
  Ints input_size_;
};

std::vector<uint64_t> DenseResult(Op op, DType dtype, const std::vector<uint64_t>& bits) {
  Call call(op, dtype);
  call.input.Write(bits);
  EXPECT_EQ(call.Run(), 0) << Message();
  return call.output.Read();
}

// Views of a tensor N,C,spatial that are not dense.
std::vector<View> Views(const Shape& dims) {
  std::vector<int> same;
  std::vector<int> channels_last = {0};
  std::vector<int> swapped = {1, 0};
  for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
    same.push_back(i);
    if (i >= 2) channels_last.push_back(i);
  }
  channels_last.push_back(1);
  for (int i = static_cast<int>(dims.size()) - 1; i >= 2; --i) swapped.push_back(i);
  return {Permuted(dims, same, 1, 13), Permuted(dims, same, 3, 5),
          Permuted(dims, channels_last, 1, 0), Permuted(dims, swapped, 2, 1), Reversed(dims)};
}

TEST_P(Operators, AnyViewGivesTheBitsOfCopyingFirst) {
  SCOPED_TRACE(SeedTrace());
  Random random(1);
  const Op op = GetParam();
  const Sizes sizes = SizesOf(op);
  for (const DType dtype : kTypes) {
    const auto bits = RandomBits(dtype, Dense(sizes.input).size(), random);
    const auto expected = DenseResult(op, dtype, bits);
    const std::vector<View> inputs = Views(sizes.input);
    const std::vector<View> outputs = Views(sizes.output);
    for (size_t i = 0; i < inputs.size(); ++i) {
      Call call(op, sizes, inputs[i], outputs[(i + 1) % outputs.size()], dtype, FormatOf(op));
      call.input.Write(bits);
      ASSERT_EQ(call.Run(), 0) << Message();
      EXPECT_EQ(call.output.Read(), expected) << "view " << i << " of " << NameOf(dtype);
      EXPECT_TRUE(call.output.GapsUntouched()) << "view " << i;
      EXPECT_EQ(call.input.Read(), bits);
    }
  }
}

// Element order N,C,spatial to N,spatial,C and back.
std::vector<uint64_t> ChannelsLast(const Shape& dims, const std::vector<uint64_t>& bits) {
  const Shape space(dims.begin() + 2, dims.end());
  const int64_t inner = Dense(space).size();
  std::vector<uint64_t> result(bits.size());
  for (int64_t i = 0; i < static_cast<int64_t>(bits.size()); ++i) {
    const int64_t s = i % inner;
    const int64_t c = i / inner % dims[1];
    const int64_t n = i / inner / dims[1];
    result[static_cast<size_t>((n * inner + s) * dims[1] + c)] = bits[static_cast<size_t>(i)];
  }
  return result;
}

Shape ChannelsLastDims(const Shape& dims) {
  Shape result = {dims[0]};
  result.insert(result.end(), dims.begin() + 2, dims.end());
  result.push_back(dims[1]);
  return result;
}

TEST_P(Operators, NdhwcGivesTheBitsOfNcdhw) {
  const Op op = GetParam();
  if (!IsVolume(op)) return;  // images have no such format: checks_test.cc
  SCOPED_TRACE(SeedTrace());
  Random random(2);
  const Sizes sizes = SizesOf(op);
  for (const DType dtype : kTypes) {
    const auto bits = RandomBits(dtype, Dense(sizes.input).size(), random);
    Call call(op, sizes, Dense(ChannelsLastDims(sizes.input)),
              Dense(ChannelsLastDims(sizes.output)), dtype, ACL_FORMAT_NDHWC);
    call.input.Write(ChannelsLast(sizes.input, bits));
    ASSERT_EQ(call.Run(), 0) << Message();
    EXPECT_EQ(call.output.Read(), ChannelsLast(sizes.output, DenseResult(op, dtype, bits)));
  }
}

// Calls are planned once for each set of values: later ones give the bits that a fresh process
// gives, on other data, with other calls in between that differ in strides alone or in scales
// alone.
TEST_P(Operators, RepeatedCallsGiveTheBitsOfTheFirst) {
  SCOPED_TRACE(SeedTrace());
  Random random(6);
  const Op op = GetParam();
  const Sizes sizes = SizesOf(op);
  const std::vector<View> inputs = Views(sizes.input);
  for (const DType dtype : kTypes) {
    for (int round = 0; round < 3; ++round) {
      const auto bits = RandomBits(dtype, Dense(sizes.input).size(), random);
      aclFinalize();
      const auto expected = DenseResult(op, dtype, bits);
      for (const View& view : inputs) {
        Call call(op, sizes, view, Dense(sizes.output), dtype, FormatOf(op));
        call.input.Write(bits);
        for (int repeat = 0; repeat < 2; ++repeat) {
          ASSERT_EQ(call.Run(), 0) << Message();
          EXPECT_EQ(call.output.Read(), expected) << "round " << round << " of " << NameOf(dtype);
        }
      }
      EXPECT_EQ(DenseResult(op, dtype, bits), expected);
    }
  }
}

TEST_P(Operators, ManyThreadsRepeatCalls) {
  SCOPED_TRACE(SeedTrace());
  const Op op = GetParam();
  Random random(7);
  const auto bits = RandomBits(DType::kFloat32, Dense(SizesOf(op).input).size(), random);
  const auto expected = DenseResult(op, DType::kFloat32, bits);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) {
        if (DenseResult(op, DType::kFloat32, bits) != expected) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Operators, FormatsThatSayNothingAreChannelsFirst) {
  Random random(3);
  const Op op = GetParam();
  const Sizes sizes = SizesOf(op);
  const auto bits = RandomBits(DType::kFloat32, Dense(sizes.input).size(), random);
  for (const aclFormat format : IsVolume(op) ? std::vector{ACL_FORMAT_ND, ACL_FORMAT_NCHW,
                                                           ACL_FORMAT_NCL, ACL_FORMAT_UNDEFINED}
                                             : std::vector{ACL_FORMAT_ND}) {
    Call call(op, sizes, Dense(sizes.input), Dense(sizes.output), DType::kFloat32, format);
    call.input.Write(bits);
    ASSERT_EQ(call.Run(), 0) << Message();
    EXPECT_EQ(call.output.Read(), DenseResult(op, DType::kFloat32, bits));
  }
}

// Memory that ends where a page begins that nobody may touch.
class GuardedBlock {
 public:
  explicit GuardedBlock(size_t size) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    inner_ = (size + page - 1) / page * page;
    total_ = inner_ + 2 * page;
    base_ =
        static_cast<char*>(mmap(nullptr, total_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + page, inner_, PROT_READ | PROT_WRITE);
    begin_ = base_ + page + inner_ - size;
  }
  ~GuardedBlock() { munmap(base_, total_); }
  GuardedBlock(const GuardedBlock&) = delete;
  GuardedBlock& operator=(const GuardedBlock&) = delete;
  [[nodiscard]] char* get() const { return begin_; }

 private:
  size_t inner_;
  size_t total_;
  char* base_;
  char* begin_;
};

TEST_P(Operators, TheWorkspaceToldIsEnoughAndIsUsed) {
  const Op op = GetParam();
  const Sizes sizes = SizesOf(op, 7, 11);
  Call call(op, sizes, Dense(sizes.input), Dense(sizes.output), DType::kFloat16, FormatOf(op));
  Random random(4);
  call.input.Write(RandomBits(DType::kFloat16, call.input.view().size(), random));
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(CallStageOne(op, call.Args(), &size, &executor), 0) << Message();
  EXPECT_EQ(size % 64, 0u);
  const GuardedBlock workspace(size);
  std::fill_n(workspace.get(), size, '\x5A');
  ASSERT_EQ(CallStageTwo(op, size == 0 ? nullptr : workspace.get(), size, executor, nullptr), 0);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  const bool touched = std::any_of(workspace.get(), workspace.get() + size,
                                   [](char byte) { return byte != '\x5A'; });
  EXPECT_EQ(touched, size > 0);
  EXPECT_TRUE(size > 0 || op == Op::kNearest) << "the forward copy alone needs none";
}

TEST_P(Operators, AnExecutorServesOnce) {
  const Op op = GetParam();
  const Call call(op);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(CallStageOne(op, call.Args(), &size, &executor), 0);
  const GuardedBlock workspace(size);
  ASSERT_EQ(CallStageTwo(op, workspace.get(), size, executor, nullptr), 0);
  EXPECT_EQ(CallStageTwo(op, workspace.get(), size, executor, nullptr), 161002);
  EXPECT_THAT(Message(), HasSubstr("one that is not repeatable ends with its use"));
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 161002);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(executor), 161002);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
}

TEST_P(Operators, ARepeatableExecutorServesUntilDestroyed) {
  const Op op = GetParam();
  Random random(5);
  Call call(op);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(CallStageOne(op, call.Args(), &size, &executor), 0);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
  const GuardedBlock workspace(size);
  for (int i = 0; i < 3; ++i) {
    const auto bits = RandomBits(DType::kFloat32, call.input.view().size(), random);
    call.input.Write(bits);
    ASSERT_EQ(CallStageTwo(op, workspace.get(), size, executor, nullptr), 0);
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
    EXPECT_EQ(call.output.Read(), DenseResult(op, DType::kFloat32, bits));
  }
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  EXPECT_EQ(CallStageTwo(op, workspace.get(), size, executor, nullptr), 161002);
  EXPECT_EQ(aclDestroyAclOpExecutor(nullptr), 161001);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(nullptr), 161001);
}

TEST_P(Operators, AddressesCanChange) {
  const Op op = GetParam();
  Random random(6);
  Call first(op);
  Call second(op);
  const auto bits = RandomBits(DType::kFloat32, second.input.view().size(), random);
  second.input.Write(bits);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(CallStageOne(op, first.Args(), &size, &executor), 0);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
  aclTensor* in = first.input.handle();
  aclTensor* out = first.output.handle();
  const GuardedBlock workspace(size);
  const auto stage_two = [&] { return CallStageTwo(op, workspace.get(), size, executor, nullptr); };
  ASSERT_EQ(aclSetInputTensorAddr(executor, 0, in, second.input.data()), 0);
  ASSERT_EQ(aclSetOutputTensorAddr(executor, 0, out, second.output.data()), 0);
  ASSERT_EQ(stage_two(), 0);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(second.output.Read(), DenseResult(op, DType::kFloat32, bits));
  EXPECT_TRUE(first.output.Untouched());

  EXPECT_EQ(aclSetInputTensorAddr(nullptr, 0, in, second.input.data()), 161001);
  EXPECT_EQ(aclSetInputTensorAddr(executor, 0, nullptr, second.input.data()), 161001);
  EXPECT_EQ(aclSetInputTensorAddr(executor, 0, in, nullptr), 161001);
  EXPECT_EQ(aclSetInputTensorAddr(executor, 1, in, second.input.data()), 161002);
  EXPECT_THAT(Message(), HasSubstr("index must be 0"));
  EXPECT_EQ(aclSetOutputTensorAddr(executor, 0, in, second.output.data()), 161002);
  EXPECT_THAT(Message(), HasSubstr("must have the shape, strides and offset"));
  ASSERT_EQ(aclSetOutputTensorAddr(executor, 0, out, second.input.data()), 0);
  EXPECT_EQ(stage_two(), 161002);
  EXPECT_THAT(Message(), HasSubstr("must share no memory with"));
  ASSERT_EQ(aclSetOutputTensorAddr(executor, 0, out, static_cast<char*>(second.output.data()) + 1),
            0);
  EXPECT_EQ(stage_two(), 161002);
  EXPECT_THAT(Message(), HasSubstr("multiple of its elements' 4 bytes"));
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
}

TEST_P(Operators, StageTwoRefusesWhatItCannotRun) {
  const Op op = GetParam();
  const std::string prefix = std::string("EZ1001: ") + FunctionName(op) + ": ";
  const Op other = op == Op::kBicubic ? Op::kNearestGrad : Op::kBicubic;
  Call call(op);
  call.input.Write(std::vector<uint64_t>(static_cast<size_t>(call.input.view().size()), 0));
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(CallStageOne(op, call.Args(), &size, &executor), 0);
  const GuardedBlock workspace(size + 64);
  aclrtStream gone = nullptr;
  ASSERT_EQ(aclrtCreateStream(&gone), 0);
  ASSERT_EQ(aclrtDestroyStream(gone), 0);

  EXPECT_EQ(CallStageTwo(op, workspace.get(), size, nullptr, nullptr), 161001);
  EXPECT_EQ(Message(), prefix + "executor must not be null.");
  EXPECT_EQ(
      CallStageTwo(op, workspace.get(), size, reinterpret_cast<aclOpExecutor*>(&size), nullptr),
      161002);
  EXPECT_THAT(Message(), StartsWith(prefix + "executor must be an executor"));
  EXPECT_EQ(CallStageTwo(other, workspace.get(), size, executor, nullptr), 161002);
  EXPECT_THAT(Message(), HasSubstr(std::string("got one of ") + FunctionName(op)));
  EXPECT_EQ(CallStageTwo(op, workspace.get(), size, executor, gone), 161002);
  EXPECT_THAT(Message(), StartsWith(prefix + "stream must be a stream of this process"));
  if (size > 0) {
    EXPECT_EQ(CallStageTwo(op, workspace.get(), size - 1, executor, nullptr), 161002);
    EXPECT_THAT(Message(), StartsWith(prefix + "workspaceSize must be >= "));
    EXPECT_EQ(CallStageTwo(op, nullptr, size, executor, nullptr), 161002);
    EXPECT_THAT(Message(), StartsWith(prefix + "workspace must not be null"));
    EXPECT_EQ(CallStageTwo(op, workspace.get() + 4, size, executor, nullptr), 161002);
    EXPECT_THAT(Message(), StartsWith(prefix + "workspace must be aligned to 64 bytes"));
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_TRUE(call.output.Untouched()) << "nothing may have run";
  EXPECT_EQ(CallStageTwo(op, workspace.get(), size, executor, nullptr), 0)
      << "a refusal does not use the executor up: " << Message();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_FALSE(call.output.Untouched());
}

TEST_P(Operators, DataMayComeAfterStageOne) {
  const Op op = GetParam();
  const Sizes sizes = SizesOf(op);
  const Call call(op);
  const auto no_data = [&](const Shape& dims) {
    return aclCreateTensor(dims.data(), dims.size(), ACL_FLOAT, nullptr, 0, FormatOf(op), nullptr,
                           0, nullptr);
  };
  StageOne args = call.Args();
  args.input = no_data(sizes.input);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(CallStageOne(op, args, &size, &executor), 0) << Message();
  const GuardedBlock workspace(size);
  EXPECT_EQ(CallStageTwo(op, workspace.get(), size, executor, nullptr), 161002);
  EXPECT_THAT(Message(), HasSubstr("must have a data address by now, got null"));
  ASSERT_EQ(aclSetInputTensorAddr(executor, 0, args.input, call.input.data()), 0);
  EXPECT_EQ(CallStageTwo(op, workspace.get(), size, executor, nullptr), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
}

TEST_P(Operators, TwoThreadsCannotBothUseAnExecutor) {
  const Op op = GetParam();
  const Call call(op);
  for (int round = 0; round < 20; ++round) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(CallStageOne(op, call.Args(), &size, &executor), 0);
    const GuardedBlock workspace(size);
    std::atomic<int> accepted = 0;
    const auto use = [&] {
      if (CallStageTwo(op, workspace.get(), size, executor, nullptr) == 0) ++accepted;
    };
    std::thread other(use);
    use();
    other.join();
    EXPECT_EQ(accepted, 1);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  }
}

TEST_P(Operators, EmptyBatchesOfVolumesAreFine) {
  const Op op = GetParam();
  if (!IsVolume(op)) return;  // images refuse them: checks_test.cc
  for (const auto& [n, c] : {std::pair<int64_t, int64_t>{0, 3}, {2, 0}}) {
    const Sizes sizes = SizesOf(op, n, c);
    const Call call(op, sizes, Dense(sizes.input), Dense(sizes.output), DType::kFloat32,
                    ACL_FORMAT_NCDHW);
    uint64_t size = 99;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(CallStageOne(op, call.Args(), &size, &executor), 0) << Message();
    EXPECT_EQ(size, 0u);
    ASSERT_NE(executor, nullptr);
    EXPECT_EQ(CallStageTwo(op, nullptr, 0, executor, nullptr), 0) << Message();
    EXPECT_EQ(CallStageTwo(op, nullptr, 0, executor, nullptr), 161002);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  }
}

// Output 5 of 11 <- 26 is a tie, which the rules resolve differently.
TEST(IndexRule, IsChosenByTheEnvironment) {
  const auto run = [] {
    DeviceTensor input(Dense({1, 1, 1, 1, 11}), DType::kFloat32, ACL_FORMAT_NCDHW);
    DeviceTensor output(Dense({1, 1, 1, 1, 26}), DType::kFloat32, ACL_FORMAT_NCDHW);
    std::vector<uint64_t> bits;
    for (int i = 0; i < 11; ++i) bits.push_back(ToBits(DType::kFloat32, i));
    input.Write(bits);
    const Ints output_size({1, 1, 11});
    const Ints input_size({1, 1, 1, 1, 26});
    EXPECT_EQ(RunAll(Op::kNearestGrad, {.input = input.handle(),
                                        .output_size = output_size.get(),
                                        .input_size = input_size.get(),
                                        .output = output.handle()}),
              0)
        << Message();
    return FromBits(DType::kFloat32, output.Read()[13]);
  };
  EXPECT_EQ(run(), 5.0) << "ascend";
  {
    const ScopedSetting rule("OPSCV_INDEX_RULE", "torch_cpu");
    EXPECT_EQ(run(), 0.0);
  }
  {
    const ScopedSetting rule("OPSCV_INDEX_RULE", "exact");
    EXPECT_EQ(run(), 5.0);
  }
  aclFinalize();
}

TEST(IndexRule, AnUnknownOneIsAnErrorThatListsTheKnownOnes) {
  const ScopedSetting rule("OPSCV_INDEX_RULE", "nearest");
  const Call call(Op::kNearestGrad);
  const Call image(Op::kBicubicGrad);
  uint64_t size = 7;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(CallStageOne(Op::kNearestGrad, call.Args(), &size, &executor), 161002);
  EXPECT_EQ(Message(),
            "EZ1001: aclnnUpsampleNearestExact3dBackwardGetWorkspaceSize: OPSCV_INDEX_RULE must be "
            "one of ascend, torch_cpu, exact, got 'nearest'.");
  EXPECT_EQ(size, 7u);
  EXPECT_EQ(executor, nullptr);
  EXPECT_EQ(CallStageOne(Op::kBicubicGrad, image.Args(), &size, &executor), 0)
      << "an operator without a rule does not ask: " << Message();
}

}  // namespace
}  // namespace opscv::testing
