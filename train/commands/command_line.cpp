#include <CLI/CLI.hpp>
#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/config/nearest.hpp>
#include <bochner/train/run/signals.hpp>
#include <cmath>
#include <filesystem>

namespace bochner {
namespace {

constexpr std::size_t most_threads = 1024;

/// Arguments of a program started without any, not even its name.
char default_name[] = "bochner";
char* default_words[] = {default_name};

/// Returns null if no subcommand has this name.
const CLI::App* subcommand(const CLI::App& app, const std::string& name) {
  const auto named =
      app.get_subcommands([&](const CLI::App* sub) { return sub->get_name() == name; });
  return named.empty() ? nullptr : named.front();
}

/// Checks counts, since CLI11 reads 2^64 as 2^64 - 1.
std::string count_problem(const std::string& text) {
  if (text.starts_with("-")) return "must not be negative";
  return parse_count(text) ? "" : fmt::format("{}: must be a whole number below 2^64", text);
}

/// Whether a word is an option; "-" alone is standard input.
bool is_option(const std::string& word) { return word.size() > 1 && word.starts_with("-"); }

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return names;
}

/// Returns the long names of options that are not hidden.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (!option->get_group().empty()) names.push_back("--" + name);
  return names;
}

}  // namespace

CommandOption CommandOption::required() const { return option_->required(); }
CommandOption CommandOption::shows_default() const { return option_->capture_default_str(); }
CommandOption CommandOption::single() const { return option_->expected(1); }
CommandOption CommandOption::hidden() const { return option_->group(""); }
CommandOption CommandOption::between(double low, double high) const {
  const auto range = [low, high](const std::string& text) {
    double number = std::nan("");
    if (CLI::detail::lexical_cast(text, number) && number >= low && number <= high)
      return std::string();
    return fmt::format("{}: must be between {:g} and {:g}", text, low, high);
  };
  return option_->check(CLI::Validator(range, ""));
}

CommandLine* Command::shares_work() const {
  line_->traits_[traits_].is_shared = true;
  return line_;
}

void Command::memory_advice(const char* words) const {
  line_->traits_[traits_].memory_advice = words;
}

Command Command::below(const char* name, const char* help) const {
  Command command = *this;
  command.app_ = app_->add_subcommand(name, help);
  command.traits_ = line_->traits_.size();
  const CommandTraits& above = line_->traits_[traits_];
  line_->traits_.push_back(
      {above.name + (above.name.empty() ? "" : " ") + name, false, above.memory_advice});
  return command;
}

Command Command::group(const char* name, const char* help, bool with_threads) const {
  Command group = below(name, help);
  group.with_threads_ = with_threads;
  group.app_->require_subcommand(1);
  return group;
}

Command Command::with_threads() const {
  Command group = *this;
  group.with_threads_ = true;
  return group;
}

Command Command::command(const char* name, const char* help, std::function<int()> body) const {
  return add(name, help, [body = std::move(body)] {
    receive_signals_apart();
    return body();
  });
}

Command Command::command(const char* name, const char* help,
                         std::function<int(SignalGuard&)> body) const {
  const Command command = add(name, help, [body = std::move(body), line = line_] {
    speak_of_signals();  // before the guard, which restores what it found
    SignalGuard signals;
    receive_signals_apart();
    if (line->with_parent_) stop_with_input();
    return body(signals);
  });
  command.flag("--with-parent", &line_->with_parent_,
               "stop at the end of the standard input, a pipe from the program that started it");
  return command;
}

Command Command::add(const char* name, const char* help, std::function<int()> body) const {
  const Command command = below(name, help);
  CLI::App* app = command.app_;
  if (with_threads_)
    command.number("--threads", &line_->threads_,
                   "number of threads, 0 for all processors; does not change results");
  app->callback([app, line = line_, traits = command.traits_, body = std::move(body)] {
    if (!app->get_subcommands().empty()) return;
    line->typed_ = traits;
    line->body_ = body;
  });
  return command;
}

