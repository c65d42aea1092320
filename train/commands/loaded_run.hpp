#pragma once
/// Runs that a command reads. Checkpoints that had to be skipped are named on stderr.

#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>

namespace bochner {

class DrawnPosteriors;
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
  std::string run;
  std::vector<std::string> sets;
  bool live_weights = false;  ///< those of the step, not the averaged ones
  bool tells_changes = true;  ///< of the data, on stderr
};
inline void add_model_changes(const Command& command, ModelOptions& options) {
  add_sets(command, options.sets);
  add_weights(command, options.live_weights);
}

/// The task of a config on its data. Throws DataError where these hold types, labels, series or
/// texts of covariates that the run has not learned; data that have changed, and what else differs,
/// are named on stderr where it `tells_changes`, as one of the processes of a command does.
std::unique_ptr<Task> make_task_of(const CheckpointReader& checkpoint, const Config& config,
                                   bool tells_changes = true);

/// Copies the weights of a run into the model of its config. Throws ConfigError, as resume does,
/// where they do not fit because of a key that --set has changed.
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

/// The language model of a run of a text, which need not be there.
std::unique_ptr<LanguageModel> load_language_model(const LoadedRun& run, bool live_weights);

struct LoadedTask {
  CheckpointReader checkpoint;
  Config config;
  std::unique_ptr<Task> task;
};
LoadedTask load_task(const ModelOptions& options);
/// Throws ConfigError that names the run, or --set where it is about the data, where no examples
/// are kept to validate on.
void require_validation(const LoadedTask& loaded, const ModelOptions& options);

}  // namespace bochner
