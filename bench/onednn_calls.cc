// SPDX-License-Identifier: Apache-2.0
// oneDNN's nearest resampling and its gradient on plain ncdhw and ndhwc tensors.
#include <omp.h>

#include <dnnl.hpp>
#include <memory>

#include "bench/c_door.h"

namespace opscv::bench {
namespace {

using dnnl::memory;

struct Resampling {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::primitive primitive;
  memory input, output;
  bool gradient = false;
  std::string implementation;
};

memory::desc Describe(int dtype, bool channels_last, const int64_t* shape) {
  const auto type = dtype == kFloat32   ? memory::data_type::f32
                    : dtype == kFloat16 ? memory::data_type::f16
                                        : memory::data_type::bf16;
  const auto tag = channels_last ? memory::format_tag::ndhwc : memory::format_tag::ncdhw;
  return {memory::dims(shape, shape + 5), type, tag};
}

void Build(Resampling& self, const memory::desc& input, const memory::desc& output) {
  constexpr auto kNearest = dnnl::algorithm::resampling_nearest;
  const memory::desc& before = self.gradient ? output : input;
  const memory::desc& after = self.gradient ? input : output;
  const dnnl::resampling_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, kNearest, before, after}, self.engine);
  if (self.gradient) {
    const dnnl::resampling_backward::primitive_desc backward({kNearest, before, after}, self.engine,
                                                             forward);
    self.primitive = dnnl::resampling_backward(backward);
    self.implementation = backward.impl_info_str();
  } else {
    self.primitive = dnnl::resampling_forward(forward);
    self.implementation = forward.impl_info_str();
  }
  self.input = memory(input, self.engine, nullptr);
  self.output = memory(output, self.engine, nullptr);
}

void Run(Resampling& self) {
  if (self.gradient) {
    self.primitive.execute(self.stream,
                           {{DNNL_ARG_DIFF_DST, self.input}, {DNNL_ARG_DIFF_SRC, self.output}});
  } else {
    self.primitive.execute(self.stream, {{DNNL_ARG_SRC, self.input}, {DNNL_ARG_DST, self.output}});
  }
  self.stream.wait();
}

}  // namespace
}  // namespace opscv::bench

using opscv::bench::Resampling;

// "2.6.3".
OPSCV_BENCH_API const char* opscv_onednn_version() {
  static const std::string text = [] {
    const dnnl_version_t* version = dnnl_version();
    return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }();
  return text.c_str();
}

// Threads that oneDNN, and no other library with an OpenMP of its own, uses from now on.
OPSCV_BENCH_API void opscv_onednn_threads(int threads) { omp_set_num_threads(threads); }

// Null, with a sentence in `error`, where oneDNN has no such primitive.
OPSCV_BENCH_API void* opscv_onednn_plan(int gradient, int dtype, int channels_last,
                                        const int64_t* input_shape, const int64_t* output_shape,
                                        char* error) {
  namespace bench = opscv::bench;
  try {
    auto self = std::make_unique<Resampling>();
    self->gradient = gradient != 0;
    bench::Build(*self, bench::Describe(dtype, channels_last != 0, input_shape),
                 bench::Describe(dtype, channels_last != 0, output_shape));
    return self.release();
  } catch (const dnnl::error& failure) {
    bench::Tell(error, failure.what());
    return nullptr;
  }
}

// The name of the implementation that oneDNN chose.
OPSCV_BENCH_API const char* opscv_onednn_implementation(const void* job) {
  return static_cast<const Resampling*>(job)->implementation.c_str();
}

OPSCV_BENCH_API double opscv_onednn_run(void* job, void* input, void* output, int64_t repeat) {
  auto& self = *static_cast<Resampling*>(job);
  self.input.set_data_handle(input);
  self.output.set_data_handle(output);
  return opscv::bench::SecondsPerCall(repeat, [&] {
    opscv::bench::Run(self);
    return true;
  });
}

OPSCV_BENCH_API void opscv_onednn_drop(void* job) { delete static_cast<Resampling*>(job); }
