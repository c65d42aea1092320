#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bochner/data/files/text.hpp>
#include <bochner/layers/attention/mixer.hpp>
#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/layers/features/projection.hpp>
#include <bochner/layers/spectral/base_draws.hpp>
#include <bochner/train/charts/format.hpp>
#include <bochner/train/run/run_metadata.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/run/version.hpp>
#include <charconv>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::uint64_t examples_per_step(const Config& config) {
  return std::uint64_t(config.integer("train.batch")) *
         std::uint64_t(config.integer("train.accumulate"));
}

/// Nothing when the text is no number, or one too large to be a step.
std::optional<std::uint64_t> step_in(const std::string& text) {
  std::uint64_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return step;
}

/// Copies what the checkpoint holds under these names; the others are returned with the reason.
std::vector<std::string> load_tensors(const CheckpointReader& checkpoint,
                                      const std::vector<NamedTensor>& wanted) {
  std::vector<std::string> left_out;
  for (const NamedTensor& named : wanted) {
    const auto& stored = checkpoint.tensors();
    const auto found = std::find_if(stored.begin(), stored.end(),
                                    [&](const auto& t) { return t.name == named.name; });
    if (found == stored.end()) {
      left_out.push_back(named.name + " is missing");
    } else if (found->shape != named.tensor->shape()) {
      left_out.push_back(fmt::format("{} is {} there and {} here", named.name,
                                     to_string(found->shape), to_string(named.tensor->shape())));
    } else {
      checkpoint.load_into(named.name, *named.tensor);
    }
  }
  return left_out;
}

void require_complete(const CheckpointReader& checkpoint,
                      const std::vector<std::string>& left_out) {
  if (left_out.empty()) return;
  const std::size_t shown = std::min<std::size_t>(left_out.size(), 4);
  throw DataError(fmt::format(
      "{}: not of this model: {}{}; use the program and the config that wrote it",
      checkpoint.path().string(),
      fmt::join(left_out.begin(), left_out.begin() + std::ptrdiff_t(shown), ", "),
      left_out.size() > shown ? fmt::format(" and {} more", left_out.size() - shown) : ""));
}

/// The config alone does not say where the weights of a fork come from.
void require_not_forked(const RunDirectory& run) {
  const std::string parent = parent_in(run.meta());
  if (parent.empty()) return;
  throw DataError(run.path().string() + ": was to be forked from " + parent +
                  " and ended before its first checkpoint; fork it again");
}

void require_same_data(const Path& run, const TrainerState& saved, const TrainerState& now) {
  if (saved.data_fingerprint == now.data_fingerprint) return;
  throw DataError(run.string() +
                  ": the files of data.files have changed since the run began; restore them, or "
                  "start a new run from its weights: bochner fork " +
                  shell_word(run.string()) + " ... --reset data");
}

/// Another build or machine is an error with `strict`, else a note.
void compare_numerics(const Path& run, const TrainerState& saved, const TrainerState& now,
                      bool strict, std::vector<std::string>& notes) {
  if (saved.numerics == now.numerics) return;
  const std::string difference =
      fmt::format("another build or machine than the checkpoint's: {} now, {} then", now.numerics,
                  saved.numerics);
  if (strict) {
    throw DataError(run.string() + ": " + difference +
                    "; leave out --strict to go on all the same");
  }
  notes.push_back(difference + "; bits may differ from the uninterrupted run");
}

}  // namespace

RunReference parse_run_reference(const std::string& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos || std::filesystem::exists(text)) return {text, ""};
  const std::string checkpoint = text.substr(at + 1);
  if (checkpoint != "best" && !step_in(checkpoint)) {
    throw std::invalid_argument(text + ": after @ must come \"best\" or a step");
  }
  return {text.substr(0, at), checkpoint};
}

