#pragma once
#include <bochner/train/run/model_weights.hpp>
#include <bochner/train/run/run_reference.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct LoadedRun {
  CheckpointReader checkpoint;
  Config config;
};
/// The checkpoint that "RUN", "RUN@best" or "RUN@1000" means, and its config with the changes of
/// --set, checked; skipped checkpoints are named on stderr.
LoadedRun load_run(FileStorage& storage, const std::string& reference,
                   const std::vector<std::string>& sets = {});

}  // namespace bochner::inline BOCHNER_PRECISION
