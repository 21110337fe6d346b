// SPDX-License-Identifier: Apache-2.0
// The command `opscv`: reads the command line, runs one subcommand, turns failures into one line on
// stderr and an exit status.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "ops/registry.h"
#include "opscv/version.h"

namespace opscv::cli {
namespace {

int Complain(Exit exit, std::string line) {
  std::replace(line.begin(), line.end(), '\n', ' ');
  while (!line.empty() && (line.back() == ' ' || line.back() == '.')) line.pop_back();
  std::fprintf(stderr, "opscv: %s\n", line.c_str());
  return static_cast<int>(exit);
}

// Options may be written with dashes for underscores: --output-size is --output_size.
std::string Underscored(std::string word) {
  if (word.rfind("--", 0) != 0) return word;
  const size_t end = std::min(word.find('='), word.size());
  std::replace(word.begin() + 2, word.begin() + static_cast<ptrdiff_t>(end), '-', '_');
  return word;
}

std::vector<std::string> SubcommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

bool IsHelp(const std::string& word) { return word == "-h" || word == "--help"; }

// The word that must follow `sub`: an operator, or a subcommand of it.
void CheckSecondWord(const CLI::App& sub, const std::vector<std::string>& words) {
  if (words.size() > 1 && IsHelp(words[1])) return;
  const std::vector<std::string> names = SubcommandsOf(sub);
  if (words.size() < 2) {
    throw UsageFailure("{} must be followed by one of {}, got nothing", words[0],
                       fmt::join(names, ", "));
  }
  const bool takes_operator = ops::FindOperator(names.front()).has_value();
  if (takes_operator && words[1].rfind('-', 0) != 0) {
    const Result<const ops::OpInfo*> info = ops::FindOperator(words[1]);
    if (!info) throw UsageFailure("{}", info.error().message());
  } else if (std::find(names.begin(), names.end(), words[1]) == names.end()) {
    throw UsageFailure("{} must be followed by one of {}, got '{}'", words[0],
                       fmt::join(names, ", "), words[1]);
  }
}

// Words where a subcommand or an operator must stand: CLI11 would only call them unexpected.
void CheckFirstWords(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) {
    throw UsageFailure("subcommand must be one of {}, got none",
                       fmt::join(SubcommandsOf(app), ", "));
  }
  if (IsHelp(words[0]) || words[0] == "--version") return;
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
    if (sub->get_name() != words[0]) continue;
    if (sub->get_require_subcommand_min() > 0) CheckSecondWord(*sub, words);
    return;
  }
  throw UsageFailure("subcommand must be one of {}, got '{}'", fmt::join(names, ", "), words[0]);
}

// The subcommands that the words name, the innermost last.
std::vector<const CLI::App*> PathOf(const CLI::App& app) {
  std::vector<const CLI::App*> path = {&app};
  while (!path.back()->get_subcommands().empty()) {
    path.push_back(path.back()->get_subcommands().front());
  }
  return path;
}

// What was left over of the words, who does not take it, and what it does take.
std::string NotTaken(const CLI::App& app) {
  std::vector<std::string> path;
  for (const CLI::App* part : PathOf(app)) path.push_back(part->get_name());
  const CLI::App* last = PathOf(app).back();
  std::vector<std::string> options;
  for (const CLI::Option* option : last->get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  return fmt::format("'{}' takes no '{}', expected {}", fmt::join(path, " "),
                     fmt::join(app.remaining(true), " "), fmt::join(options, ", "));
}

// Which option has another number of words than it takes. CLI11 tells the option only in its text,
// which begins with the name, without dashes where it is a flag's.
std::string WrongCount(const CLI::App& app, const CLI::Error& error) {
  const std::string text = error.what();
  const std::string name = text.substr(0, text.find_first_of(": "));
  if (name.rfind('-', 0) != 0) return fmt::format("--{} takes no value, got one", name);
  const CLI::Option* option = PathOf(app).back()->get_option_no_throw(name);
  if (option == nullptr) return error.what();
  if (option->count() > 0) {
    return fmt::format("{} must be there once, got {}", name, option->count());
  }
  return fmt::format("{} must be followed by a value ({}), got nothing", name,
                     option->get_type_name());
}

// The two commands that are no people's: completion and the man page.
bool AnswersShell(const CLI::App& app, const std::vector<std::string>& words) {
  if (words == std::vector<std::string>{"man"}) {
    PrintManPage(app);
    return true;
  }
  if (words.size() < 2 || words[0] != "complete" || words[1] != "--") return false;
  PrintCompletions(app, {words.begin() + 2, words.end()});
  return true;
}

int Main(int argc, char** argv) {
  CLI::App app("Resampling operators and their gradients on the CPU.", "opscv");
  app.set_version_flag("--version", Version());
  app.require_subcommand(1);
  Action action;
  for (const auto add : {&AddList, &AddRun, &AddCheck, &AddPlan, &AddBench, &AddTargets, &AddGen,
                         &AddCompare, &AddGraph}) {
    add(app, action);
  }
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) words.push_back(Underscored(argv[i]));
  try {
    if (AnswersShell(app, words)) return 0;
    CheckFirstWords(app, words);
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    app.parse(words);
    WatchSignals();
    return static_cast<int>(action());
  } catch (const CLI::Success& done) {  // help and version
    return app.exit(done);
  } catch (const CLI::ExtrasError&) {
    return Complain(Exit::kUsage, NotTaken(app));
  } catch (const CLI::ArgumentMismatch& error) {
    return Complain(Exit::kUsage, WrongCount(app, error));
  } catch (const CLI::ParseError& error) {
    return Complain(Exit::kUsage, error.what());
  } catch (const Failure& failure) {
    return Complain(failure.exit(), failure.what());
  } catch (const std::bad_alloc&) {
    return Complain(Exit::kCannotWrite, "memory could not be allocated");
  }
}

}  // namespace
}  // namespace opscv::cli

int main(int argc, char** argv) { return opscv::cli::Main(argc, argv); }
