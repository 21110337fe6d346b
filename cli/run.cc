// SPDX-License-Identifier: Apache-2.0
// opscv run: an operator from a file into a file.
#include <memory>

#include "cli/command.h"
#include "cli/operation.h"

namespace opscv::cli {
namespace {

struct RunOptionsOfCommand {
  OperatorOptions op;
  CommonOptions common;
  std::string input;
  std::string output;
};

Exit Run(const RunOptionsOfCommand& options) {
  Operation operation = Prepare(options.op, options.common, options.input);
  // Before the output is begun: what is refused must not touch the disk.
  (void)PlanJob(operation.job, operation.input.storage, operation.output);
  TensorOutput output = CreateOutput(operation, options.output);
  const StreamStats stats = RunStream(operation.job, operation.input, output);
  output.bytes->Commit();

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
  CLI::App* run = app.add_subcommand("run", "run an operator from a file into a file");
  run->require_subcommand(1);
  for (const ops::OpInfo* info : AllOperators()) {
    CLI::App* sub = run->add_subcommand(std::string(info->name), std::string(info->doc));
    sub->ignore_case();
    auto options = std::make_shared<RunOptionsOfCommand>();
    sub->add_option("--input", options->input, std::string(info->input.doc) + "; a .npy file")
        ->required()
        ->type_name("FILE");
    sub->add_option("--output", options->output, std::string(info->output.doc) + "; a .npy file")
        ->required()
        ->type_name("FILE");
    AddOperatorOptions(*sub, *info, options->op);
    AddCommonOptions(*sub, options->common);
    sub->callback([options, &action] { action = [options] { return Run(*options); }; });
  }
}

}  // namespace opscv::cli
