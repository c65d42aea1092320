#pragma once
/// Runs as commands read them. Skipped checkpoints are named on stderr.

#include <bochner/layers/module.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>

namespace bochner {

class Dataset;
class DrawnPosteriors;
struct HeldOut;
class Learner;
class Task;

struct LoadedRun {
  CheckpointReader checkpoint;
  Config config;
};
/// Opens the checkpoint named by "RUN", "RUN@best" or "RUN@1000"; its config has the changes of
/// --set and is validated. Throws ConfigError, as resume does, if --set makes another model.
LoadedRun load_run(const std::string& reference, const std::vector<std::string>& sets = {});
/// Opens the checkpoint of a run reference or of a file.
CheckpointReader open_run_or_file(const std::string& text);

/// Whether --set names other data, or reads them in another way.
bool sets_data(const Config& config);

/// Options of a command that uses the model of a run.
struct ModelOptions {
  std::string run = {};
  std::vector<std::string> sets = {};
  bool live_weights = false;  ///< of the step, not averaged
  bool notes_changes = true;  ///< prints changes of data and numerics on stderr
};
inline void add_model_changes(const Command& command, ModelOptions& options) {
  add_sets(command, options.sets);
  add_weights(command, options.live_weights);
}

/// Makes the learner of a run with its initial weights and with the facts of its data.
std::unique_ptr<Learner> initial_learner(const LoadedRun& run);
/// Makes the learner of a run with its weights and without its training data. With `notes`, prints
/// a note on stderr if the checkpoint has other numerics.
std::unique_ptr<Learner> load_learner(const LoadedRun& run, const ModelOptions& options,
                                      bool notes = true);

inline void add_draws(const Command& command, std::size_t& draws) {
  command.number("--draws", &draws,
                 "average predictions over N draws of the posterior (density.posterior); 0 uses "
                 "the learned parameters");
}
/// Throws std::invalid_argument if `draws` > 0 and the model has no posterior.
void require_posterior(const DrawnPosteriors& posteriors, std::size_t draws);

/// Prints a note on stderr if the data are not those of the training, unless --set names others.
/// Texts above 64 MiB are not read for it, but compared by the times and sizes of their files.
void note_changed_data(const CheckpointReader& checkpoint, const Config& config,
                       const Dataset& data);

/// Returns the examples that the verdict of a run is about.
HeldOut held_out_in(const Config& config, const Dataset& data);
/// Prints a note on stderr if the last verdict of a run says that it is no better than a naive
/// answer.
void note_verdict(const std::string& reference);

struct LoadedTask {
  CheckpointReader checkpoint;
  Config config;
  std::unique_ptr<Task> task;
};
/// Opens a run with its data, or with those of --set. Prints a note on stderr if the data changed.
/// Throws DataError if they hold names that the run has not learned. `file`: evaluated as a whole
/// instead of the data, see sets_of_other_data().
LoadedTask load_task(const ModelOptions& options, const std::string& file = "");
/// Throws ConfigError if there are no validation examples; it names the run, or --set if that
/// changes the data.
void require_validation(const LoadedTask& loaded, const ModelOptions& options);

}  // namespace bochner
