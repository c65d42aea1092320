#include <fmt/format.h>

#include <array>
#include <bochner/base/text.hpp>
#include <bochner/optim/ema.hpp>
#include <bochner/train/run/checkpoint/model_weights.hpp>
#include <bochner/train/run/run_metadata.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>

/// Sessions that begin with what another run has learned.

namespace bochner {
namespace {

/// Whether a part of an attention layer's feature map was not in the checkpoint.
bool is_new(const std::string& layer, const std::vector<std::string>& left_out) {
  return std::ranges::any_of(left_out, [&](const std::string& name) {
    return name.starts_with(model_prefix + layer + ".features.") ||
           name.starts_with(buffer_prefix + layer + ".features.");
  });
}

/// Notes what starts from scratch; one line for all moments, which another optimizer lacks.
void note_fresh(std::vector<std::string> left_out, std::size_t moments,
                std::vector<std::string>& notes) {
  const std::size_t fresh = std::erase_if(left_out, is_of_optimizer);
  for (const std::string& name : left_out) notes.push_back("starts from scratch: " + name);
  if (fresh > 0)
    notes.push_back(
        fmt::format("starts from scratch: {} of {} tensors of the optimizer", fresh, moments));
}

/// Throws DataError for moments in other units: natural steps store theirs under the same names.
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
  throw ConfigError(
      fmt::format("{}: has moments of {} = {}, which have other units with {}; reset them: "
                  "--reset optimizer",
                  file, key, then, now));
}

/// Whether the series differ: scales and effects of series are stored by their numbers.
bool has_other_series(Learner& parent, Learner& heir) {
  return !parent.series().empty() && parent.series() != heir.series();
}

/// Returns the parent's facts that a fork inherits: those of the same kind of data.
KnownFacts inherited_facts(const CheckpointReader& checkpoint, const Config& parent,
                           const Config& heir) {
  const bool alike = parent.text("data.kind") == heir.text("data.kind") &&
                     parent.text_list("data.series") == heir.text_list("data.series");
  return {alike ? checkpoint.facts() : "", true};
}

/// Whether a tensor has a row per series.
bool is_of_series(const NamedTensor& named) {
  const std::string name = named.name.substr(named.name.rfind('/') + 1);
  return std::ranges::count(std::array{"standardize.mean", "standardize.deviation", "unit.mean",
                                       "unit.deviation", "series"},
                            name) > 0;
}

/// Removes tensors of other series, which do not fit these.
void leave_out_series(std::vector<NamedTensor>& tensors, std::vector<std::string>& left_out) {
  std::erase_if(tensors, [&](const NamedTensor& named) {
    if (is_of_series(named)) left_out.push_back(named.name + " belongs to other series");
    return is_of_series(named);
  });
}

/// Notes a difference in numerics: a fork is computed by this program, whatever trained its parent.
void note_numerics(const TrainerState& parent, std::vector<std::string>& notes) {
  const std::string difference = numerics_difference(parent.numerics);
  if (!difference.empty()) notes.push_back(difference + "; results may differ in the last bits");
}

void note_other_data(Learner& parent, Task& task, std::vector<std::string>& notes) {
  if (parent.tokenizer_digest() != task.learner().tokenizer_digest())
    notes.push_back("tokens differ from the parent's: data.tokenizer");
  if (has_other_series(parent, task.learner()))
    notes.push_back("series differ from the parent's and are numbered anew");
  HasUnits* has = task.abilities().units;
  if (const auto units = has ? has->shifted_columns() : std::vector<std::string>(); !units.empty())
    notes.push_back(
        "units stay the parent's, far from those of the data, which a new run would use: " +
        some_of(units));
}

/// Whether the keys of the data differ, except paths.
bool reads_data_otherwise(const Config& parent, const Config& config) {
  return std::ranges::any_of(changes(parent, config), [&](const ConfigChange& change) {
    const KeyTraits& traits = config.table().find(change.name)->traits;
    return change.name.starts_with("data.") && !traits.resume && !traits.path;
  });
}

void count_on(TrainerState& state, const TrainerState& saved, const ForkResets& resets,
              bool averages) {
  if (!resets.schedule) {
    state.step = saved.step;
    state.tokens = saved.tokens;
  }
  if (!resets.data) state.examples = saved.examples;
  if (!resets.optimizer) state.optimizer_steps = saved.optimizer_steps;
  if (!resets.ema && averages) state.ema_steps = saved.ema_steps;
}

}  // namespace

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

