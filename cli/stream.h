// SPDX-License-Identifier: Apache-2.0
// Runs an operator from a file into a file, box by box where the whole would not fit the memory
// that may be used. The bits are those of one piece. Knows nothing of file formats.
#ifndef OPSCV_CLI_STREAM_H_
#define OPSCV_CLI_STREAM_H_

#include <cstdint>
#include <functional>
#include <string>

#include "cli/tensor_file.h"
#include "opscv/plan.h"

namespace opscv::cli {

struct Job {
  Spec spec = Spec("");
  std::string subject;  // what failures begin with: the operator, and the file where there is one
  DType dtype = DType::kFloat32;  // to compute in
  Layout layout = Layout::kChannelsFirst;
  int threads = 0;     // 0: RunOptions's default
  int64_t memory = 0;  // bytes that the boxes may take
  // Whether the memory was asked for: less than the smallest boxes take is refused then.
  bool memory_asked = false;
  // Told of the share that is done, from 0 to 1.
  std::function<void(double)> progress;
};

struct StreamStats {
  double seconds = 0.0;  // in Plan::RunBox alone
  int64_t boxes = 0;
};

// Plans the job for tensors that lie as the storages say; InputFailure with the plan's sentence.
[[nodiscard]] Plan PlanJob(const Job& job, const Storage& input, const Storage& output);

// Plan::RunBox, timed in seconds. Failures of it become Failures of the command.
double RunBoxTimed(const Plan& plan, const Job& job, const Box& box, const char* input,
                   const Dims& input_origin, char* output);

// Computes the output; commits nothing.
StreamStats RunStream(const Job& job, TensorInput& input, TensorOutput& output);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_STREAM_H_
