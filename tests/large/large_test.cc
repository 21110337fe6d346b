// SPDX-License-Identifier: Apache-2.0
// Long axes, and views that reach over more than 2^31 elements through sparse memory.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstdint>

#include "tests/support/problem.h"

namespace opscv::testing {
namespace {

constexpr int64_t kMillion = int64_t{1} << 20;

void ExpectAccurate(const Problem& problem, uint64_t stream) {
  SCOPED_TRACE(SeedTrace() + " " + problem.Text());
  Random random(stream);
  TestTensor input(problem.dtype, problem.InputShape(), Form::kContiguous);
  TestTensor output(problem.dtype, problem.OutputShape(), Form::kContiguous);
  input.Fill(RandomValues(problem.dtype, input.size(), random));
  const Result<Plan> plan = MakePlan(problem.ToSpec(), input.desc(), output.desc());
  ASSERT_TRUE(plan.has_value()) << plan.error().message();
  ASSERT_TRUE(plan->Run(input.data(), output.data()).ok());
  const Worst worst = WorstError(problem, Reference(problem, input.Read()), output.Read());
  EXPECT_LE(worst.fraction, 1.0) << "element " << worst.element << " is " << worst.actual
                                 << ", the reference says " << worst.expected;
}

Problem Image(const char* op, int64_t in_h, int64_t in_w, int64_t out_h, int64_t out_w) {
  Problem problem;
  problem.info = *ops::FindOperator(op);
  problem.in = {in_h, in_w};
  problem.out = {out_h, out_w};
  problem.scales = {0.0, 0.0};
  return problem;
}

Problem Volume(const char* op, std::vector<int64_t> in, std::vector<int64_t> out) {
  Problem problem;
  problem.info = *ops::FindOperator(op);
  problem.in = std::move(in);
  problem.out = std::move(out);
  problem.scales = {0.0, 0.0, 0.0};
  return problem;
}

TEST(LongAxes, BicubicAlongW) {
  ExpectAccurate(Image("UpsampleBicubic2dAAGrad", 1, kMillion, 1, kMillion - 1), 31);
  ExpectAccurate(Image("UpsampleBicubic2dAA", 2, kMillion, 3, 1000), 32);
  ExpectAccurate(Image("UpsampleBicubic2dAAGrad", 2, 1000, 1, kMillion), 33);
}

TEST(LongAxes, BicubicAlongH) {
  ExpectAccurate(Image("UpsampleBicubic2dAAGrad", kMillion, 2, kMillion - 7, 3), 34);
  ExpectAccurate(Image("UpsampleBicubic2dAA", kMillion, 5, 1, 5), 35);
  ExpectAccurate(Image("UpsampleBicubic2dAAGrad", 3, 2, kMillion, 2), 36);
}

// Rows of outputs of more than 16 MiB are stored past the caches.
TEST(LargeOutputs, BicubicGradient) {
  Problem problem = Image("UpsampleBicubic2dAAGrad", 1500, 3000, 700, 1300);
  ExpectAccurate(problem, 41);
  problem.dtype = DType::kBFloat16;
  problem.in = {3000, 3008};
  ExpectAccurate(problem, 42);
}

TEST(LongAxes, NearestInEveryRule) {
  for (const IndexRule rule : {IndexRule::kAscend, IndexRule::kTorchCpu, IndexRule::kExact}) {
    Problem wide = Volume("UpsampleNearestExact3dGrad", {1, 1, 1000000}, {1, 1, kMillion});
    wide.rule = rule;
    ExpectAccurate(wide, 37);
    Problem deep = Volume("UpsampleNearestExact3dGrad", {kMillion, 2, 1}, {3 * kMillion, 1, 1});
    deep.rule = rule;
    ExpectAccurate(deep, 38);
    Problem forward = Volume("UpsampleNearestExact3d", {1, 7, 5}, {1, kMillion / 4, 3});
    forward.rule = rule;
    ExpectAccurate(forward, 39);
  }
}

// Address space that costs memory only where it is touched.
class SparseFloats {
 public:
  explicit SparseFloats(int64_t count)
      : bytes_(static_cast<size_t>(count) * sizeof(float)),
        memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~SparseFloats() { munmap(memory_, bytes_); }
  SparseFloats(const SparseFloats&) = delete;
  SparseFloats& operator=(const SparseFloats&) = delete;
  [[nodiscard]] bool ok() const { return memory_ != MAP_FAILED; }
  [[nodiscard]] float* data() const { return static_cast<float*>(memory_); }

