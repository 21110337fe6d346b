// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/checked_math.h"
#include "base/fp_env.h"
#include "base/parallel.h"
#include "kernels/targets.h"

namespace opscv::plan {
namespace {

constexpr int64_t kAlign = 64;

// Below this much input and output together a second thread costs more than it brings: waking one
// takes about 10 microseconds, in which one core moves some 100 KiB.
constexpr int64_t kSerialBytes = 128 * 1024;

bool IsCopy(const ResampleSpec& spec) {
  const bool identity = std::all_of(spec.axes.begin(), spec.axes.end(), taps::IsIdentity);
  return identity || (spec.method == Method::kNearest && spec.direction == Direction::kForward);
}

std::unique_ptr<const Program> MakeProgram(const ResampleSpec& spec) {
  if (IsCopy(spec)) return MakeNearestCopyProgram(spec);
  if (spec.method == Method::kNearest) return MakeRunSumProgram(spec);
  return MakeTapProgram(spec);
}

// How many samples the taps of one row of a table reach over, and those of its 16 neighbours that
// are stored together with it.
double TableReach(const ResampleSpec& spec, const taps::Axis& axis) {
  constexpr double kTogether = 16.0;
  const auto in = static_cast<double>(axis.in);
  const auto out = static_cast<double>(axis.out);
  const bool taps = spec.method == Method::kTaps;
  const double scale = taps ? taps::ScaleOf(axis) : in / out;
  const double support = taps ? taps::SupportOf(spec.filter) : 0.5;
  const double window = 2.0 * support * std::max(scale, 1.0) + 1.0;
  if (spec.direction == Direction::kForward) return std::min(window + kTogether * scale, in);
  if (scale == 0.0) return 1.0;  // a single output, which is all that any sample is read by
  return std::min((window + kTogether) / scale, out);
}

// Bytes that building the tables of an axis takes at most.
double TableBytes(const ResampleSpec& spec, const taps::Axis& axis) {
  constexpr double kTap = sizeof(int32_t) + sizeof(float) + sizeof(double);
  constexpr double kRow = 2 * sizeof(int64_t);
  const auto in = static_cast<double>(axis.in);
  const auto out = static_cast<double>(axis.out);
  if (spec.method == Method::kNearest) return kRow * (in + out);
  const double support = taps::SupportOf(spec.filter);
  const double window = std::min(2.0 * support * std::max(taps::ScaleOf(axis), 1.0) + 1.0, in);
  const double forward = kTap * window * out + kRow * out;
  return spec.direction == Direction::kForward ? forward : 2.0 * forward + kRow * in;
}

// Asking for more than there is would not fail: the system would end some process later on.
Status CheckTableMemory(const ResampleSpec& spec) {
  double bytes = 0.0;
  for (const taps::Axis& axis : spec.axes) {
    if (!taps::IsIdentity(axis)) bytes += TableBytes(spec, axis);
  }
  // Asked for once: it is a call of the system.
  static const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes < memory) return {};
  return {
      StatusCode::kOutOfMemory,
      fmt::format("the plan's tables do not fit in memory: they take up to {:.1f} GiB of {:.1f}.",
                  bytes * 0x1p-30, memory * 0x1p-30)};
}

// Tables store distances within a row of taps in 32 bits.
Status CheckTableRange(const ResampleSpec& spec) {
  static constexpr std::array<char, kSpatial> kNames = {'D', 'H', 'W'};
  for (size_t i = 0; i < kSpatial; ++i) {
    const taps::Axis& axis = spec.axes[i];
    if (taps::IsIdentity(axis)) continue;
    if (TableReach(spec, axis) >= static_cast<double>(std::numeric_limits<int32_t>::max())) {
      return InvalidArgument(
          "axis {} resamples {} to {} samples: a window of 2^31 samples or more is not supported.",
          kNames[i], axis.in, axis.out);
    }
  }
  return {};
}

Coords Extents(const Box5& box) {
  Coords extents;
  for (size_t i = 0; i < kRank; ++i) extents[i] = box.end[i] - box.begin[i];
  return extents;
}

}  // namespace

Plan::Plan(const ResampleSpec& spec, std::unique_ptr<const Program> program)
    : spec_(spec), program_(std::move(program)), target_(kernels::CurrentTarget()) {
  if (program_ == nullptr) return;
  groups_ = HasChannelGroups(spec_);
  scratch_bytes_ = RoundUp(program_->ScratchBytes(), kAlign);
  blocks_ = BlockGrid(OutputBox(), program_->Blocks(), groups_).size();
}

