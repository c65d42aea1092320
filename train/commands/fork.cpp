#include <fmt/format.h>

#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/commands/training.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct ForkOptions : TrainingOptions {
  std::string parent, config, resets;
};

int fork_command(const ForkOptions& options) {
  const ProgressMode mode = progress_mode(options.progress);
  const Config config = read_config(options.config, options.sets);
  PosixStorage storage;
  std::vector<std::string> notes;
  Session session = Session::fork(storage, parse_run_reference(options.parent), config,
                                  run_directory(options.config, options),
                                  parse_resets(options.resets), options.typed, notes);
  return drive(session, mode, options, notes,
               fmt::format("forked   {}, at step {}", options.parent, session.state().step));
}

}  // namespace

void add_fork(const Command& program) {
  const auto [command, options] =
      program.command("fork", "start a new run from the checkpoint of another", fork_command);
  command.option("parent", &options.parent, "RUN, RUN@best or RUN@STEP", "RUN").required();
  add_config_file(command, options.config);
  command.option("--reset", &options.resets, "what starts anew: optimizer,schedule,data,ema",
                 "LIST");
  add_training(command, options, true);
}

}  // namespace bochner::inline BOCHNER_PRECISION
