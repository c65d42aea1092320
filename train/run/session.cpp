#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <bochner/data/files/text.hpp>
#include <bochner/optim/ema.hpp>
#include <bochner/train/charts/format.hpp>
#include <bochner/train/run/background_digest.hpp>
#include <bochner/train/run/model_weights.hpp>
#include <bochner/train/run/run_metadata.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/run/signals.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/run_names.hpp>
#include <bochner/train/tasks/tokenizers.hpp>
#include <functional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// The config alone does not say where the weights of a fork, or of an import, come from.
void require_not_forked(const RunDirectory& run) {
  const std::string parent = parent_in(run.meta());
  if (parent.empty()) return;
  throw DataError(run.path().string(), ": was to begin with the weights of ", parent,
                  " and ended before its first checkpoint; fork or import them again");
}

/// What config.toml says and no resume has changed must be what the weights were trained with.
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
      "{0}/config.toml: says {1}; a run goes on as it was: write the old values back, or start a "
      "new run from its weights: bochner fork {2} {3} --run DIR",
      run, fmt::join(edited, ", "), shell_word(run), shell_word(run + "/config.toml")));
}

void require_shards(const Config& config, const Processes& processes) {
  if (processes.size() > config.count("train.shards"))
    fail(config, "train.shards",
         fmt::format("has no shard for each of {} processes; a new run may have {}",
                     processes.size(), std::bit_ceil(processes.size())));
}

bool of_model(const NamedTensor& named) {
  return named.name.starts_with(model_prefix) || named.name.starts_with(buffer_prefix);
}

/// Whether something of the feature map of an attention layer was not in the checkpoint.
bool is_new(const std::string& layer, const std::vector<std::string>& left_out) {
  return std::ranges::any_of(left_out, [&](const std::string& name) {
    return name.starts_with(model_prefix + layer + ".features.") ||
           name.starts_with(buffer_prefix + layer + ".features.");
  });
}

/// Another build or machine is an error with `strict`, else a note.
void compare_numerics(const Path& run, const TrainerState& saved, const TrainerState& now,
                      bool strict, std::vector<std::string>& notes) {
  if (saved.numerics == now.numerics) return;
  const std::string difference =
      in_words("another build or machine than the checkpoint's: ", now.numerics, " now, ",
               saved.numerics, " then");
  if (strict)
    throw DataError(run.string(), ": ", difference, "; leave out --strict to go on all the same");
  notes.push_back(difference + "; bits may differ from the uninterrupted run");
}

bool is_of_optimizer(const std::string& name) { return name.starts_with(optimizer_prefix); }
constexpr auto is_moment = [](const auto& tensor) { return is_of_optimizer(tensor.name); };

/// Another optimizer has none of the parent's moments, a few for each tensor: one line for all.
void note_fresh(std::vector<std::string> left_out, std::size_t moments,
                std::vector<std::string>& notes) {
  const std::size_t fresh = std::erase_if(left_out, is_of_optimizer);
  for (const std::string& name : left_out) notes.push_back("starts anew: " + name);
  if (fresh > 0)
    notes.push_back(fmt::format("starts anew: {} of {} tensors of the optimizer", fresh, moments));
}

/// All that a trainer has; without its moments where the checkpoint holds none, as that of a
/// compressed model.
std::vector<NamedTensor> resumed_tensors(Trainer& trainer, const CheckpointReader& checkpoint,
                                         std::vector<std::string>& notes) {
  std::vector<NamedTensor> wanted = trainer.tensors();
  if (std::ranges::any_of(checkpoint.tensors(), is_moment)) return wanted;
  if (std::erase_if(wanted, is_moment) > 0)
    notes.push_back("the checkpoint holds no moments: the optimizer starts anew");
  return wanted;
}

/// Natural steps keep moments of other gradients, under the same names.
void require_same_moments(const CheckpointReader& checkpoint, const Config& parent,
                          const Config& config) {
  const std::string key = "optim.density_natural";
  const std::string file = checkpoint.path().string();
  const bool then = parent.flag(key), now = config.flag(key);
  const std::string moments = optimizer_prefix + config.text("optim.kind") + ".";
  const bool kept = std::ranges::any_of(checkpoint.tensors(), [&](const StoredTensor& tensor) {
    return tensor.name.starts_with(moments) && is_density(tensor.name);
  });
  if (then == now || !kept) return;
  throw ConfigError(fmt::format(
      "{}: holds moments of {} = {}, which are in other units with {}; begin them anew: "
      "--reset optimizer",
      file, key, then, now));
}

/// Moments that are cut among processes, brought together while a checkpoint is written.
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

