#include <fmt/format.h>

#include <bochner/base/format.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/text/token_windows.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/run/signals.hpp>
#include <bochner/train/storage/bounded_archive.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

/// Whether the data of a session are those that its run began with, and the same in all processes.
namespace bochner {
namespace {

[[noreturn]] void refuse_data(const Path& run, const Config& config) {
  const std::string source = makes_tables(config)
                                 ? "the table of " + assignment(config, "data.source") + " has"
                                 : "the files of data.files have",
                    restored = makes_tables(config) ? "the program" : "them";
  throw DataError(run.string(), ": ", source, " changed since the run began; restore ", restored,
                  ", or start a new run from its weights: bochner fork ", shell_word(run.string()),
                  " ... --reset data");
}

/// Computes the digest of large files; handles signals at once, however slow the files are.
std::uint64_t digest_of_large(const ByteCorpus& corpus, const DataReading& reading) {
  if (reading.tell)
    reading.tell(fmt::format("reading  {} of text to detect later changes",
                             format_bytes(double(corpus.size()))));
  const BackgroundDigest digest(corpus);
  if (digest.wait(reading.stopped)) return digest.value();
  throw StoppedError(
      "stopped while the text was read, before training; run the same command again");
}

/// Returns the config with the run's own tokenizer model, if this machine has its directory.
Config with_nearest_tokenizer(const Config& config, const Path& run) {
  std::error_code away;
  const bool is_here = std::filesystem::exists(run / tokenizer_name, away);
  return is_here ? with_own_tokenizer(config, run) : config;
}

}  // namespace

BackgroundDigest::BackgroundDigest(const ByteCorpus& corpus)
    : digest_(std::async(std::launch::async, [&corpus, stop = stop_.get_token()] {
        return corpus.fingerprint(stop);
      })) {}

bool BackgroundDigest::wait(const std::function<bool()>& stopped) const {
  while (digest_.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready)
    if (stopped && stopped()) return false;
  return true;
}

void Session::note_data(const DataReading& reading) {
  const ByteCorpus* corpus = task_->data().corpus();
  state().data_marks = corpus ? corpus->marks() : 0;
  seen_marks_ = corpus ? corpus->file_marks() : 0;
  state().data_fingerprint = data_fingerprint(reading);
}

std::uint64_t Session::data_fingerprint(const DataReading& reading) const {
  const ByteCorpus* corpus = task_->data().corpus();
  return corpus && corpus->marks() != 0 ? digest_of_large(*corpus, reading)
                                        : task_->data().fingerprint();
}

void Session::recognise_data(const TrainerState& saved, const DataReading& reading) {
  const ByteCorpus* corpus = task_->data().corpus();
  const std::uint64_t marks = corpus ? corpus->marks() : 0;
  if (marks != 0 && marks == saved.data_marks) {
    state().data_fingerprint = saved.data_fingerprint;
    state().data_marks = marks;
    seen_marks_ = corpus->file_marks();
    verification_ = std::make_unique<BackgroundDigest>(*corpus);
    return;
  }
  note_data(reading);
  if (saved.data_fingerprint != not_recorded && state().data_fingerprint != saved.data_fingerprint)
    refuse_data(run_->path(), config_);
}

void Session::recheck_own_data() {
  const ByteCorpus* corpus = task_->data().corpus();
  if (!corpus) return;
  const std::uint64_t marks = corpus->file_marks();
  if (std::exchange(seen_marks_, marks) == marks) return;
  if (corpus->marks() == 0) {
    if (task_->data().fingerprint() != state().data_fingerprint) refuse_data(path_, config_);
    return;
  }
  verification_ = std::make_unique<BackgroundDigest>(*corpus);
  await_same_data();
}

void Session::require_same_data() const {
  if (verification_ && verification_->is_ready() &&
      verification_->value() != trainer_->state().data_fingerprint)
    refuse_data(path_, config_);
}

bool Session::await_same_data(const std::function<bool()>& stopped) const {
  if (verification_ && !verification_->wait(stopped)) return false;
  require_same_data();
  return true;
}

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
  std::string text = config_text_, path = path_.string(), facts = task_->learner().facts();
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