 private:
  size_t bytes_;
  void* memory_;
};

void ExpectRuns(const Problem& problem, const TensorDesc& input, const void* in,
                const TensorDesc& output, void* out) {
  const Result<Plan> plan = MakePlan(problem.ToSpec(), input, output);
  ASSERT_TRUE(plan.has_value()) << plan.error().message();
  ASSERT_TRUE(plan->Run(in, out).ok());
}

// Runs on the values through the strides of `input` and `output`; fills `result`.
void RunThroughSparseMemory(const Problem& problem, const TensorDesc& input,
                            const TensorDesc& output, const std::vector<double>& values,
                            std::vector<double>& result) {
  const auto last = [](const std::vector<double>& of) {
    return static_cast<int64_t>(of.size()) - 1;
  };
  const SparseFloats in(OffsetOf(input, last(values)) + 1);
  const SparseFloats out(OffsetOf(output, last(result)) + 1);
  ASSERT_TRUE(in.ok() && out.ok());
  for (size_t i = 0; i < values.size(); ++i) {
    in.data()[OffsetOf(input, static_cast<int64_t>(i))] = static_cast<float>(values[i]);
  }
  ExpectRuns(problem, input, in.data(), output, out.data());
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = out.data()[OffsetOf(output, static_cast<int64_t>(i))];
  }
}

// A view of few elements with strides so long that their offsets need more than 31 bits, against
// the same elements lying together.
void ExpectSameThroughLongStrides(const Problem& problem, const Dims& in_strides,
                                  const Dims& out_strides) {
  SCOPED_TRACE(problem.Text());
  Random random(40);
  TestTensor input(DType::kFloat32, problem.InputShape(), Form::kContiguous);
  TestTensor output(DType::kFloat32, problem.OutputShape(), Form::kContiguous);
  input.Fill(RandomValues(DType::kFloat32, input.size(), random));
  ASSERT_NO_FATAL_FAILURE(
      ExpectRuns(problem, input.desc(), input.data(), output.desc(), output.data()));

  TensorDesc far_in = input.desc();
  TensorDesc far_out = output.desc();
  far_in.strides = in_strides;
  far_out.strides = out_strides;
  std::vector<double> result(static_cast<size_t>(output.size()));
  RunThroughSparseMemory(problem, far_in, far_out, input.Read(), result);
  EXPECT_EQ(result, output.Read());
}

TEST(LongStrides, BicubicGradient) {
  constexpr int64_t kRow = 300000007;  // elements; a few rows reach beyond 2^31
  ExpectSameThroughLongStrides(Image("UpsampleBicubic2dAAGrad", 10, 30, 12, 20), {0, 0, kRow, 1},
                               {0, 0, kRow, 3});
  constexpr int64_t kColumn = 100000007;
  ExpectSameThroughLongStrides(Image("UpsampleBicubic2dAAGrad", 5, 33, 6, 40), {0, 0, 1, kColumn},
                               {0, 0, 1, kColumn});
}

TEST(LongStrides, NearestGradientAndForward) {
  constexpr int64_t kSlice = 1000000007;
  ExpectSameThroughLongStrides(Volume("UpsampleNearestExact3dGrad", {3, 4, 5}, {6, 7, 9}),
                               {0, 0, kSlice, 20, 1}, {0, 0, kSlice, 20, 1});
  ExpectSameThroughLongStrides(Volume("UpsampleNearestExact3d", {6, 7, 9}, {3, 4, 15}),
                               {0, 0, kSlice, 20, 1}, {0, 0, kSlice, 20, 1});
}

// More than 2^31 elements in number, all of one stored value: an image of 46341 x 46341 seen
// through strides of 0, of which one far corner of the result is computed.
TEST(ManyElements, BoxAtTheFarEndOfAHugeView) {
  constexpr int64_t kSide = 46341;
  static_assert(kSide * kSide > INT32_MAX);
  const float one = 1.0F;
  const TensorDesc input = {
      .dtype = DType::kFloat32, .shape = {1, 1, kSide, kSide}, .strides = {0, 0, 0, 0}};
  const TensorDesc output = Contiguous(DType::kFloat32, {1, 1, kSide, kSide + 1});
  const Result<Plan> plan =
      MakePlan(Spec("UpsampleBicubic2dAA").Set("output_size", {kSide, kSide + 1}), input, output);
  ASSERT_TRUE(plan.has_value()) << plan.error().message();
  const SparseFloats memory(kSide * (kSide + 1));
  ASSERT_TRUE(memory.ok());
  const Box corner = {.begin = {0, 0, kSide - 2, kSide - 20}, .end = output.shape};
  const int64_t first = (kSide - 2) * (kSide + 1) + kSide - 20;
  ASSERT_TRUE(plan->RunBox(corner, &one, {0, 0, 0, 0}, memory.data() + first).ok());
  for (int64_t y = kSide - 2; y < kSide; ++y) {
    for (int64_t x = kSide - 20; x < kSide + 1; ++x) {
      ASSERT_NEAR(memory.data()[y * (kSide + 1) + x], 1.0F, 1e-6F) << y << "," << x;
    }
  }
  EXPECT_EQ(memory.data()[first - 1], 0.0F);
}

}  // namespace
}  // namespace opscv::testing
