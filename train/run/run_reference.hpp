#pragma once
/// How a user names a run or one of its checkpoints.

#include <bochner/train/run/run_directory.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// "RUN", "RUN@best" or "RUN@1000".
struct RunReference {
  Path directory;
  std::string checkpoint;  ///< "", "best" or a step
};
/// Throws std::invalid_argument when what follows the last @ is neither "best" nor a step.
RunReference parse_run_reference(const std::string& text);
/// The checkpoint that is meant; what was wrong with newer ones is added to `skipped`. Throws
/// DataError if none.
CheckpointReader open_checkpoint(FileStorage& storage, const RunReference& reference,
                                 std::vector<std::string>& skipped);

}  // namespace bochner::inline BOCHNER_PRECISION
