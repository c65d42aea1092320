#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/config/nearest.hpp>
#include <filesystem>
#include <optional>
#include <stdexcept>

namespace bochner {
namespace {

constexpr std::size_t most_threads = 1024;

/// Null if there is none of this name.
const CLI::App* subcommand(const CLI::App& app, const std::string& name) {
  const auto named =
      app.get_subcommands([&](const CLI::App* sub) { return sub->get_name() == name; });
  return named.empty() ? nullptr : named.front();
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return names;
}

/// Long names, without those that no help shows.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (!option->get_group().empty()) names.push_back("--" + name);
  return names;
}

}  // namespace

CommandOption CommandOption::required() const { return CommandOption(option_->required()); }
CommandOption CommandOption::shows_default() const {
  return CommandOption(option_->capture_default_str());
}
CommandOption CommandOption::between(double low, double high) const {
  return CommandOption(option_->check(CLI::Range(low, high)));
}
CommandOption CommandOption::between(int low, int high) const {
  return CommandOption(option_->check(CLI::Range(low, high)));
}
CommandOption CommandOption::positive() const {
  return CommandOption(option_->check(CLI::PositiveNumber));
}
CommandOption CommandOption::hidden() const { return CommandOption(option_->group("")); }

Command Command::group(const char* name, const char* help) const {
  Command group = *this;
  group.app_ = app_->add_subcommand(name, help)->require_subcommand(1);
  return group;
}

Command Command::without_threads() const {
  Command same = *this;
  same.has_threads_ = false;
  return same;
}

Command Command::command(const char* name, const std::string& help,
                         std::function<int()> body) const {
  Command command = *this;
  CLI::App* app = command.app_ = app_->add_subcommand(name, help);
  if (has_threads_)
    command.number("--threads", line_->threads_,
                   "0 for all processors; results do not depend on it");
  app->callback([app, line = line_, body = std::move(body)] {
    if (app->get_subcommands().empty()) line->body_ = body;
  });
  return command;
}

template <class Value>
CommandOption Command::option(const char* name, Value& value, const std::string& help,
                              const char* type) const {
  CLI::Option* option = app_->add_option(name, value, help);
  if (type) option->type_name(type);
  if (!option->get_positional()) option->allow_extra_args(false);
  return CommandOption(option);
}
template CommandOption Command::option(const char*, std::string&, const std::string&,
                                       const char*) const;
template CommandOption Command::option(const char*, std::vector<std::string>&, const std::string&,
                                       const char*) const;
template CommandOption Command::option(const char*, std::size_t&, const std::string&,
                                       const char*) const;
template CommandOption Command::option(const char*, std::optional<double>&, const std::string&,
                                       const char*) const;
template CommandOption Command::option(const char*, std::optional<int>&, const std::string&,
                                       const char*) const;
template CommandOption Command::option(const char*, std::optional<std::size_t>&, const std::string&,
                                       const char*) const;

template <class Number>
CommandOption Command::number(const char* name, Number& value, const std::string& help) const {
  const auto sign = [](const std::string& text) {
    return text.starts_with("-") ? "must not be negative" : std::string();
  };
  return CommandOption(app_->add_option(name, value, help)
                           ->capture_default_str()
                           ->type_name("N")
                           ->check(CLI::Validator(sign, "")));
}
template CommandOption Command::number(const char*, std::size_t&, const std::string&) const;
template CommandOption Command::number(const char*, double&, const std::string&) const;

void Command::flag(const char* name, bool& value, const char* help) const {
  app_->add_flag(name, value, help);
}

void Command::needs_no_reader() const {
  app_->parse_complete_callback([line = line_] { line->needs_reader_ = false; });
}

CommandLine::CommandLine(int argc, char** argv, const ProgramWords& words)
    : app_(std::make_unique<CLI::App>(words.help)),
      words_(argv, std::size_t(argc)),
      elsewhere_(words.elsewhere) {
  app_->require_subcommand(1);
  app_->set_version_flag("--version", words.version);
  app_->footer(words.footer);
  if (argc > 0) app_->name(std::filesystem::path(argv[0]).filename().string());
}

CommandLine::~CommandLine() = default;

Command CommandLine::program() { return Command(*app_, *this); }

int CommandLine::run() {
  try {
    app_->parse(int(words_.size()), words_.data());
  } catch (const CLI::Success& help) {
    return app_->exit(help);
  } catch (const CLI::ParseError& error) {
    throw std::invalid_argument(problem(error.what()));
  }
  if (threads_ > most_threads)
    throw std::invalid_argument(
        fmt::format("--threads {}: must be at most {}", threads_, most_threads));
  set_thread_count(threads_);
  return body_();
}

/// Of a command that does not exist, CLI11 only says that one is missing.
std::string CommandLine::problem(const std::string& error) const {
  const CLI::App* app = app_.get();
  std::string help = "See: " + app->get_name();
  std::size_t i = 1;
  for (; i < words_.size(); ++i) {
    const CLI::App* next = subcommand(*app, words_[i]);
    if (!next) break;
    app = next;
    help += " " + next->get_name();
  }
  help += " --help";
  const std::string word = i < words_.size() ? words_[i] : "";
  if (app->get_require_subcommand_min() == 0 || word.starts_with("-"))
    return fmt::format("{}. {}", error, help);
  if (word.empty()) return "no command. " + help;
  const std::string near = nearest(word, command_names(*app));
  if (!near.empty()) help = "Did you mean " + near + "?";
  return fmt::format("{}: no such command. {}", word, elsewhere_.empty() ? help : elsewhere_);
}

std::vector<std::string> CommandLine::completions(const std::vector<std::string>& words) const {
  const CLI::App* app = app_.get();
  for (std::size_t i = 1; i + 1 < words.size(); ++i)
    if (const CLI::App* next = subcommand(*app, words[i])) app = next;
  const std::string& last = words.back();
  std::vector<std::string> names = last.starts_with("-") ? option_names(*app) : command_names(*app);
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(last); });
  return names;
}

}  // namespace bochner
