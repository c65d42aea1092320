#pragma once
/// Runs that start from imported weights.

#include <bochner/train/config/config.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/tasks/learner.hpp>

namespace bochner {

/// Steps, tokens and examples that the weights were trained on.
struct ImportedProgress {
  std::uint64_t step = 0, tokens = 0, examples = 0;
};

/// Writes a run with the weights of a learner without opening its data: the first resume records
/// them and initializes the state of training. `source` names the origin of the weights.
void write_imported_run(const SessionContext& context, const Config& config,
                        const std::string& source, Learner& learner,
                        const ImportedProgress& progress);

}  // namespace bochner