Session Session::fork(const SessionContext& context, const RunReference& parent,
                      const Config& config, const ForkResets& resets,
                      std::vector<std::string>& notes) {
  RunDirectory::require_fresh(context.storage, context.directory);
  const CheckpointReader checkpoint = open_checkpoint(context.storage, parent, notes);
  require_shards(config, context.processes);
  const Config of_parent = with_own_tokenizer(
      stored_config(checkpoint.config(), checkpoint.path().string()), parent.directory);
  Session session(config, context.processes, context.reading, config,
                  inherited_facts(checkpoint, of_parent, config));
  note_numerics(checkpoint.state(), notes);
  session.fork_from(checkpoint, of_parent, resets, notes);
  session.make_directory(context, checkpoint.path().string());
  if (!resets.data) session.begin_other_data(checkpoint.state(), of_parent, notes);
  // Otherwise a resume before the first regular save would begin with new weights.
  session.save();
  session.share(context.reading);
  return session;
}

void Session::fork_from(const CheckpointReader& checkpoint, const Config& parent,
                        const ForkResets& resets, std::vector<std::string>& notes) {
  const TrainerState& saved = checkpoint.state();
  if (!resets.schedule && saved.step >= total_steps_)
    throw ConfigError(
        fmt::format("{}: is at step {} and train.steps is {}, so no steps remain; set a larger "
                    "train.steps, or count from 0 again: --reset schedule",
                    checkpoint.path().string(), saved.step, total_steps_));
  if (resets.ema && !resets.optimizer && config_.text("optim.kind") == "schedule_free")
    throw ConfigError(
        "--reset ema: the average of optim.kind = \"schedule_free\" belongs to its iterates; reset "
        "optimizer,ema");
  if (!resets.optimizer) require_same_moments(checkpoint, parent, config_);
  task_->start();  // for tensors that the parent lacks
  const auto of_parent = make_learner(parent, {checkpoint.facts()});
  const bool other_series = has_other_series(*of_parent, task_->learner());
  std::vector<std::string> left_out;
  std::vector<NamedTensor> weights = trainer_->tensors();
  std::erase_if(weights, std::not_fn(is_of_model));
  if (other_series) leave_out_series(weights, left_out);
  std::ranges::move(load_tensors(checkpoint, weights), std::back_inserter(left_out));
  trainer_->calibrate([&](const std::string& layer) { return is_new(layer, left_out); });
  // After the calibration, which resets averages and drift: the parent's continue.
  std::vector<NamedTensor> rest = trainer_->tensors();
  std::erase_if(rest, [&](const NamedTensor& named) {
    return is_of_model(named) || (resets.optimizer && is_moment(named)) ||
           (resets.ema && named.name.starts_with(WeightAverage::prefix));
  });
  const auto moments = std::size_t(std::ranges::count_if(rest, is_moment));
  if (other_series) leave_out_series(rest, left_out);
  std::ranges::move(load_tensors(checkpoint, rest), std::back_inserter(left_out));
  note_fresh(std::move(left_out), moments, notes);
  note_other_data(*of_parent, *task_, notes);
  count_on(state(), saved, resets, config_.number("optim.ema") > 0);
}

void Session::begin_other_data(const TrainerState& saved, const Config& parent,
                               std::vector<std::string>& notes) {
  const bool same =
      saved.data_fingerprint == state().data_fingerprint || saved.data_fingerprint == not_recorded;
  if (same && !reads_data_otherwise(parent, config_)) return;
  state().examples = 0;
  notes.push_back("the data differ from the parent's: their order begins anew");
}

void write_imported_run(const SessionContext& context, const Config& config,
                        const std::string& source, Learner& learner,
                        const ImportedProgress& progress) {
  TrainerState state;
  state.step = progress.step;
  state.tokens = progress.tokens;
  state.examples = progress.examples;
  state.seed = config.count("train.seed");
  state.numerics = numerics_fingerprint();
  RunDirectory run =
      RunDirectory::create(context.storage, context.directory, print_config(config),
                           run_metadata(config, context.command, source), tokenizer_file(config));
  run.save(
      {print_config(config), records_of(model_tensors(learner.model())), state, learner.facts()});
}

}  // namespace bochner
