// SPDX-License-Identifier: Apache-2.0
// PyTorch's gradients called from C++. The driver compiles this against the PyTorch it measures.
#include <ATen/Functions.h>
#include <c10/core/InferenceMode.h>

#include <chrono>
#include <cstdint>

namespace {

struct Call {
  at::Tensor grad_out, grad_in;
  at::IntArrayRef output_size, input_size;
};

void Allocating(const Call& call) {
  if (call.grad_in.dim() == 5) {
    at::_upsample_nearest_exact3d_backward(call.grad_out, call.output_size, call.input_size);
  } else {
    at::_upsample_bicubic2d_aa_backward(call.grad_out, call.output_size, call.input_size, false);
  }
}

void Into(Call& call) {
  if (call.grad_in.dim() == 5) {
    at::_upsample_nearest_exact3d_backward_out(call.grad_in, call.grad_out, call.output_size,
                                               call.input_size);
  } else {
    at::_upsample_bicubic2d_aa_backward_out(call.grad_in, call.grad_out, call.output_size,
                                            call.input_size, false);
  }
}

at::Tensor Wrap(void* data, const int64_t* shape, int rank) {
  return at::from_blob(data, at::IntArrayRef(shape, static_cast<size_t>(rank)), at::kFloat);
}

}  // namespace

// Seconds that a gradient of float32 tensors N,C,spatial takes, by the allocating form or, with
// `into`, by the one that writes to a given tensor.
extern "C" __attribute__((visibility("default"))) double opscv_torch_run(
    int rank, const int64_t* grad_out_shape, const int64_t* grad_in_shape, void* grad_out,
    void* grad_in, int into, int64_t repeat) {
  const c10::InferenceMode guard;
  Call call{Wrap(grad_out, grad_out_shape, rank), Wrap(grad_in, grad_in_shape, rank),
            at::IntArrayRef(grad_out_shape + 2, static_cast<size_t>(rank) - 2),
            at::IntArrayRef(grad_in_shape, static_cast<size_t>(rank))};
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < repeat; ++i) {
    if (into != 0) {
      Into(call);
    } else {
      Allocating(call);
    }
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / static_cast<double>(repeat);
}