Box5 Plan::InputBox(const Box5& output_box) const {
  if (output_box.Empty()) return {};
  Box5 box = output_box;
  for (int axis = 0; axis < kSpatial; ++axis) {
    const int dim = kD + axis;
    const Range range = program_->InputRange(axis, {output_box.begin[dim], output_box.end[dim]});
    box.begin[dim] = range.begin;
    box.end[dim] = range.end;
  }
  return box;
}

int Plan::UsefulThreads(int threads) const { return UsefulThreads(OutputBox(), blocks_, threads); }

int Plan::UsefulThreads(const Box5& box, int64_t blocks, int threads) const {
  const double elements = ElementCount(Extents(InputBox(box))) + ElementCount(Extents(box));
  if (elements * static_cast<double>(SizeOf(spec_.dtype)) < kSerialBytes) return 1;
  return static_cast<int>(std::clamp<int64_t>(blocks, 1, threads));
}

int64_t Plan::WorkspaceBytes(int threads) const { return scratch_bytes_ * UsefulThreads(threads); }

bool Plan::Run(const RunRequest& request) const noexcept {
  if (program_ == nullptr) return true;
  const BlockGrid grid(request.box, program_->Blocks(), groups_);
  const int threads = std::min(UsefulThreads(request.threads),
                               UsefulThreads(request.box, grid.size(), request.threads));
  return ParallelFor(grid.size(), threads, request.stop, [&](int64_t index, int slot) {
    char* scratch = scratch_bytes_ == 0
                        ? nullptr
                        : static_cast<char*>(request.workspace) + slot * scratch_bytes_;
    program_->RunBlock({.buffers = request.buffers,
                        .grid = grid,
                        .block = grid[index],
                        .channels = grid.Channels(grid[index].plane_begin),
                        .scratch = scratch});
  });
}

std::vector<std::string> Plan::Choices() const {
  return program_ == nullptr ? std::vector<std::string>() : program_->Describe();
}

double Plan::EstimatedSeconds(int threads) const {
  if (program_ == nullptr) return 0.0;
  const Coords input = Extents(InputBox(OutputBox()));
  const double elements = ElementCount(input) + ElementCount(spec_.output.shape);
  return EstimateSeconds(program_->TotalWork(), elements * static_cast<double>(SizeOf(spec_.dtype)),
                         UsefulThreads(threads));
}

std::string Plan::Describe() const {
  if (program_ == nullptr) return "nothing to do: the output is empty\n";
  std::string text;
  for (const std::string& line : Choices()) text += line + "\n";
  const BlockShape shape = program_->Blocks();
  text += fmt::format("blocks: {} of {} planes x {} rows x {} pixels{}\n", blocks_, shape.planes,
                      shape.rows, shape.pixels,
                      groups_ ? fmt::format(" of {} channels", spec_.input.shape[kC]) : "");
  text += fmt::format("scratch: {} bytes a thread\n", scratch_bytes_);
  text += fmt::format("target: {}\n", target_);
  return text;
}

std::vector<Pass> Plan::Passes() const {
  return program_ == nullptr ? std::vector<Pass>() : program_->Passes();
}

Block Plan::BlockAt(int64_t index) const {
  return BlockGrid(OutputBox(), program_->Blocks(), groups_)[index];
}

std::vector<std::string> SupportedTargets() {
  std::vector<std::string> names;
  for (const kernels::Target& target : kernels::SupportedTargets()) names.push_back(target.name);
  return names;
}

Result<std::string> CurrentTarget() {
  if (const Status& pin = kernels::ApplyTargetPin(); !pin.ok()) return Unexpected(pin);
  return kernels::CurrentTarget();
}

Result<std::shared_ptr<const Plan>> MakePlan(const ResampleSpec& spec) {
  const ScopedDefaultFpEnv fp_env;
  if (const Status& pin = kernels::ApplyTargetPin(); !pin.ok()) return Unexpected(pin);
  if (const Status& threads = CheckThreadsVariable(); !threads.ok()) return Unexpected(threads);
  const bool empty = Box5{.begin = {}, .end = spec.output.shape}.Empty();
  if (!empty && !IsCopy(spec)) {
    if (Status status = CheckTableRange(spec); !status.ok()) return Unexpected(std::move(status));
  }
  if (!empty) {
    if (Status status = CheckTableMemory(spec); !status.ok()) return Unexpected(std::move(status));
  }
  try {
    std::unique_ptr<const Program> program;
    if (!empty) program = MakeProgram(spec);
    return std::shared_ptr<const Plan>(new Plan(spec, std::move(program)));
  } catch (const std::bad_alloc&) {
    return Unexpected({StatusCode::kOutOfMemory, "the plan's tables do not fit in memory."});
  } catch (const std::length_error&) {  // more than a vector can ever hold
    return Unexpected({StatusCode::kOutOfMemory, "the plan's tables do not fit in memory."});
  }
}

}  // namespace opscv::plan
