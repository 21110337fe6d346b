// SPDX-License-Identifier: Apache-2.0
// The bits of fixed calls, recorded on AVX2: a processor of another kind must come to the same. A
// change that means to alter bits (docs/arithmetic.md) records them anew from what a failure
// prints.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "tests/support/problem.h"
#include "tests/support/targets.h"

namespace opscv::testing {
namespace {

constexpr std::array kTypes = {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16};
constexpr std::array kForms = {Form::kContiguous, Form::kChannelsLast, Form::kNegative,
                               Form::kStrided};

struct Record {
  std::string name;
  std::string forward;  // the operator that leads from `in` to `out`; its gradient leads back
  Problem problem;      // all but operator and type
  std::vector<uint64_t> hashes;  // forward by kTypes, then gradient by kTypes
};

void PrintTo(const Record& record, std::ostream* out) { *out << record.name; }

constexpr char kBicubic[] = "UpsampleBicubic2dAA";
constexpr char kNearest[] = "UpsampleNearestExact3d";

std::vector<Record> Records() {
  return {
      {"bicubic_smaller",
       kBicubic,
       {.n = 2, .c = 3, .in = {37, 53}, .out = {11, 17}, .scales = {0, 0}},
       {0xd0d01f3ca5bc2030, 0x9dd1fb13d2ac6a62, 0x3afc2c23be1f775c, 0x61c90a8789d4aaf1,
        0xbc026b3a9ceac2ff, 0x5a33973dfd393642, 0x8ab67ad023df4d45, 0xe63872f7bc74e698}},
      {"bicubic_larger",
       kBicubic,
       {.c = 2, .in = {9, 13}, .out = {31, 47}, .scales = {0, 0}},
       {0xf21c68aa5814d625, 0x160fe2746956e10a, 0x94ee2991726698bf, 0x9be3df8d954d9975,
        0x7a1cb1c38cfbf806, 0x5c1feb0fee8bfb58, 0xf3c555deea03895d, 0xf5b7c746b3f6a5b0}},
      {"bicubic_smaller_and_larger",
       kBicubic,
       {.c = 5, .in = {64, 7}, .out = {15, 40}, .scales = {0, 0}},
       {0xb613b093ddb9f5d1, 0x8b64418a6b1bf94d, 0xe14ab3152b3f64ff, 0x7e0d674be8e4952a,
        0xa81d2e6c3cf666bd, 0x9b3624f463681811, 0xb699680e03de6eb1, 0x4c0f8a99e8c0815d}},
      {"bicubic_larger_and_equal",
       kBicubic,
       {.n = 3, .in = {12, 19}, .out = {30, 19}, .scales = {0, 0}},
       {0x4c6de695ab53b639, 0xd97d83f28cea6fc0, 0x6d1e78efe153fdb3, 0x49c0006e8c5790fe,
        0x87268072dca14a3c, 0xe1a51d63c6ae338a, 0x660aeefc1d5c1bba, 0x96a57006f561bac2}},
      {"bicubic_align_corners",
       kBicubic,
       {.n = 2, .in = {20, 33}, .out = {45, 12}, .align_corners = true, .scales = {0, 0}},
       {0x8a19d22e0ed1a0d8, 0x1782301543e80f72, 0xf5379eed042ca1af, 0xeb4dd7b6c00f593e,
        0x5e410d56808d5dcc, 0x32f2f9c1a2d6b190, 0x0e58252a7fc6ab6a, 0x9863e9d9d5d8db1d}},
      {"bicubic_scales",
       kBicubic,
       {.c = 2, .in = {24, 30}, .out = {36, 20}, .scales = {1.53, 0.68}},
       {0x83e06ef0716645ac, 0x79ce0e6b4b511558, 0xb829ca34550d0409, 0x0e9bf7148540d398,
        0xa87c0209fda48841, 0x143404a3f1cac8af, 0x77a615857677fb9c, 0xf3d6449e7acc942c}},
      {"bicubic_sums_of_many",
       kBicubic,
       {.c = 2, .in = {130, 310}, .out = {3, 7}, .scales = {0, 0}},
       {0xac713f7f065d7ff1, 0xfce6713c0b7eb5c7, 0x86b20508d5bcade3, 0xb222e5f77f08153d,
        0xd5dfb82f8cf1e625, 0xcb7ec46d873d5e42, 0x50a033589c0592bc, 0x2c2ebd4ee16d618c}},
      {"bicubic_sums_of_many_rows",
       kBicubic,
       {.c = 3, .in = {150, 23}, .out = {4, 50}, .scales = {0, 0}},
       {0xa3817317d64516da, 0x2057edecb5d42621, 0x959710d19df63da9, 0xa0a23aef9aa66042,
        0x7c1f4f03c2bd8e2b, 0x401dcff6917b4157, 0x473523ab6459b8dc, 0x63436f5c116f0b84}},
      {"bicubic_many_channels",
       kBicubic,
       {.c = 41, .in = {13, 10}, .out = {7, 16}, .scales = {0, 0}},
       {0x149ab41c9e5a23d1, 0x24a616da4d34915b, 0x424012b62d2441a0, 0xccbbfec082e03d16,
        0x88b9c8ef5f3e87d5, 0x76c2952f4b2a3f66, 0x3abfbab266cc814c, 0x215593ddfce9be72}},
      {"bicubic_to_one",
       kBicubic,
       {.n = 2, .c = 2, .in = {8, 35}, .out = {1, 1}, .scales = {0, 0}},
       {0x10b20e37f6f4270c, 0x11d4f8165413b572, 0xe07dc48bbfb41d8a, 0x8368062c8888f4cc,
        0xf0035ff88121cbe1, 0xe2cf65efdd351301, 0x2cb60e87e8ef3ac1, 0x3342d71f51f74005}},
      {"nearest_smaller",
       kNearest,
       {.n = 2, .c = 3, .in = {9, 20, 31}, .out = {4, 7, 11}, .scales = {0, 0, 0}},
       {0xbf681a0dea2c9c97, 0x0ed9b0b8a650cdcb, 0x8639eddfe6029a15, 0x5134276f485e78c2,
        0xb862cb4350cb62cb, 0xedbc19146d2d50fc, 0x1a933168b15a5fec, 0x48142ace4f48a8df}},
      {"nearest_larger",
       kNearest,
       {.c = 2, .in = {3, 5, 7}, .out = {8, 9, 40}, .scales = {0, 0, 0}},
       {0x071617b847687588, 0x93140a6ab670a9f9, 0x8f6e3b41dc21723b, 0x84a3320ef0deb3cf,
        0x33056a6b584647e3, 0xe00941583ae44bd0, 0x980baf36ac84eb0e, 0x9d3715ec608e7edb}},
      {"nearest_scales",
       kNearest,
       {.c = 2, .in = {6, 10, 21}, .out = {9, 4, 30}, .scales = {1.53, 0.43, 1.44}},
       {0xc057abdb5b2349de, 0x801f2df7da6fbd12, 0xb88278707029a80d, 0x1134a6408f29526e,
        0xd19dab39042d3b78, 0xa7c24f1abe1ee8e7, 0xb0a40abc01c34c8e, 0x78a5d5a194dd1d45}},
      {"nearest_torch_cpu",
       kNearest,
       {.n = 2,
        .in = {7, 13, 17},
        .out = {5, 30, 6},
        .scales = {0, 0, 0},
        .rule = IndexRule::kTorchCpu},
       {0x8b8b34f3f437236a, 0xb4962159c66dd447, 0xf7d47f4c7e497895, 0xf9323f09a0a3daf6,
        0xa2ea67a7fc6bf348, 0xee58b6bb4f27453b, 0x3937e9bb943d252e, 0x33227836900f9692}},
      {"nearest_exact",
       kNearest,
       {.c = 3,
        .in = {5, 6, 25},
        .out = {7, 3, 60},
        .scales = {0, 0, 0},
        .rule = IndexRule::kExact},
       {0xc2abfc956c75f6ba, 0x67972be972184886, 0x2349a7f1b2081f9e, 0x48d277ca976e4d24,
        0x1cd04a0291c8a370, 0x578ac465044d8329, 0x9c568fd8e2e88978, 0xe790c8a6d1b4d2f2}},
      {"nearest_sums_of_many",
       kNearest,
       {.c = 2, .in = {1, 2, 3}, .out = {9, 19, 205}, .scales = {0, 0, 0}},
       {0x831a66f38142cea9, 0x14f295207c5fa2d2, 0x3bf6b38d3599170e, 0xcd2a6a9ec163f947,
        0xbae3412bf58f86ce, 0x06c7064635ef9445, 0xa8aba3904dc43d95, 0x718668464a788a36}},
      {"nearest_many_channels",
       kNearest,
       {.c = 41, .in = {3, 4, 6}, .out = {5, 9, 13}, .scales = {0, 0, 0}},
       {0x1b170c7430943e0e, 0xbd43e39471d63c73, 0x1b231d4b112e2c73, 0x0597916a2277e645,
        0xbacecfc5a2401119, 0xac87adb5e7538075, 0xc692c87f310c026a, 0x8b90adba00ed4c62}},
  };
}

// A finite double of any sign and of magnitudes from 2^-8 to 2^4, by integer arithmetic alone
// (SplitMix64): no library's distribution decides what is recorded.
double NextValue(uint64_t& state) {
  uint64_t bits = state += 0x9E3779B97F4A7C15;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  bits ^= bits >> 31;
  const uint64_t exponent = 1023 - 8 + bits % 12;
  const uint64_t sign_and_mantissa = bits & 0x800FFFFFFFFFFFFF;
  return FromBits(DType::kFloat64, sign_and_mantissa | exponent << 52);
}

// FNV-1a over the bits as bytes, the least significant first.
uint64_t HashOf(const std::vector<uint64_t>& elements) {
  uint64_t hash = 0xCBF29CE484222325;
  for (uint64_t element : elements) {
    for (int byte = 0; byte < 8; ++byte, element >>= 8) {
      hash = (hash ^ (element & 0xFF)) * 0x100000001B3;
    }
  }
  return hash;
}

uint64_t HashOfResult(const Problem& problem, Form form) {
  TestTensor input(problem.dtype, problem.InputShape(), form);
  std::vector<double> values(static_cast<size_t>(input.size()));
  uint64_t state = values.size();
  std::generate(values.begin(), values.end(), [&] { return NextValue(state); });
  input.Fill(values);
  TestTensor output(problem.dtype, problem.OutputShape(), form);
  const Result<Plan> plan = MakePlan(problem.ToSpec(), input.desc(), output.desc());
  EXPECT_TRUE(plan.has_value()) << plan.error().message();
  if (!plan) return 0;
  const Status status = plan->Run(input.data(), output.data());
  EXPECT_TRUE(status.ok()) << status.message();
  return HashOf(output.Bits());
}

const ops::OpPair* FindPair(const std::string& forward) {
  for (const ops::OpPair* pair : ops::AllPairs()) {
    if (pair->forward.name == forward) return pair;
  }
  return nullptr;
}

class RecordedBits : public ::testing::TestWithParam<Record> {
 protected:
  void TearDown() override { ASSERT_TRUE(kernels::PinTarget("").ok()); }
};

INSTANTIATE_TEST_SUITE_P(Calls, RecordedBits, ::testing::ValuesIn(Records()),
                         [](const auto& info) { return info.param.name; });

TEST_P(RecordedBits, AreTheSameOnEveryTarget) {
  const ops::OpPair* pair = FindPair(GetParam().forward);
  ASSERT_NE(pair, nullptr);
  Problem problem = GetParam().problem;
  for (const kernels::Target& target : TargetsOfDefinedBits(pair->forward)) {
    ASSERT_TRUE(kernels::PinTarget(target.name).ok());
    for (const Form form : kForms) {
      std::vector<uint64_t> hashes;
      for (const ops::OpInfo* info : {&pair->forward, &pair->backward}) {
        problem.info = info;
        for (const DType dtype : kTypes) {
          problem.dtype = dtype;
          hashes.push_back(HashOfResult(problem, form));
        }
      }
      ASSERT_EQ(GetParam().hashes, hashes)
          << GetParam().name << " on " << target.name << ", " << NameOf(form) << ": "
          << fmt::format("{:#018x}", fmt::join(hashes, ", "));
    }
  }
}

TEST(Records, OfEveryOperator) {
  std::set<std::string> recorded;
  for (const Record& record : Records()) recorded.insert(record.forward);
  for (const ops::OpPair* pair : ops::AllPairs()) {
    EXPECT_TRUE(recorded.contains(std::string(pair->forward.name))) << pair->forward.name;
  }
}

}  // namespace
}  // namespace opscv::testing
