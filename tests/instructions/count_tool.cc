// SPDX-License-Identifier: Apache-2.0
// Runs a few small cases on one thread, each in a call of RunCounted, and prints their names in
// that order. tools/count_instructions.py counts what those calls execute.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "opscv/plan.h"

namespace {

using opscv::DType;
using Shape = std::vector<int64_t>;

struct Case {
  std::string op;
  DType dtype;
  bool channels_last;
  Shape before;  // N,C,spatial before the forward operator
  Shape after;   // the spatial extents after it
};

std::string Text(const Shape& shape) {
  std::string text;
  for (const int64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::string Name(const Case& c) {
  return c.op + " " + std::string(opscv::NameOf(c.dtype)) +
         (c.channels_last ? " channels last " : " ") + Text(c.before) + " " + Text(c.after);
}

std::vector<Case> Cases() {
  const std::string a = "UpsampleBicubic2dAA";
  const std::string b = "UpsampleNearestExact3d";
  const Shape image{1, 3, 96, 100};
  const Shape volume{1, 4, 12, 12, 36};
  return {
      {a + "Grad", DType::kFloat32, false, {1, 1, 8, 4}, {4, 2}},
      {a + "Grad", DType::kFloat32, false, image, {48, 50}},
      {a + "Grad", DType::kFloat32, false, image, {42, 43}},
      {a + "Grad", DType::kFloat32, false, image, {24, 25}},
      {a + "Grad", DType::kFloat32, false, image, {150, 160}},
      {a + "Grad", DType::kFloat32, true, image, {48, 50}},
      {a + "Grad", DType::kBFloat16, false, image, {48, 50}},
      {a + "Grad", DType::kFloat16, false, image, {48, 50}},
      {a, DType::kFloat32, false, image, {48, 50}},
      {a, DType::kFloat32, false, image, {150, 160}},
      {a, DType::kBFloat16, false, image, {48, 50}},
      {b + "Grad", DType::kFloat32, false, {2, 2, 1, 1, 1}, {2, 2, 2}},
      {b + "Grad", DType::kFloat32, false, volume, {24, 24, 72}},
      {b + "Grad", DType::kFloat32, false, volume, {20, 20, 100}},
      {b + "Grad", DType::kFloat32, true, volume, {24, 24, 72}},
      {b + "Grad", DType::kBFloat16, false, volume, {24, 24, 72}},
      {b, DType::kFloat32, false, volume, {24, 24, 72}},
      {b, DType::kFloat32, true, volume, {24, 24, 72}},
  };
}

opscv::TensorDesc Describe(const Case& c, Shape shape) {
  const bool last = c.channels_last;
  if (last) {
    const int64_t channels = shape[1];
    shape.erase(shape.begin() + 1);
    shape.push_back(channels);
  }
  return opscv::Contiguous(c.dtype, opscv::Dims(shape),
                           last ? opscv::Layout::kChannelsLast : opscv::Layout::kChannelsFirst);
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

// Zeros that begin with a page, so that counts do not depend on where the allocator puts them.
Memory Allocate(size_t bytes) {
  constexpr size_t kPage = 4096;
  const size_t whole = (bytes / kPage + 1) * kPage;
  Memory memory(std::aligned_alloc(kPage, whole));
  std::memset(memory.get(), 0, whole);
  return memory;
}

size_t Bytes(const opscv::TensorDesc& tensor) {
  int64_t bytes = opscv::SizeOf(tensor.dtype);
  for (const int64_t extent : tensor.shape.values()) bytes *= extent;
  return static_cast<size_t>(bytes);
}

}  // namespace

// Known to the counter by its name.
extern "C" __attribute__((noinline)) bool RunCounted(const opscv::Plan& plan, const void* input,
                                                     void* output, void* workspace) {
  return plan.Run(input, output, {.threads = 1, .workspace = workspace}).ok();
}

int main() {
  for (const Case& c : Cases()) {
    const bool gradient = c.op.ends_with("Grad");
    Shape after(c.before.begin(), c.before.begin() + 2);
    after.insert(after.end(), c.after.begin(), c.after.end());
    opscv::Spec spec(c.op);
    spec.Set("output_size", c.after);
    if (gradient) spec.Set("input_size", c.before);
    const opscv::TensorDesc input = Describe(c, gradient ? after : c.before);
    const opscv::TensorDesc output = Describe(c, gradient ? c.before : after);
    const auto plan = opscv::MakePlan(spec, input, output);
    if (!plan) return std::fprintf(stderr, "%s\n", plan.error().message().c_str()), 1;

    const Memory from = Allocate(Bytes(input));
    const Memory to = Allocate(Bytes(output));
    const Memory workspace = Allocate(static_cast<size_t>(plan->WorkspaceBytes(1)));
    // The first run resolves names of shared libraries.
    if (!plan->Run(from.get(), to.get(), {.threads = 1, .workspace = workspace.get()}).ok())
      return 1;
    if (!RunCounted(*plan, from.get(), to.get(), workspace.get())) return 1;
    std::puts(Name(c).c_str());
  }
  return 0;
}
