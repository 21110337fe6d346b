// SPDX-License-Identifier: Apache-2.0
// opscv plan: what would be done, without doing it.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "cli/operator_command.h"
#include "cli/shape_options.h"

namespace opscv::cli {
namespace {

constexpr int64_t kBlocksShown = 8;       // of the text
constexpr int64_t kBlocksListed = 10000;  // of the JSON

Json JsonOf(const AxisFacts& axis) {
  Json json = {{"axis", std::string(1, axis.name)},
               {"before", axis.before},
               {"after", axis.after},
               {"scale", axis.scale},
               {"inverse", axis.inverse}};
  json["support"] = axis.support > 0.0 ? Json(axis.support) : Json(nullptr);
  json["identity"] = axis.identity;
  return json;
}

Json JsonOf(const BlockFacts& block) {
  return {{"planes", {block.plane_begin, block.plane_end}},
          {"rows", {block.row_begin, block.row_end}},
          {"pixels", {block.pixel_begin, block.pixel_end}}};
}

std::string TextOf(const AxisFacts& axis) {
  std::string text = fmt::format("axis {}: {} before, {} after, scale {}, inverse {}", axis.name,
                                 axis.before, axis.after, axis.scale, axis.inverse);
  if (axis.support > 0.0) text += fmt::format(", support {}", axis.support);
  return text + (axis.identity ? ", the identity\n" : "\n");
}

std::string TextOf(const PassFacts& pass, size_t number) {
  std::string text = fmt::format("pass {}: along {}, at most", number, pass.axes);
  for (size_t i = 0; i < pass.most_taps.size(); ++i) {
    text += fmt::format("{} {}", i == 0 ? "" : " x", pass.most_taps[i]);
  }
  return text + " taps\n";
}

std::string TextOf(const BlockFacts& block, int64_t index) {
  return fmt::format("  block {}: planes [{}, {}), rows [{}, {}), pixels [{}, {})\n", index,
                     block.plane_begin, block.plane_end, block.row_begin, block.row_end,
                     block.pixel_begin, block.pixel_end);
}

Json PlanJson(const Operation& operation, const Plan& plan, const PlanFacts& facts) {
  Json json = DescribeJson(operation);
  if (operation.info->takes_rule) json["rule"] = NameOf(operation.job.spec.rule());
  json["axes"] = Json::array();
  for (const AxisFacts& axis : facts.axes) json["axes"].push_back(JsonOf(axis));
  json["passes"] = Json::array();
  for (const PassFacts& pass : facts.passes) {
    json["passes"].push_back({{"axes", pass.axes}, {"most_taps", pass.most_taps}});
  }
  json["choices"] = facts.choices;
  json["estimated_seconds"] = plan.EstimatedSeconds(operation.job.threads);
  json["block_count"] = facts.blocks;
  json["blocks"] = Json::array();
  for (int64_t i = 0; i < std::min(facts.blocks, kBlocksListed); ++i) {
    json["blocks"].push_back(JsonOf(plan.BlockAt(i)));
  }
  json["workspace_bytes"] = plan.WorkspaceBytes(operation.job.threads);
  json["target"] = facts.target;
  return json;
}

std::string PlanText(const Operation& operation, const Plan& plan, const PlanFacts& facts) {
  std::string text = DescribeText(operation) + "\n";
  if (operation.info->takes_rule) {
    text += fmt::format("rule: {}\n", NameOf(operation.job.spec.rule()));
  }
  for (const AxisFacts& axis : facts.axes) text += TextOf(axis);
  if (facts.passes.empty()) text += "no pass: elements are copied\n";
  for (size_t i = 0; i < facts.passes.size(); ++i) text += TextOf(facts.passes[i], i + 1);
  for (const std::string& choice : facts.choices) {
    if (choice.rfind("pass ", 0) != 0) text += choice + "\n";
  }
  text += fmt::format("estimate: {:.3g} ms on an AMD Zen 3\n",
                      1e3 * plan.EstimatedSeconds(operation.job.threads));
  text += fmt::format("blocks: {}\n", facts.blocks);
  for (int64_t i = 0; i < std::min(facts.blocks, kBlocksShown); ++i) {
    text += TextOf(plan.BlockAt(i), i);
  }
  if (facts.blocks > kBlocksShown) {
    text += fmt::format("  and {} more (--json lists them)\n", facts.blocks - kBlocksShown);
  }
  text += fmt::format("workspace: {} bytes\n", plan.WorkspaceBytes(operation.job.threads));
  return text + fmt::format("SIMD target: {}\n", facts.target);
}

Exit ShowPlan(const ShapeOptions& options) {
  const Operation operation = PrepareEither(options);
  const Plan plan = PlanJob(operation.job, operation.input.storage, operation.output);
  const PlanFacts facts = plan.Facts();
  Print(options.common, PlanJson(operation, plan, facts), PlanText(operation, plan, facts));
  return Exit::kOk;
}

}  // namespace

void AddPlan(CLI::App& app, Action& action) {
  AddPerOperator<ShapeOptions>(app, "plan", "show how an operator would be computed", action,
                               &AddShapeOptions, &ShowPlan);
}

}  // namespace opscv::cli
