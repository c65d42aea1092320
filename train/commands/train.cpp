#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/commands/training.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct TrainOptions : TrainingOptions {
  std::string config;
};

int train_command(const TrainOptions& options) {
  const ProgressMode mode = progress_mode(options.progress);
  const Config config = read_config(options.config, options.sets);
  PosixStorage storage;
  Session session =
      Session::start(storage, config, run_directory(options.config, options), options.typed);
  return drive(session, mode, options);
}

}  // namespace

void add_train(const Command& program) {
  const auto [command, options] = program.command("train", "start a new run", train_command);
  add_config_file(command, options.config);
  add_training(command, options, true);
}

}  // namespace bochner::inline BOCHNER_PRECISION
