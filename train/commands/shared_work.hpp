#pragma once
/// Commands whose work is shared by the processes that were started together; one alone is the
/// first of them.

#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/distributed/processes.hpp>

namespace bochner {

/// Of the others than the first process, where that tells what is wrong: they end with its code.
struct ToldByFirst {
  ExitCode code;
};

/// The processes that were started together by this command; once in a program.
Processes meet(const CommandLine& line);
/// Throws in the first process where one of them has other words, std::invalid_argument, or would
/// compute other bits, DataError; in the others ToldByFirst.
void require_one_command(Processes& processes, const std::vector<std::string>& words,
                         const std::string& numerics);
/// Throws where one of them has not read what the first one has, which is `called` so: DataError
/// in the first, ToldByFirst in the others.
void require_one_text(Processes& processes, const std::string& mine, const std::string& called);
/// What was typed behind the name of the program, but for --threads and --jobs.
std::vector<std::string> agreed_words(std::span<char* const> words);

/// Each process has its share of the threads. Errors end all: mpirun does.
class SharedWork {
 public:
  explicit SharedWork(const CommandLine& line);

  Processes& processes() { return processes_; }
  /// Whether this process reads standard input and prints.
  bool leads() const { return processes_.leads(); }
  /// make() in the first process, and then in the others: what is wrong for all is told once.
  template <class Make>
  auto first_alone(const Make& make) {
    std::string go_on = "go on";
    if (!leads()) processes_.share(go_on);
    auto made = make();
    if (leads()) processes_.share(go_on);
    return made;
  }
  /// load(options) of a run in the first process, and then in the others of the checkpoint that it
  /// has opened: a run that trains has newer ones meanwhile. The first one tells for all that data
  /// have changed.
  template <class Options, class Load>
  auto first_opens(Options options, const Load& load) {
    if (!leads()) processes_.share(options.run);
    options.tells_changes = leads();
    auto loaded = load(options);
    const auto run = loaded.checkpoint.path().parent_path().parent_path();
    options.run = fmt::format("{}@{}", run.string(), loaded.checkpoint.state().step);
    if (leads()) processes_.share(options.run);
    return loaded;
  }
  /// Waits for the others, at the end.
  void end() { processes_.end(); }

 private:
  Processes processes_;
};

}  // namespace bochner
