// SPDX-License-Identifier: Apache-2.0
// opscv run: an operator from a file into a file.
#include <nlohmann/json.hpp>

#include "cli/operation.h"
#include "cli/operator_command.h"
#include "cli/progress.h"

namespace opscv::cli {
namespace {

struct RunOptionsOfCommand {
  OperatorOptions op;
  CommonOptions common;
  std::string input;
  std::string output;
};

Exit Run(const RunOptionsOfCommand& options) {
  CheckOutputName(*options.op.info, options.output);
  Operation operation = Prepare(options.op, options.common, options.input);
  // Before the output is begun: what is refused must not touch the disk.
  const Plan plan = PlanJob(operation.job, operation.input.storage, operation.output);
  TensorOutput output = CreateOutput(operation, plan, options.output);
  StreamStats stats;
  {
    ProgressBar bar(std::string(operation.info->name), options.common.quiet);
    operation.job.progress = [&bar](double share) { bar.Show(share); };
    stats = RunStream(operation.job, operation.input, output);
  }
  output.bytes->Commit();
  NoteOrientation(options.common, operation.input);

  const double rate = stats.seconds > 0.0 ? BytesMoved(operation) / stats.seconds / 1e9 : 0.0;
  Json json = DescribeJson(operation);
  json["milliseconds"] = stats.seconds * 1e3;
  json["gigabytes_per_second"] = rate;
  json["output"] = options.output;
  Print(options.common, json,
        fmt::format("{}  {:.3f} ms  {:.2f} GB/s  written to {}", DescribeText(operation),
                    stats.seconds * 1e3, rate, options.output));
  return Exit::kOk;
}

}  // namespace

void AddRun(CLI::App& app, Action& action) {
  AddPerOperator<RunOptionsOfCommand>(
      app, "run", "run an operator from a file into a file", action,
      [](CLI::App& sub, const ops::OpInfo& info, RunOptionsOfCommand& options) {
        AddFile(sub, "--input", info.input, options.input);
        AddFile(sub, "--output", info.output, options.output);
        AddMemory(sub, options.common);
      },
      &Run);
}

}  // namespace opscv::cli