/// Weights of tokens that now stand for other pieces are worth little.
bool has_other_tokens(const Config& parent, const Config& config) {
  const std::string key = "data.tokenizer.digest";
  return parent.text(key) != config.text(key);
}

/// Units and effects of series are kept by their numbers.
bool has_other_series(const Config& parent, const LearnedNames& names) {
  const LearnedNames of_parent = learned_names(parent);
  return !of_parent.series.empty() && of_parent.series != names.series;
}

/// Signals are heeded while a large text is encoded.
std::unique_ptr<Task> task_of(const Config& config, const DataReading& reading) {
  prepare_encoded_text(config, {reading.tell, [&] {
                                  if (!reading.stopped || !reading.stopped()) return false;
                                  throw StoppedError(
                                      "stopped while the text was encoded; nothing was trained, "
                                      "give the same command again");
                                }});
  return make_task(config);
}

}  // namespace

Session::Session(Session&&) noexcept = default;
Session::~Session() = default;

ForkResets parse_resets(const std::string& list) {
  ForkResets resets;
  for (const std::string& part : split_list(list)) {
    bool* reset = part == "optimizer"  ? &resets.optimizer
                  : part == "schedule" ? &resets.schedule
                  : part == "data"     ? &resets.data
                  : part == "ema"      ? &resets.ema
                                       : nullptr;
    if (!reset)
      throw std::invalid_argument("--reset " + part + ": must be optimizer, schedule, data or ema");
    *reset = true;
  }
  return resets;
}

Session::Session(const Config& config, Processes& processes, const DataReading& reading,
                 const Config& words)
    : config_(config),
      task_(task_of(words, reading)),
      spec_(read_spec<TrainSpec>(config_, "train")),
      tokens_per_step_(spec_.examples_per_step() * task_->data().tokens_per_example()),
      steps_per_epoch_(double(task_->data().examples(Split::train)) /
                       double(spec_.examples_per_step())),
      total_steps_(steps(spec_.steps)),
      trainer_(std::make_unique<Trainer>(config_, *task_, total_steps_, processes)),
      processes_(processes) {}

std::uint64_t Session::steps(const Period& period) const {
  return std::uint64_t(steps_of(period, std::int64_t(tokens_per_step_), steps_per_epoch_));
}

void Session::make_directory(FileStorage& storage, const Path& directory,
                             const std::string& command, const std::string& parent,
                             const DataReading& reading) {
  identify_tokenizer(config_);
  keep_names(config_, task_->names());
  note_data(reading);
  run_ = RunDirectory::create(storage, directory, print_config(config_),
                              run_metadata(config_, command, parent, processes_.hosts()),
                              tokenizer_file(config_));
  path_ = directory;
  require_space();
}

Session Session::start(FileStorage& storage, const Config& config, const Path& directory,
                       const std::string& command, const DataReading& reading,
                       Processes& processes) {
  require_shards(config, processes);
  Session session(config, processes, reading);
  session.task_->start();
  session.trainer_->calibrate();
  session.make_directory(storage, directory, command, "", reading);
  session.share(reading);
  return session;
}

Session Session::resume(FileStorage& storage, const Path& directory,
                        const std::vector<std::string>& changes, bool strict,
                        std::vector<std::string>& notes, const DataReading& reading,
                        Processes& processes) {
  RunDirectory run = RunDirectory::open(storage, directory);
  const std::optional<CheckpointReader> checkpoint = run.newest_valid(notes);
  const Config before = stored_config(run.config(), (directory / config_name).string());
  if (checkpoint) require_own_config(*checkpoint, before);
  Config config = before;
  for (const std::string& change : changes) apply_set(config, change);
  validate(config);
  require_resumable(before, config, directory.string());
  if (!checkpoint) require_not_forked(run);
  require_shards(config, processes);
  Session session(config, processes, reading, with_own_tokenizer(config, directory));
  session.run_ = std::move(run);
  session.path_ = directory;
  session.require_space();
  if (checkpoint) {
    session.take_up(*checkpoint, strict, notes, reading);
  } else {
    session.note_data(reading);
    session.task_->start();
    session.trainer_->calibrate();
  }
  const TrainerState& state = session.state();
  const std::string damage = session.run_->metrics().rewind(
      state.metrics_bytes, {state.metrics_digests, state.metrics_lines}, state.metrics_waiting);
  if (!damage.empty()) notes.push_back(damage);
  if (config != before) session.run_->replace_config(print_config(config));
  session.share(reading);
  return session;
}

