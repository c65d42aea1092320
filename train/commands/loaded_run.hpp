#pragma once
/// Runs that a command reads. Checkpoints that had to be skipped are named on stderr.

#include <bochner/layers/module.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>

namespace bochner {

class DrawnPosteriors;
class Learner;
class Task;

struct LoadedRun {
  CheckpointReader checkpoint;
  Config config;
};
/// The checkpoint that "RUN", "RUN@best" or "RUN@1000" means, and its config with the changes of
/// --set, checked.
LoadedRun load_run(const std::string& reference, const std::vector<std::string>& sets = {});
/// The checkpoint that is meant, or the one in this file.
CheckpointReader open_run_or_file(const std::string& text);

/// Options of a command that asks the model of a run.
struct ModelOptions {
  std::string run = {};
  std::vector<std::string> sets = {};
  bool live_weights = false;  ///< those of the step, not the averaged ones
  bool tells_changes = true;  ///< of the data, on stderr
};
inline void add_model_changes(const Command& command, ModelOptions& options) {
  add_sets(command, options.sets);
  add_weights(command, options.live_weights);
}

/// The learner of a run as its training began, but for what its data set.
std::unique_ptr<Learner> initial_learner(const LoadedRun& run);
/// The learner of a run with its weights: no training data are opened. A checkpoint of other
/// numerics gets a note on stderr where `notes` says so, as in one of the processes of a command.
/// Throws ConfigError, as resume does, where weights do not fit because of a key that --set has
/// changed.
std::unique_ptr<Learner> load_learner(const LoadedRun& run, const ModelOptions& options,
                                      bool notes = true);

/// Copies the weights of a run into the model of its config. Throws ConfigError as load_learner().
void load_weights(const CheckpointReader& checkpoint, const Config& config, Module& model,
                  const ModelOptions& options);

/// --draws of a posterior.
inline void add_draws(const Command& command, std::size_t& draws) {
  command.number("--draws", &draws,
                 "average predictions over so many draws of the posterior (density.posterior); 0 "
                 "for the learned parameters themselves");
}
/// Throws where there is nothing to draw from.
void require_posterior(const DrawnPosteriors& posteriors, std::size_t draws);

struct LoadedTask {
  CheckpointReader checkpoint;
  Config config;
  std::unique_ptr<Task> task;
};
/// The task of a run on its data, or on those that --set names. Data that have changed are noted on
/// stderr. Throws DataError where these hold names that the run has not learned.
LoadedTask load_task(const ModelOptions& options);
/// Throws ConfigError that names the run, or --set where it is about the data, where no examples
/// are kept to validate on.
void require_validation(const LoadedTask& loaded, const ModelOptions& options);

}  // namespace bochner
