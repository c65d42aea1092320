#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/text.hpp>
#include <bochner/train/run/run_reference.hpp>

namespace bochner::inline BOCHNER_PRECISION {

RunReference parse_run_reference(const std::string& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos || std::filesystem::exists(text)) return {text, ""};
  const std::string checkpoint = text.substr(at + 1);
  if (checkpoint != "best" && !parse_count(checkpoint)) {
    throw std::invalid_argument(text + ": after @ must come \"best\" or a step");
  }
  return {text.substr(0, at), checkpoint};
}

CheckpointReader open_checkpoint(FileStorage& storage, const RunReference& reference,
                                 std::vector<std::string>& skipped) {
  RunDirectory run = RunDirectory::read(storage, reference.directory);
  if (reference.checkpoint == "best") return run.load_best();
  if (!reference.checkpoint.empty())
    return run.load_step(parse_count(reference.checkpoint).value());
  std::optional<CheckpointReader> newest = run.newest_valid(skipped);
  if (!newest)
    throw DataError(reference.directory.string() + ": no checkpoint yet; resume the run first");
  return std::move(*newest);
}

}  // namespace bochner::inline BOCHNER_PRECISION
