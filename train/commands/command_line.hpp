#pragma once
/// Command-line parser: commands, their options and bodies. command_line.cpp wraps CLI11.

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

/// Option of a command, for settings beyond its name, value and help.
class CommandOption {
 public:
  CommandOption(CLI::Option* option) : option_(option) {}
  CommandOption required() const;
  /// Shows the current value in the help.
  CommandOption shows_default() const;
  CommandOption between(double low, double high) const;
  /// Makes a list take exactly one element.
  CommandOption single() const;
  /// Hides the option from help and completion.
  CommandOption hidden() const;

 private:
  friend class Command;
  CLI::Option* option_;
};

/// Target that an option fills; a list gets one element each time the option is given.
using OptionValue =
    std::variant<std::string*, std::vector<std::string>*, std::size_t*, double*,
                 std::optional<double>*, std::optional<int>*, std::optional<std::size_t>*>;

/// Properties of a command, known before it runs.
struct CommandTraits {
  std::string name = "";                ///< as typed: "kernel compare"
  bool is_shared = false;               ///< several processes may share its work
  const char* memory_advice = nullptr;  ///< "out of memory; .." with the remedy
};

/// Handle to a command or a group of commands; cheap to copy.
class Command {
 public:
  Command(CLI::App& app, CommandLine& line) : app_(&app), line_(&line) {}

  /// Allows the processes of one mpirun to share its work; returns line().
  CommandLine* shares_work() const;
  /// Sets the line printed when memory runs out, also for commands added to this group later.
  void memory_advice(const char* words) const;
  /// Adds a group that requires one of its commands, as `bochner bench` does; `with_threads` gives
  /// them --threads.
  Command group(const char* name, const char* help, bool with_threads = true) const;
  /// Returns a handle that gives --threads to the commands added to it.
  Command with_threads() const;
  /// Adds a command; `body` returns the exit code and does not run if a subcommand is typed.
  Command command(const char* name, const char* help, std::function<int()> body) const;
  /// Adds a command whose body saves and stops on a signal, also on one received before it began.
  Command command(const char* name, const char* help, std::function<int(SignalGuard&)> body) const;
  /// Adds a command with options, which live as long as the command line. A body that returns void
  /// exits with exit_done.
  template <class Result, class Options, class... Signals>
  std::pair<Command, Options&> command(const char* name, const char* help,
                                       Result (*body)(const Options&, Signals...)) const {
    const auto options = std::make_shared<Options>();
    const std::function<int(Signals...)> run = [options, body](Signals... signals) -> int {
      if constexpr (!std::is_void_v<Result>) return body(*options, signals...);
      return body(*options, signals...), exit_done;
    };
    return {command(name, help, run), *options};
  }

  /// Adds an option such as "--output,-o", or a positional one without dashes. `type` names its
  /// value in the help.
  CommandOption option(const char* name, OptionValue value, const std::string& help,
                       const char* type = nullptr) const;
  /// Adds a non-negative number; the help shows its default.
  CommandOption number(const char* name, OptionValue value, const std::string& help) const;
  void flag(const char* name, bool* value, const char* help) const;

  CommandLine& line() const { return *line_; }

 private:
  Command add(const char* name, const char* help, std::function<int()> body) const;
  Command below(const char* name, const char* help) const;

  CLI::App* app_;
  CommandLine* line_;
  std::size_t traits_ = 0;  ///< index in CommandLine::traits()
  bool with_threads_ = true;
};

/// Texts of a program.
struct ProgramTexts {
  const char* help;
  std::string (*version)();
  std::string (*licenses)() = nullptr;  ///< for --licenses; none without
  const char* footer = "";              ///< last lines of the help
  const char* command_advice = "";      ///< remedy for unknown commands
  /// Returns what to type instead of an unknown option of a command with --set; "" for nothing.
  std::string (*option_advice)(const std::string& option, const std::string& value) = nullptr;
};

/// All commands of a program and the words typed.
class CommandLine {
 public:
  /// `argv` must outlive it.
  CommandLine(int argc, char** argv, const ProgramTexts& texts);
  ~CommandLine();

  Command program();
  /// Hook called before the typed command runs.
  std::function<void(const CommandTraits&)> begin = [](const CommandTraits&) {};
  /// Returns the traits of the program and of all commands, in the order of the help.
  const std::vector<CommandTraits>& traits() const { return traits_; }
  /// Runs the typed command and returns its exit code, 0 after help. Throws std::invalid_argument
  /// with one line on wrong usage.
  int run();

  std::span<char* const> words() const { return words_; }
  /// Returns the value of --threads; 0 for all processors.
  std::size_t threads() const { return threads_; }
  /// Whether the printed text is the result. Training continues without a reader.
  bool needs_reader = true;
  /// Returns the commands that complete the last of these words, or options if it begins with -.
  std::vector<std::string> completions(const std::vector<std::string>& words) const;

 private:
  friend class Command;
  std::string problem(const std::string& error) const;
  std::string unknown_option(const CLI::App& app) const;

  std::unique_ptr<CLI::App> app_;
  std::span<char* const> words_;
  std::string command_advice_;
  std::string (*option_advice_)(const std::string& option, const std::string& value);
  std::size_t threads_ = 0;
  std::vector<CommandTraits> traits_ = std::vector<CommandTraits>(1);  ///< [0] of the program
  std::size_t typed_ = 0;
  std::function<int()> body_;  ///< first starts receiving signals
  bool with_parent_ = false;
};

}  // namespace bochner
