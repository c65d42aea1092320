#pragma once
/// Commands, the words after them and what they run. CLI11 stands behind it, in one source.

#include <fmt/format.h>

#include <bochner/train/config/usage.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace bochner {

class CommandLine;
class SignalGuard;

/// An option, of which more can be said than its name, its value and what it is for.
class CommandOption {
 public:
  CommandOption(CLI::Option* option) : option_(option) {}
  CommandOption required() const;
  /// The help tells the value that stands there now.
  CommandOption shows_default() const;
  CommandOption between(double low, double high) const;
  /// A list of one.
  CommandOption single() const;
  /// Neither help nor completion tells of it.
  CommandOption hidden() const;

 private:
  friend class Command;
  CLI::Option* option_;
};

/// What an option fills; a list gets an element each time that the option is given.
using OptionValue =
    std::variant<std::string*, std::vector<std::string>*, std::size_t*, double*,
                 std::optional<double>*, std::optional<int>*, std::optional<std::size_t>*>;

/// What a program is told of a command before that runs.
struct CommandTraits {
  std::string name = "";                ///< as it is typed: "kernel compare"
  bool is_shared = false;               ///< by processes that were started together
  const char* memory_advice = nullptr;  ///< "out of memory; ..", with what helps there
};

/// A command or a group of commands: a handle, to be copied at will.
class Command {
 public:
  Command(CLI::App& app, CommandLine& line) : app_(&app), line_(&line) {}

  /// Processes that were started together share its work.
  void shares_work() const;
  /// Of a group, that of all commands which are added afterwards.
  void memory_advice(const char* words) const;
  /// A group that needs one of its commands: `bochner bench` needs step or length. Do they take
  /// --threads?
  Command group(const char* name, const char* help, bool with_threads = true) const;
  /// A command below this one; `body` returns the exit code. It does not run where a command below
  /// it is typed.
  Command command(const char* name, const char* help, std::function<int()> body) const;
  /// The same of a body that saves and stops when a signal asks for it, also one that came before.
  Command command(const char* name, const char* help, std::function<int(SignalGuard&)> body) const;
  /// The same with options of its own, which live as long as the command line. A body that returns
  /// nothing is done when it returns.
  template <class Result, class Options>
  std::pair<Command, Options&> command(const char* name, const char* help,
                                       Result (*body)(const Options&)) const {
    const auto options = std::make_shared<Options>();
    const std::function<int()> run = [options, body]() -> int {
      if constexpr (!std::is_void_v<Result>) return body(*options);
      return body(*options), exit_done;
    };
    return {command(name, help, run), *options};
  }
  template <class Options>
  std::pair<Command, Options&> command(const char* name, const char* help,
                                       int (*body)(const Options&, SignalGuard&)) const {
    const auto options = std::make_shared<Options>();
    const std::function<int(SignalGuard&)> run = [options, body](SignalGuard& signals) {
      return body(*options, signals);
    };
    return {command(name, help, run), *options};
  }

  /// "--output,-o", or "input" for a word without dashes. `type` stands for the value in the help.
  CommandOption option(const char* name, OptionValue value, const std::string& help,
                       const char* type = nullptr) const;
  /// A number that is not negative; the help tells its default.
  CommandOption number(const char* name, OptionValue value, const std::string& help) const;
  void flag(const char* name, bool* value, const char* help) const;

  CommandLine& line() const { return *line_; }

 private:
  Command add(const char* name, const char* help, std::function<int()> body) const;
  Command below(const char* name, const char* help) const;

  CLI::App* app_;
  CommandLine* line_;
  std::size_t traits_ = 0;  ///< their number
  bool with_threads_ = true;
};

/// What a program says about itself.
struct ProgramWords {
  const char* help;
  std::string (*version)();
  const char* footer = "";     ///< the last lines of the help
  const char* elsewhere = "";  ///< what to do about commands that are not there
  /// What to type in place of an option, with its value, that a command with --set has not; or "".
  std::string (*option_advice)(const std::string& option, const std::string& value) = nullptr;
};

/// All commands of a program and what was typed.
class CommandLine {
 public:
  /// `argv` must outlive it.
  CommandLine(int argc, char** argv, const ProgramWords& words);
  ~CommandLine();

  Command program();
  /// Called before the command that was typed runs.
  std::function<void(const CommandTraits&)> begin = [](const CommandTraits&) {};
  /// Of all commands, in the order of the help.
  const std::vector<CommandTraits>& traits() const { return traits_; }
  /// Runs the command that was typed and returns its exit code, after help 0. Throws
  /// std::invalid_argument, with one line, where the words are wrong.
  int run();

  std::span<char* const> words() const { return words_; }
  /// As --threads says; 0 for all processors.
  std::size_t threads() const { return threads_; }
  /// Whether what is printed is what was asked for. A run goes on without a reader.
  bool needs_reader = true;
  /// What may stand in place of the last of these words: commands, or options where it begins with
  /// a dash.
  std::vector<std::string> completions(const std::vector<std::string>& words) const;

 private:
  friend class Command;
  std::string problem(const std::string& error) const;
  std::string unknown_option(const CLI::App& app) const;

  std::unique_ptr<CLI::App> app_;
  std::span<char* const> words_;
  std::string elsewhere_;
  std::string (*option_advice_)(const std::string& option, const std::string& value);
  std::size_t threads_ = 0;
  std::vector<CommandTraits> traits_ = std::vector<CommandTraits>(1);  ///< first of the program
  std::size_t typed_ = 0;
  std::function<int()> body_;  ///< begins by receiving signals
};

}  // namespace bochner
