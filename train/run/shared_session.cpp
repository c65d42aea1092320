#include <fmt/format.h>

#include <algorithm>
#include <bochner/data/windows.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/storage/bounded_archive.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Session Session::join(Processes& processes, const DataReading& reading) {
  std::string text;
  processes.share(text);
  Session session(stored_config(text, "the config of the run"), processes, reading);
  session.share_all();
  session.require_shared_data(reading);
  return session;
}

void Session::share(const DataReading& reading) {
  if (processes_.size() == 1) return;
  std::string text = print_config(config_);
  processes_.share(text);
  share_all();
  require_shared_data(reading);
}

/// State and tensors, all that a checkpoint holds besides the config.
void Session::share_all() {
  std::string path = path_.string(), bytes = encode_state(state());
  processes_.share(path);
  processes_.share(bytes);
  path_ = path;
  BoundedInputArchive archive(bytes);
  archive(state());
  for (const NamedTensor& named : trainer_->tensors())
    processes_.share_bytes(named.tensor->data(), named.tensor->size() * sizeof(real));
  trainer_->cut_moments();
}

/// Files that the system says to be the same need not be read again.
void Session::require_shared_data(const DataReading& reading) {
  const ByteCorpus* corpus = task_->data().corpus();
  const bool seen = corpus && corpus->marks() != 0 && corpus->marks() == state().data_marks;
  std::string problem;
  if (!run_ && !seen && data_fingerprint(reading) != state().data_fingerprint)
    problem = fmt::format(
        "process {} on {} does not read the data that process 0 reads; give all "
        "machines the same files",
        processes_.rank(), processes_.hosts()[processes_.rank()]);
  problem = processes_.first_text(problem);
  if (problem.empty()) return;
  if (run_) throw DataError(path_.string(), ": ", problem);
  throw AgreedError(problem);
}

void Session::require_equal_weights() {
  if (processes_.size() == 1) return;
  const std::vector<std::string> digests =
      processes_.texts(fmt::format("{:016x}", trainer_->digest()));
  const auto other =
      std::ranges::find_if(digests, [&](const std::string& one) { return one != digests[0]; });
  if (other == digests.end()) return;
  const auto rank = std::size_t(other - digests.begin());
  throw AgreedError(fmt::format(
      "{}: step {}: process {} on {} has other weights than process 0, {} for {}; this step is not "
      "saved: resume from the last checkpoint, and if it happens again, without that machine",
      path_.string(), state().step, rank, processes_.hosts()[rank], *other, digests[0]));
}

}  // namespace bochner::inline BOCHNER_PRECISION
