// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <numeric>
#include <vector>

#include "opscv/plan.h"

int main() {
  std::vector<float> grad_out(224 * 224, 1.0f), grad_in(512 * 512);
  auto plan = opscv::MakePlan(opscv::Spec("UpsampleBicubic2dAAGrad")
                                  .Set("output_size", {224, 224})
                                  .Set("input_size", {1, 1, 512, 512}),
                              opscv::Contiguous(opscv::DType::kFloat32, {1, 1, 224, 224}),
                              opscv::Contiguous(opscv::DType::kFloat32, {1, 1, 512, 512}));
  auto done = plan ? plan->Run(grad_out.data(), grad_in.data()) : plan.error();
  if (!done.ok()) return std::fprintf(stderr, "%s\n", done.message().c_str()), 1;
  // Every sample of grad_out is shared out by weights whose sum is 1: 224 * 224 = 50176 in all.
  std::printf("sum of grad_in: %.1f\n", std::accumulate(grad_in.begin(), grad_in.end(), 0.0));
}
