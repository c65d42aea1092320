#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/base/registry.hpp>
#include <bochner/data/fields/fields.hpp>
#include <bochner/data/fields/sensor_windows.hpp>
#include <bochner/data/labelled/augmentations.hpp>
#include <bochner/data/labelled/labelled_series.hpp>
#include <bochner/data/labelled/pixels.hpp>
#include <bochner/data/series/series_table.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <bochner/data/text/labelled_texts.hpp>
#include <bochner/layers/estimators/table_ensemble.hpp>
#include <bochner/layers/forecasts/ensemble.hpp>
#include <bochner/layers/gaussian_processes/gaussian_process.hpp>
#include <bochner/layers/models/bag_of_words.hpp>
#include <bochner/layers/models/contrast_model.hpp>
#include <bochner/layers/models/event_model.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/layers/models/filter_bank_model.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/layers/models/label_loss.hpp>
#include <bochner/layers/models/series_regressor.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/layers/models/variational_autoencoder.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/train/config/conditions.hpp>
#include <bochner/train/tasks/custom/custom_task.hpp>
#include <bochner/train/tasks/encoding_checks.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/stack_checks.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>
#include <bochner/train/tasks/train_spec.hpp>
#include <mutex>

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
    fail_over(config, "model.pattern", "has more mixers than", "model.blocks");
}

void check_norm(const Config& config) {
  if (!norms().traits(config.text("model.norm"), {}).crosses_tokens ||
      !predicts_what_follows(config))
    return;
  const char* by = forecasts_rows(config) ? "model.backbone" : "model.kind";
  fail_over(config, "model.norm",
            "shows tokens those that they are to predict in training: choose layer or rms for", by);
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
  if (config.text("model.time.use") != "rotate" || !applies(config, "model.time.use")) return;
  if (kind.starts_with("mercer"))
    fail_over(config, "model.time.use", "cannot be done with", "model.time.kind");
  require_even_heads(config, "model.time.use");
}

/// Warm-up and decay against the length of the training, where that is known in steps.
void check_schedule(const Config& config) {
  const char* floor = "optim.schedule.floor";
  if (config.text("optim.schedule.kind") != "exponential")
    require_at_most(config, floor, "optim.lr");
  else if (config.number(floor) == 0)
    fail(config, floor, "must be above 0 for an exponential schedule", "optim.schedule.kind");
  const Period& steps = config.period("train.steps");
  if (steps.unit != Period::Unit::steps || steps.off()) return;
  const double warmup = double(config.integer("optim.schedule.warmup"));
  const bool decays = config.text("optim.schedule.kind") == "wsd";
  const double decay = decays ? double(config.integer("optim.schedule.decay")) : 0;
  if (warmup > steps.count)
    fail_over(config, "optim.schedule.warmup", "must be at most", "train.steps");
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
  const std::string& kind = config.text("optim.kind");
  if (config.flag("train.partition") && optimizers().traits(kind, {}).whole_tensors)
    fail(config, "train.partition",
         "must be false with " + assignment(config, "optim.kind") + ", which updates whole tensors",
         "optim.kind");
  const bool natural = kind.starts_with("natural");
  if (config.flag("optim.density_natural") && natural)
    fail(config, "optim.density_natural",
         "must be false with " + assignment(config, "optim.kind") + ", which has steps of its own",
         "optim.kind");
}

