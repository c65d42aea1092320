#include <fmt/format.h>

#include <bochner/data/text/token_windows.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/storage/bounded_archive.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <filesystem>

namespace bochner {
namespace {

/// Returns the config with the run's own tokenizer model, if this machine has its directory.
Config with_nearest_tokenizer(const Config& config, const Path& run) {
  std::error_code away;
  const bool is_here = std::filesystem::exists(run / tokenizer_name, away);
  return is_here ? with_own_tokenizer(config, run) : config;
}

}  // namespace

Session Session::join(Processes& processes, const DataReading& reading) {
  std::string text, path;
  KnownFacts known{.extends = true};  // all processes refuse other data below
  for (std::string* word : {&text, &path, &known.bytes}) processes.share(*word);
  const Config config = stored_config(text, "the config of the run");
  Session session(config, processes, reading, with_nearest_tokenizer(config, path), known);
  session.path_ = path;
  session.share_all();
  session.require_shared_data(reading);
  return session;
}

void Session::share(const DataReading& reading) {
  if (processes_.size() == 1) return;
  std::string text = print_config(config_), path = path_.string(), facts = task_->learner().facts();
  for (std::string* word : {&text, &path, &facts}) processes_.share(*word);
  share_all();
  require_shared_data(reading);
}

/// Shares state and tensors, all of a checkpoint except for the config.
void Session::share_all() {
  std::string bytes = encode_state(state());
  processes_.share(bytes);
  BoundedInputArchive archive(bytes);
  archive(state());
  for (const NamedTensor& named : trainer_->tensors())
    processes_.share_bytes(named.tensor->data(), named.tensor->size() * sizeof(real));
  trainer_->cut_moments();
}

/// Compares the data with process 0's; files with equal modification marks are not read again.
void Session::require_shared_data(const DataReading& reading) {
  const ByteCorpus* corpus = task_->data().corpus();
  const bool seen = corpus && corpus->marks() != 0 && corpus->marks() == state().data_marks;
  std::string problem;
  if (!run_) {
    seen_marks_ = corpus ? corpus->file_marks() : 0;
    if (!seen && data_fingerprint(reading) != state().data_fingerprint)
      problem = fmt::format(
          "{}: {} does not read the data that process 0 reads; give all machines the same files",
          path_.string(), processes_.name(processes_.rank()));
  }
  agree_on_data(problem);
}

void Session::agree_on_data(const std::string& problem) {
  const std::string first = processes_.first_text(problem);
  if (first.empty()) return;
  if (run_) throw DataError(first);
  throw AgreedError(first);
}

/// Rechecks the data; a process that cannot read them must not leave the others waiting.
void Session::recheck_data() {
  if (processes_.size() == 1) return recheck_own_data();
  std::string problem;
  try {
    recheck_own_data();
  } catch (const std::runtime_error& error) {
    problem = fmt::format("{}: {}", processes_.name(processes_.rank()), error.what());
  }
  agree_on_data(problem);
}

void Session::require_equal_weights() {
  if (processes_.size() == 1) return;
  const std::vector<std::string> digests =
      processes_.texts(fmt::format("{:016x}", trainer_->digest()));
  const auto rank = first_other(digests);
  if (!rank) return;
  throw AgreedError(fmt::format(
      "{}: step {}: {} has other weights than process 0, {} for {}; this step is not "
      "saved: resume from the last checkpoint, and if it happens again, without that machine",
      path_.string(), state().step, processes_.name(*rank), digests[*rank], digests[0]));
}

}  // namespace bochner
