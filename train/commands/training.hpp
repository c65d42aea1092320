#pragma once
/// What train, resume and fork share.

#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/run/progress.hpp>
#include <bochner/train/run/session.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct TrainingOptions {
  std::string run, progress = "auto";
  std::vector<std::string> sets;
  bool profile = false;
  std::string typed;    ///< as a shell reads it, for meta.json
  std::string program;  ///< its first word, for what to type next
  CommandLine* line = nullptr;
};
void add_training(const Command& command, TrainingOptions& options, bool in_new_run);

Path run_directory(const std::string& config, const TrainingOptions& options);

/// Trains and returns the exit code. `origin` says where a run that does not begin at step 0 comes
/// from.
int drive(Session& session, ProgressMode mode, const TrainingOptions& options,
          const std::vector<std::string>& notes = {}, const std::string& origin = "");

}  // namespace bochner::inline BOCHNER_PRECISION
