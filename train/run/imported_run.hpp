#pragma once
/// Runs that begin with weights from elsewhere.

#include <bochner/train/config/config.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/tasks/learner.hpp>

namespace bochner {

/// Steps, tokens and examples that the weights have seen.
struct ImportedProgress {
  std::uint64_t step = 0, tokens = 0, examples = 0;
};

/// Writes a run with the weights of a learner, whose data are not opened: the first resume records
/// them, and begins all that training adds to a model. `source` is where the weights come from.
void write_imported_run(const SessionContext& context, const Config& config,
                        const std::string& source, Learner& learner,
                        const ImportedProgress& progress);

}  // namespace bochner
