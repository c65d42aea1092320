#include <fmt/format.h>

#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/commands/training.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct ResumeOptions : TrainingOptions {
  bool strict = false;
};

int resume_command(const ResumeOptions& options) {
  const ProgressMode mode = progress_mode(options.progress);
  PosixStorage storage;
  std::vector<std::string> notes;
  Session session = Session::resume(storage, options.run, options.sets, options.strict, notes);
  return drive(session, mode, options, notes,
               fmt::format("resumed  step {}", session.state().step));
}

}  // namespace

void add_resume(const Command& program) {
  const auto [command, options] =
      program.command("resume", "go on with a run, bit for bit", resume_command);
  add_run(command, options.run, "directory of the run");
  command.flag("--strict", &options.strict,
               "refuse another build or machine than the checkpoint's");
  add_training(command, options, false);
}

}  // namespace bochner::inline BOCHNER_PRECISION
