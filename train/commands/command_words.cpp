#include <fmt/format.h>

#include <bochner/train/commands/command_words.hpp>
#include <bochner/train/config/parameter_docs.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <sstream>

namespace bochner {
namespace {

/// Null if there is none of this name.
const CLI::App* subcommand(const CLI::App& app, const std::string& name) {
  const auto named =
      app.get_subcommands([&](const CLI::App* sub) { return sub->get_name() == name; });
  return named.empty() ? nullptr : named.front();
}

/// Long names, without those that no help shows.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (!option->get_group().empty()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  if (line.empty() || line.back() == ' ') words.emplace_back();
  return words;
}

}  // namespace

std::string usage_problem(const CLI::App& root, int argc, char** argv, const CLI::Error& error) {
  const CLI::App* app = &root;
  std::string help = "See: " + root.get_name();
  int i = 1;
  for (; i < argc; ++i) {
    const CLI::App* next = subcommand(*app, argv[i]);
    if (!next) break;
    app = next;
    help += " " + next->get_name();
  }
  help += " --help";
  const std::string word = i < argc ? argv[i] : "";
  if (app->get_require_subcommand_min() == 0 || word.starts_with("-"))
    return fmt::format("{}. {}", error.what(), help);
  if (word.empty()) return "no command. " + help;
  std::vector<std::string> names;
  for (const CLI::App* sub : app->get_subcommands({})) names.push_back(sub->get_name());
  const std::string near = nearest(word, names);
  return fmt::format("{}: no such command. {}", word,
                     near.empty() ? help : "Did you mean " + near + "?");
}

std::vector<std::string> completions(const CLI::App& root, const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  const std::string& last = words.back();
  if (words.size() > 1 && words[words.size() - 2] == "--set")
    return complete_setting(registered_parameters(), last);
  const CLI::App* app = &root;
  for (std::size_t i = 1; i + 1 < words.size(); ++i)
    if (const CLI::App* next = subcommand(*app, words[i])) app = next;
  std::vector<std::string> names;
  if (last.starts_with("-"))
    names = option_names(*app);
  else
    for (const CLI::App* sub : app->get_subcommands({})) names.push_back(sub->get_name());
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(last); });
  return names;
}

}  // namespace bochner
