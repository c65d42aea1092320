#include <bochner/train/commands/shared_work.hpp>
#include <bochner/train/processes/mpi.hpp>

namespace bochner {

SharedWork::SharedWork(const CommandLine& line) : processes_(launched_together()) {
  if (processes_.size() == 1) return;
  std::vector<std::string> notes;
  share_processors(line.threads(), processes_, notes);
  for (const std::string& note : notes)
    if (leads()) fmt::print(stderr, "note     {}\n", note);
}

}  // namespace bochner
