#pragma once
/// Commands whose work is shared by the processes that were started together; one alone is the
/// first of them.

#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/processes/processes.hpp>

namespace bochner {

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
  /// Waits for the others, at the end.
  void end() { processes_.end(); }

 private:
  Processes processes_;
};

}  // namespace bochner