CheckpointReader open_checkpoint(FileStorage& storage, const RunReference& reference,
                                 std::vector<std::string>& skipped) {
  RunDirectory run = RunDirectory::read(storage, reference.directory);
  if (reference.checkpoint == "best") return run.load_best();
  if (!reference.checkpoint.empty()) return run.load_step(step_in(reference.checkpoint).value());
  std::optional<CheckpointReader> newest = run.newest_valid(skipped);
  if (!newest)
    throw DataError(reference.directory.string() + ": no checkpoint yet; resume the run first");
  return std::move(*newest);
}

ParameterTable registered_parameters() {
  Choices choices;
  choices.mixers = [] { return mixers().names(); };
  choices.features = [] { return feature_maps().names(); };
  choices.projections = [] {
    std::vector<std::string> names = projections().names();
    names.insert(names.begin(), "density");
    return names;
  };
  choices.densities = [] { return densities().names(); };
  choices.times = [] {
    std::vector<std::string> names = time_encodings().names();
    names.insert(names.begin(), "none");
    return names;
  };
  choices.time_uses = time_uses;
  choices.draws = base_draw_names;
  ParameterTable table = standard_parameters(choices);
  const auto add_options = [&](const std::string& section, const std::vector<Option>& options) {
    for (const auto& [name, initial, doc] : options)
      table.add({.name = section + name, .initial = initial, .doc = doc});
  };
  add_options("model.mixer.", mixers().options());
  add_options("model.mixer.features.", feature_maps().options());
  add_options("model.mixer.density.", densities().options());
  return table;
}

Config read_config(const std::string& file, const std::vector<std::string>& sets) {
  Config config = load_config(file, registered_parameters());
  for (const std::string& set : sets) apply_set(config, set);
  validate(config);
  return config;
}

void load_model(const CheckpointReader& checkpoint, Module& model, bool averaged) {
  const auto& stored = checkpoint.tensors();
  averaged = averaged && std::any_of(stored.begin(), stored.end(), [](const StoredTensor& tensor) {
               return tensor.name.starts_with("ema/");
             });
  std::vector<NamedTensor> wanted;
  for (const NamedParameter& named : parameters_of(model)) {
    wanted.push_back({(averaged ? "ema/" : "model/") + named.name, &named.parameter->value()});
  }
  for (const NamedTensor& named : buffers_of(model))
    wanted.push_back({"buffer/" + named.name, named.tensor});
  require_complete(checkpoint, load_tensors(checkpoint, wanted));
}

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

Session::Session(const Config& config)
    : config_(config),
      task_(make_task(config_)),
      tokens_per_step_(examples_per_step(config_) * task_->tokens_per_example()),
      steps_per_epoch_(
          std::max<std::uint64_t>(1, task_->examples_per_epoch() / examples_per_step(config_))),
      total_steps_(steps_of_key("train.steps")),
      trainer_(std::make_unique<Trainer>(config_, *task_, total_steps_)) {
  state_.seed = std::uint64_t(config_.integer("train.seed"));
  state_.data_fingerprint = task_->data_fingerprint();
  state_.numerics = numerics_fingerprint();
}

std::uint64_t Session::steps_of_key(const char* key) const {
  return std::uint64_t(steps_of(config_.period(key), std::int64_t(tokens_per_step_),
                                std::int64_t(steps_per_epoch_)));
}

void Session::make_directory(FileStorage& storage, const Path& directory,
                             const std::string& command, const std::string& parent) {
  run_ = RunDirectory::create(storage, directory, print_config(config_),
                              run_metadata(config_, command, parent));
  require_space();
}

Session Session::start(FileStorage& storage, const Config& config, const Path& directory,
                       const std::string& command) {
  Session session(config);
  session.make_directory(storage, directory, command, "");
  return session;
}