/// Shards are alike, and of a Gaussian process on all rows at once there is nothing to cut.
void check_shards(const Config& config) {
  const std::int64_t shards = config.integer("train.shards");
  if (shards > 1 && config.text("model.kind") == "gp" && config.integer("data.rows") == 0)
    fail(config, "train.shards",
         "must be 1 for a gp that sees all rows at once, data.rows = 0: their likelihood is no sum",
         "data.rows");
  if (config.integer("train.batch") % shards != 0)
    fail_over(config, "train.shards", "must divide", "train.batch");
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

/// Makes model.loss. Throws ConfigError where its constructor refuses the keys.
std::unique_ptr<Loss> loss_of(const Config& config) {
  try {
    return losses().make(config.text("model.loss"), read_spec<LossSpec>(config, "model"));
  } catch (const std::invalid_argument& error) {
    fail(config, "model.loss", error.what());
  }
}

/// Returns the models that can be trained with model.loss.
std::vector<std::string> models_with_loss(const Config& config) {
  const std::string& loss = config.text("model.loss");
  if (loss == "nce" || loss == "sampled_softmax") return {"lm"};
  if (loss == "gaussian") return {"regressor"};
  std::vector<std::string> models;
  const std::unique_ptr<Loss> made = loss == "quantile" ? nullptr : loss_of(config);
  if (dynamic_cast<LabelLoss*>(made.get())) models = {"lm", "classifier"};
  if (!made || dynamic_cast<ValueLoss*>(made.get()))
    models.insert(models.end(), {"forecaster", "regressor"});
  return models;
}

/// An error of new runs: losses are of labels or of values.
void check_loss(const Config& config) {
  const std::string &loss = config.text("model.loss"), &model = config.text("model.kind");
  const bool is_for_another_model = config.is_set("model.kind") && !config.is_set("model.loss");
  if (loss == LossSpec().kind || !applies(config, "model.loss") || is_for_another_model) return;
  const std::vector<std::string> models = models_with_loss(config);
  if (std::ranges::count(models, model) == 0)
    fail(config, "model.loss", "needs model.kind = " + alternatives(models), "model.kind");
}

/// An error of new runs: natural gradients are of densities in blocks.
void check_natural(const Config& config) {
  if (config.text("optim.kind") == "natural" && !has_stack(config))
    fail(config, "optim.kind", "needs a model with blocks", "model.kind");
}

/// model.patch.pixels of other models than fields.
struct PixelPatch {
  std::size_t pixels = FieldModelSpec().patch;
};
void describe(Keys& keys, PixelPatch& spec) { describe_pixels(keys, spec.pixels); }

void add_models(RowCollector& table) {
  const auto model = [](const char* kind) { return when("model.kind", {kind}); };
  table.add<ModelChoice>("model");
  table.add<SequenceClassifierSpec>("model", model("classifier"));
  table.add<LabelLossSpec>("model", model("classifier"));
  table.add<BagOfWordsSpec>("model", model("bag_of_words"));
  table.add<ForecasterSpec>("model", model("forecaster"));
  table.add<SeriesModelSpec>("model",
                             model("classifier") && when("data.kind", {"labelled_series"}));
  table.add<SeriesRegressorSpec>("model", model("regressor"));
  table.add<EnsembleSpec>("model", model("ensemble") && when("data.kind", {"series"}));
  table.add<TableEnsembleSpec>("model", model("ensemble") && when("data.kind", {"table"}));
  table.add<FilterBankModelSpec>("model", model("filter_bank"));
  table.add<EventModelSpec>("model", model("events"));
  table.add<FieldModelSpec>("model", model("field"));
  table.add<ProcessModelSpec>("model", model("gp"));
  table.add<LossSpec, LanguageModelSpec>("model", model("lm"));
  table.add<VaeSpec>("model", model("vae"));
  table.add<TrunkSpec, ContrastKeys>("model", model("contrastive"));
  table.add<PixelPatch>("model");
  table.add<PatchSpec>("model.patch");
  table.add<CustomTaskSpec>("model");
}

void add_data(RowCollector& table) {
  const auto data = [](std::vector<std::string> kinds) { return when("data.kind", kinds); };
  std::vector<std::string> grids = field_kinds();
  grids.push_back("field_files");
  table.add<DataSpec>("data");
  table.add<TokenTaskSpec>("data", data(token_tasks().names()));
  table.add<LengthBuckets>("data");
  table.add<ListOpsSpec>("data", data({"listops"}));
  table.add<ImagesSpec>("data", data({"images"}));
  table.add<ShapesSpec>("data", data({"shapes", "pathfinder"}));
  table.add<CsvOptions>("data");
  table.add<SeriesSpec, SeriesColumns>("data", data({"series"}));
  table.add<HawkesSpec>("data", data({"hawkes"}));
  table.add<EventColumns>("data", data({"event_files", "texts", "labelled_series"}));
  table.add<FieldSpec>("data", data(grids));
  table.add<SensorColumns>("data");
  table.add<SensorSpec>("data", data({"sensors"}));
  table.add<TableSpec>("data", data({"table"}));
  table.add<LabelledSeriesFiles, SeriesLabels>("data", data({"labelled_series"}));
  table.add<TextsSpec>("data", data({"texts"}));
  table.add<AugmentationKeys>("data", when("model.kind", {"contrastive"}));
  table.add<SeriesAugmentationKeys>(
      "data", data({"labelled_series"}) && when("model.kind", {"classifier", "regressor"}));
}

std::vector<ParameterRow> described_rows() {
  RowCollector table;
  add_models(table);
  add_data(table);
  table.add<OptimizerSpec>("optim");
  table.add<TrainSpec>("train");
  return std::move(table.rows);
}

/// Returns the table of all rows. Describes them again only after a registry has changed, since
/// that takes a third of the time in which a command starts.
ParameterTable registered_rows() {
  static std::mutex mutex;
  static ParameterTable table({});
  static std::size_t changes = 0;
  const std::lock_guard lock(mutex);
  if (table.rows().empty() || changes != CountedChanges::count()) {
    table = ParameterTable(described_rows());
    changes = CountedChanges::count();
  }
  return table;
}

/// `more` are the checks of unused keys.
ParameterTable table_of(const ParameterTable& rows, const std::vector<ConfigCheck>& more) {
  std::vector<ConfigCheck> checks{check_data,      check_model,       check_norm,
                                  check_positions, check_calibration, check_time,
                                  check_optimizer, check_schedule,    check_shards,
                                  check_training};  // in the order in which they complain
  checks.insert(checks.end(), more.begin(), more.end());
  return rows.with(std::move(checks));
}

/// Returns the key without ".kind": a section is an alias of its kind.
std::string without_kind(const std::string& key) {
  constexpr std::string_view kind = ".kind";
  return key.ends_with(kind) ? key.substr(0, key.size() - kind.size()) : key;
}

std::vector<std::string> keys_called(const std::string& name) {
  const auto is_called = [&](const std::string& key) {
    return key == name || key.ends_with("." + name);
  };
  std::vector<std::string> keys;
  const ParameterTable table = registered_parameters();
  for (const ParameterRow& row : table.rows()) {
    if (is_called(row.name))
      keys.push_back(row.name);
    else if (is_called(without_kind(row.name)))
      keys.push_back(without_kind(row.name));
  }
  const auto parts = [](const std::string& key) { return std::ranges::count(key, '.'); };
  std::ranges::stable_sort(keys, {}, parts);
  std::erase_if(keys, [&, fewest = keys.empty() ? 0 : parts(keys[0])](const std::string& key) {
    return parts(key) > fewest;
  });
  return keys;
}

}  // namespace

ParameterTable registered_parameters() {
  return table_of(registered_rows(),
                  {check_order, check_traits, check_loss, check_natural, check_unused});
}

Config stored_config(std::string_view text, const std::string& source) {
  return parse_config(text, source, table_of(registered_rows(), {check_unused_sets}));
}

Config read_config(const std::string& file, const std::vector<std::string>& sets) {
  return without_unused(with_sets(load_config(file, registered_parameters()), sets));
}

Config read_config_text(const std::string& text, const std::string& source,
                        const std::vector<std::string>& sets) {
  return without_unused(with_sets(parse_config(text, source, registered_parameters()), sets));
}

std::string key_advice(const std::string& option, const std::string& value) {
  std::string name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  if (name.empty()) return "";
  std::ranges::replace(name, '-', '_');
  std::string advice;
  for (const std::string& key : keys_called(name))
    advice += fmt::format("{}--set {}", advice.empty() ? "" : " or ",
                          shell_word(key + "=" + (value.empty() ? "..." : value)));
  return advice;
}

}  // namespace bochner
