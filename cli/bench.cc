// SPDX-License-Identifier: Apache-2.0
// opscv bench: how long an operator takes on data in memory.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

#include "cli/boxes.h"
#include "cli/operator_command.h"
#include "cli/progress.h"
#include "cli/shape_options.h"
#include "cli/words.h"
#include "opscv/targets.h"

namespace opscv::cli {
namespace {

struct BenchOptions : ShapeOptions {
  double seconds = 1.0;
};

constexpr size_t kFewestRuns = 5;

// Values in [-1, 1), the same every time.
std::vector<char> MakeValues(DType dtype, int64_t count) {
  const auto size = static_cast<size_t>(SizeOf(dtype));
  std::vector<char> values(static_cast<size_t>(count) * size);
  uint64_t state = 1;
  for (size_t i = 0; i < values.size() / size; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX generator
    FromDouble(static_cast<double>(static_cast<int64_t>(state)) * 0x1p-63, dtype,
               &values[i * size]);
  }
  return values;
}

// The input's values: those of the file, where there is one.
std::vector<char> Load(Operation& operation) {
  const DType dtype = operation.job.dtype;
  const Storage& storage = operation.input.storage;
  const Box whole = WholeOf(storage.shape);
  if (operation.input.bytes == nullptr) return MakeValues(dtype, ElementsOf(whole));
  std::vector<char> values(static_cast<size_t>(ElementsOf(whole) * SizeOf(dtype)));
  ReadBox(operation.input, whole, dtype, storage.strides, values.data());
  return values;
}

std::vector<double> Measure(const Plan& plan, const Operation& operation,
                            const std::vector<char>& input, std::vector<char>& output,
                            const BenchOptions& options) {
  const Box box = WholeOf(operation.output.shape);
  const auto run = [&] {
    return RunBoxTimed(plan, operation.job, box, input.data(), box.begin, output.data());
  };
  run();  // the first run meets cold caches and threads that sleep
  std::vector<double> times;
  double spent = 0.0;
  ProgressBar bar("bench", options.common.quiet);
  while (times.size() < kFewestRuns || spent < options.seconds) {
    times.push_back(run());
    spent += times.back();
    bar.Show(spent / options.seconds);
  }
  std::sort(times.begin(), times.end());
  return times;
}

Exit Bench(const BenchOptions& options) {
  Operation operation = PrepareEither(options);
  const Plan plan = PlanJob(operation.job, operation.input.storage, operation.output);
  const std::vector<char> input = Load(operation);
  std::vector<char> output(static_cast<size_t>(ElementsOf(WholeOf(operation.output.shape)) *
                                               SizeOf(operation.job.dtype)));
  const std::vector<double> times = Measure(plan, operation, input, output, options);

  const double best = times.front();
  const double median = times[times.size() / 2];
  const double gigabytes = BytesMoved(operation) / 1e9;
  const int threads = operation.job.threads > 0 ? operation.job.threads : DefaultThreadCount();
  Json json = DescribeJson(operation);
  json["target"] = plan.Facts().target;
  json["threads"] = threads;
  json["runs"] = times.size();
  json["best_milliseconds"] = best * 1e3;
  json["median_milliseconds"] = median * 1e3;
  json["best_gigabytes_per_second"] = gigabytes / best;
  json["median_gigabytes_per_second"] = gigabytes / median;
  Print(options.common, json,
        fmt::format("{}\n{} runs on {} threads, {}: best {:.4f} ms, {:.2f} GB/s; median {:.4f} ms, "
                    "{:.2f} GB/s",
                    DescribeText(operation), times.size(), threads, plan.Facts().target, best * 1e3,
                    gigabytes / best, median * 1e3, gigabytes / median));
  return Exit::kOk;
}

}  // namespace

void AddBench(CLI::App& app, Action& action) {
  AddPerOperator<BenchOptions>(
      app, "bench", "measure an operator on data in memory", action,
      [](CLI::App& sub, const ops::OpInfo& info, BenchOptions& options) {
        AddShapeOptions(sub, info, options);
        AddWord(sub, "--seconds", "S", "how long to measure (default: 1)",
                [&options](const std::string& word) {
                  constexpr double kLongest = 3600.0;
                  options.seconds = ReadNumberWithin<double>(
                      "seconds", fmt::format("a number from 0 to {}", kLongest), word, 0.0,
                      kLongest);
                });
      },
      &Bench);
}

}  // namespace opscv::cli
