// SPDX-License-Identifier: Apache-2.0
// What completion in a shell asks.
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "cli/command.h"

namespace opscv::cli {
namespace {

bool StartsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

const CLI::App* FindSub(const CLI::App& app, const std::string& word) {
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->check_name(word)) return sub;
  }
  return nullptr;
}

// The words before the last lead to a subcommand; the last is the beginning of what is wanted.
std::vector<std::string> Candidates(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* app = &root;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const CLI::App* sub = FindSub(*app, words[i]);
    if (sub != nullptr) app = sub;
  }
  const std::string last = words.empty() ? "" : words.back();
  std::vector<std::string> found;
  for (const CLI::App* sub : app->get_subcommands([](const CLI::App*) { return true; })) {
    if (StartsWith(sub->get_name(), last)) {
      found.push_back(sub->get_name());
    }
  }
  if (!StartsWith(last, "-")) return found;
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (StartsWith("--" + name, last)) found.push_back("--" + name);
    }
  }
  return found;
}

}  // namespace

void PrintCompletions(const CLI::App& app, const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : Candidates(app, words)) text += word + '\n';
  WriteOut(text);
}

}  // namespace opscv::cli
