#include <fmt/format.h>

#include <bochner/data/fields/fields.hpp>
#include <bochner/data/fields/sensor_windows.hpp>
#include <bochner/data/labelled/augmentations.hpp>
#include <bochner/data/labelled/pixels.hpp>
#include <bochner/data/series/series_table.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <bochner/data/text/labelled_texts.hpp>
#include <bochner/layers/gaussian_processes/gaussian_process.hpp>
#include <bochner/layers/models/contrast_model.hpp>
#include <bochner/layers/models/event_model.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/layers/models/variational_autoencoder.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/train/tasks/encoding_checks.hpp>
#include <bochner/train/tasks/mixer_checks.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/stack_checks.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>
#include <bochner/train/tasks/train_spec.hpp>
#include <bochner/train/tasks/unused_keys.hpp>

namespace bochner {
namespace {

/// Features in pairs turn.
void require_even_heads(const Config& config, std::string_view name) {
  const std::int64_t dim = config.integer("model.width") / config.integer("model.mixer.heads");
  if (dim % 2 != 0)
    fail(config, name, fmt::format("needs an even model.width / model.mixer.heads, not {}", dim),
         "model.mixer.heads");
}

void check_model(const Config& config) {
  check_stack(config);
  if (config.text("model.positions") == "rotary") require_even_heads(config, "model.positions");
  if (config.text_list("model.pattern").size() > config.count("model.blocks"))
    fail(config, "model.pattern", "has more mixers than " + assignment(config, "model.blocks"),
         "model.blocks");
}

void check_norm(const Config& config) {
  if (config.text("model.norm") != "batch" || !predicts_what_follows(config)) return;
  const char* by = forecasts_rows(config) ? "model.backbone" : "model.kind";
  fail(config, "model.norm",
       "shows tokens those that they are to predict in training: choose layer or rms for " +
           assignment(config, by),
       by);
}

void check_calibration(const Config& config) {
  const std::string start = "model.mixer.density.start";
  if (config.text(start) == "none") return;
  if (config.integer("model.mixer.calibrate") == 0)
    fail(config, start, "needs batches to look at, model.mixer.calibrate other than 0",
         "model.mixer.calibrate");
  if (config.text("model.mixer.features.projection") != "density")
    fail(config, start, "needs model.mixer.features.projection = \"density\"",
         "model.mixer.features.projection");
}

void check_time(const Config& config) {
  for (const std::string section : {"model.time", "model.intensity"})
    require_at_most(config, section + ".shortest", section + ".longest");
  const std::string& kind = config.text("model.time.kind");
  if (config.text("model.time.start") == "em" && kind != "mixture")
    fail(config, "model.time.start", "needs model.time.kind = \"mixture\"", "model.time.kind");
  if (config.text("model.time.start") != "none" && (kind == "none" || kind == "sinusoidal"))
    fail(config, "model.time.start",
         "needs frequencies that are learned, not " + assignment(config, "model.time.kind"),
         "model.time.kind");
  if (config.text("model.time.spacing") != "geometric" && kind != "free" && kind != "sinusoidal" &&
      !kind.starts_with("mercer"))
    fail(config, "model.time.spacing",
         "is that of frequencies one by one, not of " + assignment(config, "model.time.kind"),
         "model.time.kind");
  if (config.text("model.time.start") != "none" && !sees_events(config))
    fail(config, "model.time.start", "needs events, whose times it reads", "data.kind");
  if (config.flag("data.stamps") && !forecasts_rows(config))
    fail(config, "data.stamps", "needs a forecaster with model.backbone = \"rows\"",
         "model.backbone");
  if (kind == "none") return;
  if (!sees_events(config) && !forecasts_rows(config))
    fail(config, "model.time.kind",
         "needs events, of data.kind = \"event_files\" or \"hawkes\", or a forecaster with "
         "model.backbone = \"rows\": other models see no times",
         "data.kind");
  if (config.text("model.time.use") != "rotate") return;
  if (kind.starts_with("mercer"))
    fail(config, "model.time.use", "cannot be done with " + assignment(config, "model.time.kind"),
         "model.time.kind");
  require_even_heads(config, "model.time.use");
}

/// Warm-up and decay against the length of the training, where that is known in steps.
void check_schedule(const Config& config) {
  require_at_most(config, "optim.schedule.floor", "optim.lr");
  const Period& steps = config.period("train.steps");
  if (steps.unit != Period::Unit::steps || steps.off()) return;
  const double warmup = double(config.integer("optim.schedule.warmup"));
  const bool decays = config.text("optim.schedule.kind") == "wsd";
  const double decay = decays ? double(config.integer("optim.schedule.decay")) : 0;
  if (warmup > steps.count)
    fail(config, "optim.schedule.warmup", "must be at most " + assignment(config, "train.steps"),
         "train.steps");
  if (warmup + decay > steps.count)
    fail(config, "optim.schedule.decay",
         fmt::format("with {} it must be at most {}", assignment(config, "optim.schedule.warmup"),
                     assignment(config, "train.steps")),
         "train.steps");
}

void check_optimizer(const Config& config) {
  if (config.number_list("optim.betas").size() != 2)
    fail(config, "optim.betas", "must be two numbers");
  if (config.flag("optim.nesterov") && config.number("optim.momentum") == 0)
    fail(config, "optim.nesterov", "needs optim.momentum greater than 0", "optim.momentum");
  if (config.flag("optim.density_natural") && config.text("optim.kind") == "natural")
    fail(config, "optim.density_natural",
         "must be false with optim.kind = \"natural\", which has steps of its own", "optim.kind");
}

/// Shards are alike, and of a Gaussian process on all rows at once there is nothing to cut.
void check_shards(const Config& config) {
  const std::int64_t shards = config.integer("train.shards");
  if (shards > 1 && config.text("model.kind") == "gp" && config.integer("data.rows") == 0)
    fail(config, "train.shards",
         "must be 1 for a gp that sees all rows at once, data.rows = 0: their likelihood is no sum",
         "data.rows");
  if (config.integer("train.batch") % shards != 0)
    fail(config, "train.shards", "must divide " + assignment(config, "train.batch"), "train.batch");
}

void check_training(const Config& config) {
  if (config.integer("train.validate.gradients") == 1)
    fail(config, "train.validate.gradients",
         "must be 0 or at least 2: noise differs between batches");
  if (config.integer("train.stop.patience") == 0) return;
  check_validation(config);
  if (config.period("train.validate.every").off())
    fail(config, "train.stop.patience", "needs train.validate.every greater than 0",
         "train.validate.every");
}

/// They are errors of a new run.
void check_unused(const Config& config) {
  for (const auto& [name, demand, other] : unused_keys(config)) fail(config, name, demand, other);
}

/// A run that has them goes on, and --set adds none.
void check_unused_sets(const Config& config) {
  const auto is_set = [&](const std::string& name) { return !name.empty() && config.is_set(name); };
  for (const auto& [name, demand, other] : unused_keys(config))
    if (is_set(name) || is_set(other)) fail(config, name, demand, other);
}

std::vector<ParameterRow> registered_rows() {
  RowCollector table;
  table.add<ModelChoice, SequenceClassifierSpec, ForecasterSpec, EventModelSpec, FieldModelSpec,
            ProcessModelSpec, LanguageModelSpec, VaeSpec, ContrastKeys>("model");
  table.add<DataSpec, TokenTaskSpec, LengthBuckets, ListOpsSpec, ImagesSpec, ShapesSpec, CsvOptions,
            SeriesSpec, SeriesColumns, HawkesSpec, EventColumns, FieldSpec, SensorColumns,
            SensorSpec, TableSpec, TextsSpec, AugmentationKeys, Vocabularies>("data");
  table.add<OptimizerSpec>("optim");
  table.add<TrainSpec>("train");
  // Where the reference and the configs of runs have always had them.
  table.move("model.positions", "model.norm");
  table.move("model.pooling", "model.checkpoint");
  table.move("model.time", "model.intensity");
  table.move("model.mixer", "model.time");
  table.move("model.encoding", "data.kind");
  table.move("model.intensity", "data.types");
  return std::move(table.rows);
}

/// `more` are the checks of keys that nothing heeds.
ParameterTable table_of(std::vector<ParameterRow> rows, const std::vector<ConfigCheck>& more) {
  std::vector<ConfigCheck> checks{check_data,      check_model,       check_norm,
                                  check_positions, check_calibration, check_time,
                                  check_optimizer, check_schedule,    check_shards,
                                  check_training};  // in the order in which they complain
  checks.insert(checks.end(), more.begin(), more.end());
  return ParameterTable(std::move(rows), std::move(checks));
}

Config with_sets(Config config, const std::vector<std::string>& sets) {
  for (const std::string& set : sets) apply_set(config, set);
  validate(config);
  identify_tokenizer(config);
  return config;
}

}  // namespace

ParameterTable registered_parameters() {
  return table_of(registered_rows(), {check_order, check_unused});
}

Config stored_config(std::string_view text, const std::string& source) {
  return parse_config(text, source, table_of(registered_rows(), {check_unused_sets}));
}

Config read_config(const std::string& file, const std::vector<std::string>& sets) {
  return with_sets(load_config(file, registered_parameters()), sets);
}

Config read_config_text(const std::string& text, const std::string& source,
                        const std::vector<std::string>& sets) {
  return with_sets(parse_config(text, source, registered_parameters()), sets);
}

}  // namespace bochner