CommandOption Command::option(const char* name, OptionValue value, const std::string& help,
                              const char* type) const {
  CLI::Option* option = std::visit(
      [&]<class Target>(Target* target) {
        CLI::Option* added = app_->add_option(name, *target, help);
        constexpr bool counts = std::is_same_v<Target, std::size_t> ||
                                std::is_same_v<Target, std::optional<std::size_t>>;
        if (counts) added->check(CLI::Validator(count_problem, ""));
        return added;
      },
      value);
  if (type) option->type_name(type);
  if (!option->get_positional()) option->allow_extra_args(false);
  return option;
}

CommandOption Command::number(const char* name, OptionValue value, const std::string& help) const {
  const auto sign = [](const std::string& text) {
    return text.starts_with("-") ? "must not be negative" : std::string();
  };
  const CommandOption option = this->option(name, value, help, "N");
  option.option_->check(CLI::Validator(sign, ""));
  return option.shows_default();
}

void Command::flag(const char* name, bool* value, const char* help) const {
  app_->add_flag(name, *value, help);
}

CommandLine::CommandLine(int argc, char** argv, const ProgramTexts& texts)
    : app_(std::make_unique<CLI::App>(texts.help)),
      words_(argc > 0 ? std::span<char* const>(argv, std::size_t(argc))
                      : std::span<char* const>(default_words)),
      command_advice_(texts.command_advice),
      option_advice_(texts.option_advice) {
  app_->require_subcommand(1);
  if (texts.licenses)  // before --version, for the first one given in this order answers
    app_->add_flag_callback(
        "--licenses", [text = texts.licenses] { throw CLI::CallForVersion(text(), exit_done); },
        "Print the licences of the libraries in this program and exit");
  app_->set_version_flag("--version", texts.version);
  app_->footer(texts.footer);
  app_->name(std::filesystem::path(words_[0]).filename().string());
}

CommandLine::~CommandLine() = default;

Command CommandLine::program() { return Command(*app_, *this); }

int CommandLine::run() {
  try {
    app_->parse(int(words_.size()), words_.data());
  } catch (const CLI::Success& help) {
    return app_->exit(help);
  } catch (const CLI::ExtrasError&) {  // CLI11 lists them in reverse
    throw std::invalid_argument(problem("not expected: " + joined(app_->remaining(true), " ")));
  } catch (const CLI::ParseError& error) {
    throw std::invalid_argument(problem(error.what()));
  }
  begin(traits_[typed_]);
  demand(threads_ <= most_threads, "--threads {}: must be at most {}", threads_, most_threads);
  set_thread_count(threads_);
  return body_();
}

/// Returns a message about the first unknown option and what to type instead; "" for none.
std::string CommandLine::unknown_option(const CLI::App& app) const {
  const std::vector<std::string> unknown = app_->remaining(true);
  const auto found =
      std::ranges::find_if(unknown, [](const std::string& word) { return is_option(word); });
  if (found == unknown.end()) return "";
  const std::string name = found->substr(0, found->find('='));
  const bool is_next = name == *found && std::next(found) != unknown.end();
  const std::string value = is_next          ? *std::next(found)
                            : name == *found ? ""
                                             : found->substr(name.size() + 1);
  if (option_advice_ && app.get_option_no_throw("--set"))
    if (const std::string typed = option_advice_(name, value); !typed.empty())
      return name + ": no such option; set a config key with " + typed;
  const std::string near = nearest(name, option_names(app));
  return name + ": no such option" + (near.empty() ? "" : " (did you mean " + near + "?)");
}

/// Returns the error with a pointer to the help. Names unknown commands, for which CLI11 only says
/// that one is missing.
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
  if (app->get_require_subcommand_min() == 0 || is_option(word)) {
    const std::string unknown = unknown_option(*app);
    return fmt::format("{}. {}", unknown.empty() ? error : unknown, help);
  }
  if (word.empty()) return "no command. " + help;
  const std::string near = nearest(word, command_names(*app));
  if (!near.empty()) help = "Did you mean " + near + "?";
  return fmt::format("{}: no such command. {}", word,
                     command_advice_.empty() ? help : command_advice_);
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
