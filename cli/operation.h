// SPDX-License-Identifier: Apache-2.0
// An operator on a file: the input opened, types and shapes settled, nothing computed yet.
#ifndef OPSCV_CLI_OPERATION_H_
#define OPSCV_CLI_OPERATION_H_

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/operator_options.h"
#include "cli/stream.h"
#include "cli/tensor_file.h"

namespace opscv::cli {

struct Operation {
  const ops::OpInfo* info = nullptr;
  Job job;
  TensorInput input;
  Storage output;              // as it will be computed
  bool keeps_scaling = false;  // elements are copied with the slope and intercept of their file
  int added_dims = 0;          // leading dimensions of one element that the file itself lacks
};

// Opens the input and settles everything that the options say. A file with fewer dimensions than
// the operator needs gets leading ones of one element, N first.
[[nodiscard]] Operation Prepare(const OperatorOptions& options, const CommonOptions& common,
                                const std::string& input_path);

// The same without a file: for a contiguous tensor of that shape, float32 where no type is asked
// for. An empty shape stands for the one that a gradient's attributes give. The input has no bytes.
[[nodiscard]] Operation PrepareShape(const OperatorOptions& options, const CommonOptions& common,
                                     const std::vector<int64_t>& shape);

// The same for a call that is read already.
[[nodiscard]] Operation Settle(const ops::OpInfo& info, const Spec& spec, DType dtype,
                               const Dims& shape);

// Begins the output file; a .npy has as many dimensions as the input file has.
[[nodiscard]] TensorOutput CreateOutput(const Operation& operation, const Plan& plan,
                                        const std::string& path);

// What a file brings to an operator, for other ways of running one.
//
// InputFailure where a gradient would be read from an image.
void RefuseImageOfGradient(const ops::OpInfo& info, const std::string& path);
// Refuses, before any work, a name for the output that no format has (UsageFailure) and an image
// for a gradient (InputFailure).
void CheckOutputName(const ops::OpInfo& info, const std::string& path);
// The shortest floating type that holds every value, float32 at least.
[[nodiscard]] DType FloatFor(const Encoding& encoding);
[[nodiscard]] bool Takes(const ops::OpInfo& info, DType dtype);
// Gives a .npy tensor with fewer dimensions than `rank` leading ones of one element, N first; how
// many.
int AddMissingDims(TensorInput& input, int rank, Layout layout);
// How far a sample of the output steps over the input, along x, y, z.
[[nodiscard]] Spatial StepOf(const ops::OpInfo& info, const Plan& plan);

[[nodiscard]] std::string ShapeText(const Dims& shape);

// Operator, type, shapes: the beginning of every report.
[[nodiscard]] Json DescribeJson(const Operation& operation);
[[nodiscard]] std::string DescribeText(const Operation& operation);

// Says on stderr, unless it is to be quiet, that an image is taken as it lies although its file
// asks for it to be turned.
void NoteOrientation(const CommonOptions& common, const TensorInput& input);

// Bytes of input and output together.
[[nodiscard]] double BytesMoved(const Operation& operation);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_OPERATION_H_
