#include <fmt/format.h>

#include <bochner/train/commands/loaded_run.hpp>
#include <cstdio>

namespace bochner::inline BOCHNER_PRECISION {

LoadedRun load_run(FileStorage& storage, const std::string& reference,
                   const std::vector<std::string>& sets) {
  std::vector<std::string> skipped;
  CheckpointReader checkpoint = open_checkpoint(storage, parse_run_reference(reference), skipped);
  for (const std::string& note : skipped) fmt::print(stderr, "skipped {}\n", note);
  Config config =
      parse_config(checkpoint.config(), checkpoint.path().string(), registered_parameters());
  for (const std::string& set : sets) apply_set(config, set);
  validate(config);
  return {std::move(checkpoint), std::move(config)};
}

}  // namespace bochner::inline BOCHNER_PRECISION
