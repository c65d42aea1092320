#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/data/fields/fields.hpp>
#include <bochner/train/tasks/contrast/contrast_checks.hpp>
#include <bochner/train/tasks/encoding_checks.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/stack_checks.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/generated_checks.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>
#include <utility>

namespace bochner {

/// Each stands at the end of the source of its task.
using MakeTask = std::unique_ptr<Task>(const Config& config);
MakeTask make_language_task, make_token_task, make_classifier_task, make_forecast_task,
    make_event_task, make_event_tokens_task, make_field_task, make_sensor_task, make_process_task,
    make_vae_task, make_contrast_task;
using MakeStandIn = std::unique_ptr<Module>(const Config& config);
MakeStandIn stand_in_for_bytes, stand_in_classifier, stand_in_forecaster, stand_in_for_events,
    stand_in_for_event_tokens, stand_in_for_fields, stand_in_for_sensors, stand_in_process,
    stand_in_vae, stand_in_for_contrast;
using TableOptions = ReadOptions(const Config& config);
TableOptions event_options, sensor_options, regression_options, text_options;

namespace {

void check_labels(const Config& config) {
  const bool named = !config.text("data.label_column").empty();
  if (config.text("model.kind") == "classifier" && !named)
    fail(config, "data.label_column",
         "must name the column of labels for a classifier of " + assignment(config, "data.kind"),
         "data.kind");
  const std::string& model = config.text("model.kind");
  if (model != "classifier" && model != "contrastive" && named)
    fail(config, "data.label_column", "needs model.kind = \"classifier\"", "model.kind");
}

/// Sizes along axes that the space has not; those of films are known later.
void check_sides(const Config& config) {
  const auto spec = read_spec<FieldSpec>(config, "data");
  const std::vector<std::string> keys{"data.planes", "data.height", "data.width"};
  const std::size_t none = keys.size() - spec.dimensions;
  for (std::size_t j = 0; j < none; ++j)
    if (config.integer(keys[j]) != 0)
      fail(config, keys[j], "means nothing with " + assignment(config, "data.dimensions"),
           "data.dimensions");
  if (config.text("data.kind") == "field_files") return;
  for (std::size_t j = none; j < keys.size(); ++j) {
    const std::size_t side = spec.sides()[j - none];
    if (side < 3) fail(config, keys[j], "must be at least 3");
    if (side % config.count("model.patch.pixels") != 0)
      fail(config, "model.patch.pixels", fmt::format("must divide {} = {}", keys[j], side),
           keys[j]);
  }
}

void check_no_order(const Config& config) {
  if (config.text("model.mixer.time_kernel.kind") != "none")
    fail(config, "model.mixer.time_kernel.kind",
         "must be \"none\": tokens of a field have no order");
  if (config.integer("model.mixer.directions") == 1)
    fail(config, "model.mixer.directions", "must not be 1: tokens of a field have no order");
}

void check_field(const Config& config) {
  check_sides(config);
  check_encoding(config, config.integer("data.dimensions"));
  check_no_order(config);
}

void check_event_files(const Config& config) {
  check_labels(config);
  const std::size_t dimensions = config.text_list("data.place_columns").size();
  if (dimensions == 0) return;
  if (dimensions > 3)
    fail(config, "data.place_columns", "must name at most three columns of coordinates");
  if (config.text("model.encoding.kind") == "none")
    fail(config, "data.place_columns", "needs model.encoding.kind other than \"none\"");
  check_encoding(config, std::int64_t(dimensions));
}

void check_sensors(const Config& config) {
  const std::size_t dimensions = config.text_list("data.place_columns").size();
  if (dimensions < 1 || dimensions > 3)
    fail(config, "data.place_columns", "must name one to three columns of coordinates",
         "data.kind");
  if (config.integer("data.length") < 2) fail(config, "data.length", "must be at least 2");
  if (config.integer("model.patch.pixels") != 1)
    fail(config, "model.patch.pixels", "means nothing to " + assignment(config, "data.kind"));
  if (config.text("data.missing") != "refuse")
    fail(config, "data.missing", "means nothing to sensors: what is missing is not seen");
  check_encoding(config, std::int64_t(dimensions));
  check_no_order(config);
}

void check_table(const Config& config) {
  if (config.integer("data.rows") == 0 && config.integer("train.batch") != 1)
    fail(config, "train.batch", "must be 1 with data.rows = 0: each step sees all rows",
         "data.rows");
  for (const double quantile : config.number_list("model.gp.quantiles"))
    if (quantile <= 0 || quantile >= 1)
      fail(config, "model.gp.quantiles", "must be between 0 and 1, which are none themselves");
  const std::string& start = config.text("model.gp.density.start");
  if ((start == "periodogram" || start == "em") &&
      config.text("model.gp.density.kind") != "mixture")
    fail(config, "model.gp.density.start", "needs model.gp.density.kind = \"mixture\"",
         "model.gp.density.kind");
  if (!config.text("data.time_format").empty() && config.text("data.time_column").empty())
    fail(config, "data.time_format", "needs data.time_column, the column that it is for",
         "data.time_column");
  if (config.text("data.missing") != "refuse")
    fail(config, "data.missing",
         "means nothing to a table: rows without a target are passed over, inputs are needed");
}

void check_latent(const Config& config) {
  const std::string &data = config.text("data.kind"), draws = "model.vae.draws";
  if (config.text("model.vae.gradient") == "score" && config.integer(draws) < 2)
    fail(config, draws, "must be at least 2 with " + assignment(config, "model.vae.gradient"),
         "model.vae.gradient");
  if (config.text("model.positions") == "encoding")
    fail(config, "model.positions", "is not for " + assignment(config, "model.kind"), "model.kind");
  if (has_words(config))
    fail(config, "data.tokenizer.kind", "must be \"bytes\" for " + assignment(config, "model.kind"),
         "model.kind");
  if (data != "series") return;
  check_series(config);
  if (config.integer("data.lookback") % config.integer("model.patch.length") != 0)
    fail(config, "model.patch.length", "must divide " + assignment(config, "data.lookback"),
         "data.lookback");
}

struct DataKind {
  std::string name;        ///< data.kind
  const char* model;       ///< the model.kind that learns it
  MakeTask* make;          ///< the task that trains it
  MakeStandIn* stand_in;   ///< of data.files, see make_stand_in(); null for what is generated
  const char* validation;  ///< the key that keeps examples for validation
  void (*check)(const Config&) = nullptr;
  TableOptions* read = series_options;  ///< how its tables are read
};

std::vector<DataKind> data_kinds() {
  constexpr const char *fraction = "data.validation", *examples = "data.validation_examples";
  std::vector<DataKind> kinds{{"bytes", "lm", make_language_task, stand_in_for_bytes, fraction}};
  for (const std::string& name : token_task_kinds())
    kinds.push_back({name, "lm", make_token_task, nullptr, examples, check_token_task});
  kinds.push_back(
      {"listops", "classifier", make_classifier_task, nullptr, examples, check_list_ops});
  kinds.push_back({"images", "classifier", make_classifier_task, stand_in_classifier, fraction});
  kinds.push_back({"shapes", "classifier", make_classifier_task, nullptr, examples});
  kinds.push_back({"texts", "classifier", make_classifier_task, stand_in_classifier, fraction,
                   nullptr, text_options});
  kinds.push_back({"hawkes", "events", make_event_task, nullptr, examples});
  kinds.push_back({"event_files", "events", make_event_task, stand_in_for_events, fraction,
                   check_event_files, event_options});
  kinds.push_back({"hawkes", "lm", make_event_tokens_task, nullptr, examples});
  kinds.push_back({"event_files", "lm", make_event_tokens_task, stand_in_for_event_tokens, fraction,
                   check_labels, event_options});
  kinds.push_back({"event_files", "classifier", make_classifier_task, stand_in_classifier, fraction,
                   check_labels, event_options});
  for (const std::string& name : field_kinds())
    kinds.push_back({name, "field", make_field_task, nullptr, examples, check_field});
  kinds.push_back(
      {"field_files", "field", make_field_task, stand_in_for_fields, fraction, check_field});
  kinds.push_back({"sensors", "field", make_sensor_task, stand_in_for_sensors, fraction,
                   check_sensors, sensor_options});
  kinds.push_back({"table", "gp", make_process_task, stand_in_process, fraction, check_table,
                   regression_options});
  kinds.push_back({"series", "forecaster", make_forecast_task, stand_in_forecaster, "data.splits",
                   check_series});
  kinds.push_back({"images", "vae", make_vae_task, stand_in_vae, fraction, check_latent});
  kinds.push_back({"shapes", "vae", make_vae_task, nullptr, examples, check_latent});
  kinds.push_back({"series", "vae", make_vae_task, stand_in_vae, "data.splits", check_latent});
  kinds.push_back({"bytes", "vae", make_vae_task, stand_in_vae, fraction, check_latent});
  kinds.push_back({"images", "contrastive", make_contrast_task, stand_in_for_contrast, fraction,
                   check_contrast});
  kinds.push_back({"event_files", "contrastive", make_contrast_task, stand_in_for_contrast,
                   fraction, check_contrast, event_options});
  kinds.push_back({"series", "contrastive", make_contrast_task, stand_in_for_contrast,
                   "data.splits", check_contrast});
  kinds.push_back({"shapes", "contrastive", make_contrast_task, nullptr, examples, check_contrast});
  return kinds;
}

/// The models that learn data of a kind, as model.kind says them.
std::string learners_of(const std::string& data) {
  std::vector<std::string> models;
  for (const DataKind& kind : data_kinds())
    if (kind.name == data) models.push_back(kind.model);
  return alternatives(models);
}

/// The one for the model, or the first of several where none is.
DataKind kind_of(const Config& config) {
  const std::vector<DataKind> kinds = data_kinds();
  const auto fits = std::ranges::find_if(kinds, [&](const DataKind& kind) {
    return kind.name == config.text("data.kind") && kind.model == config.text("model.kind");
  });
  if (fits != kinds.end()) return *fits;
  return *std::ranges::find(kinds, config.text("data.kind"), &DataKind::name);
}

/// Whether the key keeps something.
bool keeps_examples(const Config& config, const std::string& key) {
  if (key == "data.splits") return config.number_list(key)[1] > 0;
  if (key == "data.validation")
    return config.number(key) > 0 || !config.text_list("data.validation_files").empty();
  return config.integer(key) > 0;
}

}  // namespace

void describe(Keys& keys, ModelChoice& choice) {
  keys(
      "kind", choice.kind,
      one_of({"lm", "classifier", "forecaster", "events", "field", "gp", "vae", "contrastive"}),
      "what is trained: lm predicts the next token, classifier a label of the sequence, forecaster "
      "the rows that follow, events type and time of the next event, field the next frame, or "
      "values "
      "at places and times, gp a column of a table from others, with its uncertainty, vae a latent "
      "variable from which examples come, contrastive embeddings without labels");
}

std::vector<std::string> data_kind_names() {
  std::vector<std::string> names;
  for (const DataKind& kind : data_kinds())
    if (std::ranges::find(names, kind.name) == names.end()) names.push_back(kind.name);
  return names;
}

bool reads_files(const Config& config) { return kind_of(config).stand_in; }

ExampleSet example_set(const Config& config) {
  auto examples = read_spec<ExampleSet>(config, "data");
  examples.seed = config.count("train.seed");
  return examples;
}

TokenTaskSpec token_task_spec(const Config& config) {
  auto spec = read_spec<TokenTaskSpec>(config, "data");
  spec.kind = config.text("data.kind");
  spec.length = config.count("data.length");
  return spec;
}

ListOpsSpec list_ops_spec(const Config& config) {
  auto spec = read_spec<ListOpsSpec>(config, "data");
  spec.longest = config.count("data.length");
  spec.class_token = config.text("model.pooling") == "cls";
  return spec;
}

EventColumns event_columns(const Config& config) {
  auto columns = read_spec<EventColumns>(config, "data");
  const std::string& time = config.text("data.time_column");
  if (!time.empty()) columns.time = time;
  columns.places = config.text_list("data.place_columns");
  return columns;
}

SensorColumns sensor_columns(const Config& config) {
  auto columns = read_spec<SensorColumns>(config, "data");
  columns.values = config.text_list("data.columns");
  const std::string& time = config.text("data.time_column");
  if (!time.empty()) columns.time = time;
  return columns;
}

ReadOptions table_options(const Config& config) { return kind_of(config).read(config); }

void check_data(const Config& config) {
  const DataKind kind = kind_of(config);
  if (config.text("model.kind") != kind.model)
    fail(config, "model.kind",
         fmt::format("cannot learn {}, which is for model.kind = {}",
                     assignment(config, "data.kind"), learners_of(kind.name)),
         "data.kind");
  if (kind.stand_in && config.text_list("data.files").empty())
    fail(config, "data.files", "must name the files of " + assignment(config, "data.kind"),
         "data.kind");
  check_tokenizer(config);
  if (kind.check) kind.check(config);
}

std::unique_ptr<Task> make_task(const Config& config) { return kind_of(config).make(config); }

std::unique_ptr<Module> make_stand_in(const Config& config) {
  const DataKind kind = kind_of(config);
  return kind.stand_in ? kind.stand_in(config) : nullptr;
}

void require_examples(const Config& config, const Dataset& data, Split split,
                      const std::string& option) {
  if (data.examples(split) > 0) return;
  const DataKind kind = kind_of(config);
  const bool test = split == Split::test;
  std::string key = kind.validation,
              problem = fmt::format("keeps no {} examples; ", name_of(split));
  if (key == "data.splits") {
    problem += fmt::format("raise its {} number", test ? "third" : "second");
  } else if (test && kind.stand_in) {
    key = "data.kind";
    problem = "has no test examples; series and generated data can have some";
  } else {
    if (test) key = "data.test_examples";
    problem += "raise it";
  }
  if (option.empty()) fail(config, key, problem);
  throw ConfigError(fmt::format("{}: {}: {}", option, assignment(config, key), problem));
}

void check_validation(const Config& config) {
  const std::string key = kind_of(config).validation;
  if (keeps_examples(config, key)) return;
  fail(config, "train.stop.patience",
       key == "data.splits" ? "needs a second number of data.splits greater than 0"
                            : "needs " + key + " greater than 0",
       key);
}

}  // namespace bochner
