#include <fmt/format.h>

#include <bochner/base/format.hpp>
#include <bochner/base/join.hpp>
#include <bochner/train/run/checkpoint/model_weights.hpp>
#include <bochner/train/run/run_metadata.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/run/signals.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>

namespace bochner {
namespace {

/// Throws DataError for a fork or import without checkpoint, whose weights its config lacks.
void require_not_forked(const RunDirectory& run) {
  const std::string parent = parent_in(run.meta());
  if (parent.empty()) return;
  throw DataError(run.path().string(), ": was to start from the weights of ", parent,
                  " but ended before its first checkpoint; fork or import them again");
}

/// Throws ConfigError if config.toml was edited in keys that resume may not change.
void require_own_config(const CheckpointReader& checkpoint, const Config& file) {
  const Config saved = stored_config(checkpoint.config(), checkpoint.path().string());
  const std::string run = checkpoint.path().parent_path().parent_path().string();
  std::vector<std::string> edited;
  for (const ParameterRow& row : saved.table().rows())
    if (!row.traits.resume && file.table().find(row.name) &&
        file.value(row.name) != saved.value(row.name))
      edited.push_back(fmt::format("{}, which was {}", assignment(file, row.name),
                                   format_value(saved.value(row.name))));
  if (edited.empty()) return;
  throw ConfigError(fmt::format(
      "{0}/config.toml: has {1}; a run keeps its config: restore the old values, or start a "
      "new run from its weights: bochner fork {2} {3} --run DIR",
      run, joined(edited), shell_word(run), shell_word(run + "/config.toml")));
}

/// Reports another build or machine: an error with `strict`, else a note.
void compare_numerics(const Path& run, const TrainerState& saved, bool strict,
                      std::vector<std::string>& notes) {
  const std::string difference = numerics_difference(saved.numerics);
  if (difference.empty()) return;
  if (strict) throw DataError(run.string(), ": ", difference, "; omit --strict to continue anyway");
  notes.push_back(difference + "; bits may differ from the uninterrupted run");
}

/// Loads all tensors of a trainer. Training state (moments, averages, starts of spectra) is
/// initialized if the checkpoint has no moments, as that of a compressed or imported model.
void load_all(Trainer& trainer, const CheckpointReader& checkpoint,
              std::vector<std::string>& notes) {
  std::vector<NamedTensor> wanted = trainer.tensors();
  if (std::ranges::none_of(checkpoint.tensors(), is_moment)) {
    if (std::erase_if(wanted, is_moment) > 0)
      notes.push_back("the checkpoint has no moments: the optimizer starts from scratch");
    std::vector<NamedTensor> of_model;
    std::ranges::copy_if(wanted, std::back_inserter(of_model), is_of_model);
    require_complete(checkpoint, load_tensors(checkpoint, of_model));
    trainer.calibrate([](const std::string&) { return false; });  // averages of these weights
    std::erase_if(wanted, [&](const NamedTensor& named) {
      return is_of_model(named) || !checkpoint.find(named.name);
    });
  }
  require_complete(checkpoint, load_tensors(checkpoint, wanted));
}

/// Partitioned moments, gathered while a checkpoint is written.
class WholeMoments {
 public:
  explicit WholeMoments(Trainer& trainer)
      : trainer_(trainer), gathered_(trainer.gather_moments()) {}
  ~WholeMoments() {
    if (gathered_ && trainer_.leads()) trainer_.cut_moments();
  }
  WholeMoments(const WholeMoments&) = delete;