void Session::take_up(const CheckpointReader& checkpoint, bool strict,
                      std::vector<std::string>& notes, const DataReading& reading) {
  recognise_data(checkpoint.state(), reading);
  compare_numerics(run_->path(), checkpoint.state(), state(), strict, notes);
  require_complete(checkpoint,
                   load_tensors(checkpoint, resumed_tensors(*trainer_, checkpoint, notes)));
  const TrainerState now = state();
  state() = checkpoint.state();
  state().numerics = now.numerics;
  state().data_fingerprint = now.data_fingerprint;
  state().data_marks = now.data_marks;
}

Session Session::fork(FileStorage& storage, const RunReference& parent, const Config& config,
                      const Path& directory, const ForkResets& resets, const std::string& command,
                      std::vector<std::string>& notes, const DataReading& reading,
                      Processes& processes) {
  const CheckpointReader checkpoint = open_checkpoint(storage, parent, notes);
  require_shards(config, processes);
  Config heir = config;
  inherit_names(heir, stored_config(checkpoint.config(), checkpoint.path().string()));
  Session session(heir, processes, reading);
  session.take_over(checkpoint, resets, notes);
  session.make_directory(storage, directory, command, checkpoint.path().string(), reading);
  // Otherwise a resume before the first regular save would begin with new weights.
  session.save();
  session.share(reading);
  return session;
}

Session Session::adopt(FileStorage& storage, const Config& config, const Path& directory,
                       const std::string& command, const std::string& source,
                       const std::function<void(Session&)>& fill, const DataReading& reading) {
  Session session(config, Processes::alone(), reading);
  fill(session);
  session.trainer_->calibrate([](const std::string&) { return false; });  // averages of these
  session.make_directory(storage, directory, command, source, reading);
  session.save();
  return session;
}

void Session::take_over(const CheckpointReader& checkpoint, const ForkResets& resets,
                        std::vector<std::string>& notes) {
  const TrainerState& saved = checkpoint.state();
  const Config parent = stored_config(checkpoint.config(), checkpoint.path().string());
  if (!resets.schedule && saved.step >= total_steps_)
    throw ConfigError(fmt::format(
        "{}: is at step {} and train.steps ends at {}, nothing is left to train; set a larger "
        "train.steps, or count from 0 again: --reset schedule",
        checkpoint.path().string(), saved.step, total_steps_));
  if (!resets.optimizer) require_same_moments(checkpoint, parent, config_);
  task_->start();  // for what the parent has not
  std::vector<NamedTensor> weights = trainer_->tensors();
  std::erase_if(weights, std::not_fn(of_model));
  std::vector<std::string> left_out = load_tensors(checkpoint, weights);
  trainer_->calibrate([&](const std::string& layer) { return is_new(layer, left_out); });
  // Behind the calibration, which begins averages and drift anew: the parent's go on.
  std::vector<NamedTensor> rest = trainer_->tensors();
  std::erase_if(rest, [&](const NamedTensor& named) {
    return of_model(named) || (resets.optimizer && is_moment(named)) ||
           (resets.ema && named.name.starts_with(WeightAverage::prefix));
  });
  std::ranges::move(load_tensors(checkpoint, rest), std::back_inserter(left_out));
  note_fresh(std::move(left_out), std::size_t(std::ranges::count_if(rest, is_moment)), notes);
  if (has_other_tokens(parent, config_))
    notes.push_back("tokens are other pieces of text than the parent's: data.tokenizer");
  if (has_other_series(parent, task_->names()))
    notes.push_back("series have other numbers than the parent's: data.names.series");
  const bool averages = config_.number("optim.ema") > 0;
  if (!resets.schedule) {
    state().step = saved.step;
    state().tokens = saved.tokens;
  }
  if (!resets.data) state().examples = saved.examples;
  if (!resets.optimizer) state().optimizer_steps = saved.optimizer_steps;
  if (!resets.ema && averages) state().ema_steps = saved.ema_steps;
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

std::string Session::unwritten() {
  return run_ && !run_->metrics().waiting().empty() ? run_->metrics().problem() : "";
}

Path Session::save() {
  const WholeMoments whole(*trainer_);
  if (!run_) return {};
  MetricsFile& metrics = run_->metrics();
  metrics.flush();
  state().metrics_bytes = metrics.bytes();
  const LineDigests digests = bounded(metrics.digests());
  state().metrics_digests = digests.values;
  state().metrics_lines = digests.lines;
  state().metrics_waiting = metrics.waiting();
  CheckpointContent content{print_config(config_), {}, state()};
  for (const auto& [name, tensor] : trainer_->tensors())
    content.tensors.push_back({name, tensor->shape(), tensor->data()});
  return run_->save(content);
}

std::string Session::retain() {
  return run_ ? run_->retain(state(), {spec_.keep_last, spec_.keep_best}) : "";
}

}  // namespace bochner::inline BOCHNER_PRECISION
