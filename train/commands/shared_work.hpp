#pragma once
/// Work that a command shares among the processes of mpirun; a single process is the first one.

#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/distributed/processes.hpp>

namespace bochner {

/// Thrown in the other processes if the first one reports an error: they exit with its code.
struct ReportedByFirst {
  ExitCode code;
};

/// Connects the processes of this command; call it once per program.
Processes meet(const CommandLine& line);
/// Throws in the first process if another has other words (std::invalid_argument) or computes other
/// bits (DataError), and ReportedByFirst in the others.
void require_one_command(Processes& processes, const std::vector<std::string>& words,
                         const std::string& numerics);
/// Throws if a process has read another text than the first one, DataError in the first and
/// ReportedByFirst in the others. `called` names the text in the message.
void require_one_text(Processes& processes, const std::string& mine, const std::string& called);
/// Returns the typed words that all processes must share: all but --threads, --jobs and the
/// program.
std::vector<std::string> agreed_words(std::span<char* const> words);

/// Shares threads among the processes. An error in one ends all, by mpirun.
class SharedWork {
 public:
  explicit SharedWork(const CommandLine& line);

  Processes& processes() { return processes_; }
  /// Whether this process reads standard input and prints.
  bool leads() const { return processes_.leads(); }
  /// Calls make() in the first process, then in the others, so that common errors are printed once.
  template <class Make>
  auto first_alone(const Make& make) {
    std::string turn = "next";
    if (!leads()) processes_.share(turn);
    auto made = make();
    if (leads()) processes_.share(turn);
    return made;
  }
  /// Calls load(options) in the first process, then in the others with the checkpoint that it
  /// opened, since a training run may have saved newer ones. Only the first notes changed data.
  template <class Options, class Load>
  auto first_opens(Options options, const Load& load) {
    if (!leads()) processes_.share(options.run);
    options.notes_changes = leads();
    auto loaded = load(options);
    const auto run = loaded.checkpoint.path().parent_path().parent_path();
    options.run = fmt::format("{}@{}", run.string(), loaded.checkpoint.state().step);
    if (leads()) processes_.share(options.run);
    return loaded;
  }
  /// Waits at the end for the others.
  void end() { processes_.end(); }

 private:
  Processes processes_;
};

}  // namespace bochner