 private:
  Trainer& trainer_;
  bool gathered_;
};

/// Makes the task; handles signals while a large text is encoded.
std::unique_ptr<Task> task_of(const Config& config, const DataReading& reading,
                              const KnownFacts& known) {
  const auto look = [&] {
    if (reading.stopped && reading.stopped())
      throw StoppedError(
          "stopped while the text was encoded, before training; run the same command again");
  };
  prepare_encoded_text(config, {reading.tell, look});
  return make_task(config, known);
}

}  // namespace

Session::Session(const Config& config, Processes& processes, const DataReading& reading,
                 const Config& words, const KnownFacts& known)
    : config_(config),
      config_text_(print_config(config_)),
      task_(task_of(words, reading, known)),
      spec_(read_spec<TrainSpec>(config_, "train")),
      tokens_per_step_(spec_.examples_per_step() * task_->data().tokens_per_example()),
      steps_per_epoch_(double(task_->data().examples(Split::train)) /
                       double(spec_.examples_per_step())),
      total_steps_(steps(spec_.steps)),
      trainer_(std::make_unique<Trainer>(config_, *task_, total_steps_, processes)),
      processes_(processes) {}

void Session::require_shards(const Config& config, const Processes& processes) {
  if (processes.size() > config.count("train.shards"))
    fail(config, "train.shards",
         fmt::format("has fewer shards than the {} processes; a new run may have {}",
                     processes.size(), std::bit_ceil(processes.size())));
}

void Session::make_directory(const SessionContext& context, const std::string& parent) {
  note_data(context.reading);
  run_ = RunDirectory::create(context.storage, context.directory, config_text_,
                              run_metadata(config_, context.command, parent, processes_.hosts()),
                              tokenizer_file(config_));
  path_ = context.directory;
  require_space();
}

Session Session::start(const SessionContext& context, const Config& config) {
  RunDirectory::require_fresh(context.storage, context.directory);
  require_shards(config, context.processes);
  Session session(config, context.processes, context.reading, config);
  session.task_->start();
  session.trainer_->calibrate();
  session.make_directory(context, "");
  session.share(context.reading);
  return session;
}

Session Session::resume(const SessionContext& context, const std::vector<std::string>& changes,
                        bool strict, std::vector<std::string>& notes) {
  const Path& directory = context.directory;
  RunDirectory run = RunDirectory::open(context.storage, directory);
  const std::optional<CheckpointReader> checkpoint = run.newest_valid(notes);
  const Config before = stored_config(run.config(), (directory / config_name).string());
  if (checkpoint) require_own_config(*checkpoint, before);
  const Config config = with_sets(before, changes);
  require_resumable(before, config, directory.string());
  if (!checkpoint) require_not_forked(run);
  require_shards(config, context.processes);
  Session session(config, context.processes, context.reading, with_own_tokenizer(config, directory),
                  {checkpoint ? checkpoint->facts() : ""});
  session.run_ = std::move(run);
  session.path_ = directory;
  session.require_space();
  if (checkpoint) {
    session.restore(*checkpoint, strict, notes, context.reading);
  } else {
    session.note_data(context.reading);
    session.task_->start();
    session.trainer_->calibrate();
  }
  const TrainerState& state = session.state();
  const std::string damage = session.run_->metrics().rewind(
      state.metrics_bytes, {state.metrics_digests, state.metrics_lines}, state.metrics_waiting);
  if (!damage.empty()) notes.push_back(damage);
  if (session.config_ != before) session.run_->replace_config(session.config_text_);
  session.share(context.reading);
  return session;
}

void Session::restore(const CheckpointReader& checkpoint, bool strict,
                      std::vector<std::string>& notes, const DataReading& reading) {
  recognise_data(checkpoint.state(), reading);
  compare_numerics(run_->path(), checkpoint.state(), strict, notes);
  load_all(*trainer_, checkpoint, notes);
  const TrainerState now = state();
  state() = checkpoint.state();
  if (state().step < total_steps_ && !has_stopped_improving()) state().numerics = now.numerics;
  state().data_fingerprint = now.data_fingerprint;
  state().data_marks = now.data_marks;
}

void Session::require_space() {
  std::uint64_t bytes = 0;
  for (const NamedTensor& named : trainer_->tensors()) bytes += named.tensor->size() * sizeof(real);
  run_->preflight(bytes);
}

std::string Session::append(const std::string& line) {
  if (!run_) return "";
  run_->metrics().append(line);
  return run_->metrics().problem();
}

Path Session::save() {
  const WholeMoments whole(*trainer_);
  if (!run_) return {};
  task_->fit_closed_form();
  MetricsFile& metrics = run_->metrics();
  metrics.flush();
  state().metrics_bytes = metrics.bytes();
  const LineDigests digests = bounded(metrics.digests());
  state().metrics_digests = digests.values;
  state().metrics_lines = digests.lines;
  state().metrics_waiting = metrics.waiting();
  return run_->save(
      {config_text_, records_of(trainer_->tensors()), state(), task_->learner().facts()});
}

}  // namespace bochner
