#pragma once
/// Commands, the words after them and what they run. CLI11 stands behind it, in one source.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace bochner {

class CommandLine;

/// More about an option than its name, its value and what it is for.
class CommandOption {
 public:
  explicit CommandOption(CLI::Option* option) : option_(option) {}
  CommandOption required() const;
  /// The help tells the value that stands there now.
  CommandOption shows_default() const;
  CommandOption between(double low, double high) const;
  CommandOption between(int low, int high) const;
  CommandOption positive() const;
  /// Neither help nor completion tells of it.
  CommandOption hidden() const;

 private:
  CLI::Option* option_;
};

/// A command or a group of commands: a handle, to be copied at will.
class Command {
 public:
  Command(CLI::App& app, CommandLine& line) : app_(&app), line_(&line) {}

  /// A group that needs one of its commands: `bochner bench` needs step or length.
  Command group(const char* name, const char* help) const;
  /// The same, whose commands compute nothing that --threads could hasten.
  Command without_threads() const;
  /// A command below this one; `body` returns the exit code. It does not run where a command below
  /// it is typed.
  Command command(const char* name, const std::string& help, std::function<int()> body) const;
  /// The same with options of its own, which live as long as the command line.
  template <class Options>
  std::pair<Command, Options&> command(const char* name, const std::string& help,
                                       int (*body)(const Options&)) const {
    const auto options = std::make_shared<Options>();
    return {command(name, help, [options, body] { return body(*options); }), *options};
  }

  /// "--output,-o", or "input" for a word that has no dashes. `type` stands for the value in the
  /// help. Text, lists of text (an element each time the option is given), numbers, optional
  /// numbers.
  template <class Value>
  CommandOption option(const char* name, Value& value, const std::string& help,
                       const char* type = nullptr) const;
  /// A number that is not negative; the help tells its default.
  template <class Number>
  CommandOption number(const char* name, Number& value, const std::string& help) const;
  void flag(const char* name, bool& value, const char* help) const;
  /// A command that goes on when nobody reads what it prints.
  void needs_no_reader() const;

  CommandLine& line() const { return *line_; }

 private:
  CLI::App* app_;
  CommandLine* line_;
  bool has_threads_ = true;
};

/// What a program says about itself.
struct ProgramWords {
  const char* help;
  std::string (*version)();
  const char* footer = "";     ///< the last lines of the help
  const char* elsewhere = "";  ///< what to do about commands that are not there
};

/// All commands of a program and what was typed.
class CommandLine {
 public:
  /// `argv` must outlive it.
  CommandLine(int argc, char** argv, const ProgramWords& words);
  ~CommandLine();

  Command program();
  /// Runs the command that was typed and returns its exit code, after help 0. Throws
  /// std::invalid_argument, with one line, where the words are wrong.
  int run();

  std::span<char* const> words() const { return words_; }
  /// As --threads says; 0 for all processors.
  std::size_t threads() const { return threads_; }
  /// Whether what is printed is what was asked for.
  bool needs_reader() const { return needs_reader_; }
  /// What may stand in place of the last of these words: commands, or options where it begins with
  /// a dash.
  std::vector<std::string> completions(const std::vector<std::string>& words) const;

 private:
  friend class Command;
  std::string problem(const std::string& error) const;

  std::unique_ptr<CLI::App> app_;
  std::span<char* const> words_;
  std::string elsewhere_;
  std::size_t threads_ = 0;
  bool needs_reader_ = true;
  std::function<int()> body_;
};

}  // namespace bochner