Session Session::resume(FileStorage& storage, const Path& directory,
                        const std::vector<std::string>& changes, bool strict,
                        std::vector<std::string>& notes) {
  RunDirectory run = RunDirectory::open(storage, directory);
  const Config before =
      parse_config(run.config(), (directory / "config.toml").string(), registered_parameters());
  Config config = before;
  for (const std::string& change : changes) apply_set(config, change);
  validate(config);
  require_resumable(before, config, directory.string());
  const std::optional<CheckpointReader> checkpoint = run.newest_valid(notes);
  if (!checkpoint) require_not_forked(run);
  Session session(config);
  session.run_ = std::move(run);
  session.require_space();
  if (!checkpoint) {
    session.run_->metrics().rewind(0);
    session.keep_changes(before);
    return session;
  }
  const TrainerState& saved = checkpoint->state();
  require_same_data(directory, saved, session.state_);
  compare_numerics(directory, saved, session.state_, strict, notes);
  session.restore(*checkpoint);
  session.run_->metrics().rewind(saved.metrics_bytes);
  session.keep_changes(before);
  return session;
}

Session Session::fork(FileStorage& storage, const RunReference& parent, const Config& config,
                      const Path& directory, const ForkResets& resets, const std::string& command,
                      std::vector<std::string>& notes) {
  const CheckpointReader checkpoint = open_checkpoint(storage, parent, notes);
  Session session(config);
  session.take_over(checkpoint, resets, notes);
  session.make_directory(storage, directory, command, checkpoint.path().string());
  // Otherwise a resume before the first regular save would begin with new weights.
  session.save();
  return session;
}

void Session::take_over(const CheckpointReader& checkpoint, const ForkResets& resets,
                        std::vector<std::string>& notes) {
  const TrainerState& saved = checkpoint.state();
  if (!resets.schedule && saved.step >= total_steps_)
    throw ConfigError(fmt::format(
        "{}: is at step {} and train.steps ends at {}, nothing is left to train; set a larger "
        "train.steps, or count from 0 again: --reset schedule",
        checkpoint.path().string(), saved.step, total_steps_));
  std::vector<NamedTensor> wanted;
  for (const NamedTensor& named : trainer_->state()) {
    const bool optimizer = named.name.starts_with("optimizer/"),
               average = named.name.starts_with("ema/");
    if ((optimizer && resets.optimizer) || (average && resets.ema)) continue;
    wanted.push_back(named);
  }
  for (const std::string& left_out : load_tensors(checkpoint, wanted))
    notes.push_back("starts anew: " + left_out);
  trainer_->set_position(resets.schedule ? 0 : saved.step, resets.data ? 0 : saved.examples);
  if (!resets.optimizer) trainer_->optimizer().set_steps(saved.optimizer_steps);
  if (!resets.ema && trainer_->average()) trainer_->average()->set_steps(saved.ema_steps);
  state_.step = trainer_->steps();
  state_.examples = trainer_->examples();
  state_.tokens = state_.step * tokens_per_step_;
}

void Session::require_space() {
  std::uint64_t bytes = 0;
  for (const NamedTensor& named : trainer_->state()) bytes += named.tensor->size() * sizeof(real);
  run_->preflight(bytes);
}

void Session::keep_changes(const Config& before) {
  if (config_ != before) run_->replace_config(print_config(config_));
}

void Session::restore(const CheckpointReader& checkpoint) {
  require_complete(checkpoint, load_tensors(checkpoint, trainer_->state()));
  const std::string numerics = state_.numerics;
  state_ = checkpoint.state();
  state_.numerics = numerics;
  trainer_->set_position(state_.step, state_.examples);
  trainer_->optimizer().set_steps(state_.optimizer_steps);
  if (trainer_->average()) trainer_->average()->set_steps(state_.ema_steps);
}

CheckpointContent Session::content() {
  state_.optimizer_steps = trainer_->optimizer().steps();
  state_.ema_steps = trainer_->average() ? trainer_->average()->steps() : 0;
  state_.metrics_bytes = run_->metrics().bytes();
  CheckpointContent content{print_config(config_), {}, state_};
  for (const NamedTensor& named : trainer_->state()) {
    content.tensors.push_back({named.name, named.tensor->shape(), named.tensor->data()});
  }
  return content;
}

Path Session::save() {
  const Path path = run_->save(content());
  run_->retain(state_, {std::size_t(config_.integer("train.checkpoint.keep_last")),
                        std::size_t(config_.integer("train.checkpoint.keep_best"))});
  return path;
}

}  // namespace bochner::inline BOCHNER_PRECISION
