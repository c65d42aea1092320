#include <fmt/format.h>

#include <bochner/base/format.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/text/token_windows.hpp>
#include <bochner/train/run/background_digest.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/run/signals.hpp>

/// Whether the data of a session are those that its run began with.
namespace bochner {
namespace {

[[noreturn]] void refuse_data(const Path& run) {
  throw DataError(run.string(), ": the files of data.files have changed since the run began",
                  "; restore them, or start a new run from its weights: bochner fork ",
                  shell_word(run.string()), " ... --reset data");
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

}  // namespace

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
  constexpr std::uint64_t not_recorded = 0;  // by an import, which opens no data
  if (saved.data_fingerprint != not_recorded && state().data_fingerprint != saved.data_fingerprint)
    refuse_data(run_->path());
}

void Session::recheck_own_data() {
  const ByteCorpus* corpus = task_->data().corpus();
  if (!corpus) return;
  const std::uint64_t marks = corpus->file_marks();
  if (std::exchange(seen_marks_, marks) == marks) return;
  if (corpus->marks() == 0) {
    if (task_->data().fingerprint() != state().data_fingerprint) refuse_data(path_);
    return;
  }
  verification_ = std::make_unique<BackgroundDigest>(*corpus);
  await_same_data();
}

bool Session::compares_data() const { return verification_ && !verification_->is_ready(); }

void Session::require_same_data() const {
  if (verification_ && verification_->is_ready() &&
      verification_->value() != trainer_->state().data_fingerprint)
    refuse_data(path_);
}

bool Session::await_same_data(const std::function<bool()>& stopped) const {
  if (verification_ && !verification_->wait(stopped)) return false;
  require_same_data();
  return true;
}

}  // namespace bochner
