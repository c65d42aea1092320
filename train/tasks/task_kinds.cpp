#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/train/tasks/custom/custom_task.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>
#include <mutex>

namespace bochner {
namespace {

TaskKinds registered_kinds() {
  TaskKinds kinds;
  for (AddTaskKinds* add :
       {add_text_kinds, add_event_kinds, add_event_token_kinds, add_label_kinds,
        add_bag_of_words_kinds, add_field_kinds, add_sensor_kinds, add_table_kinds,
        add_table_ensemble_kinds, add_series_kinds, add_ensemble_kinds, add_latent_kinds,
        add_contrast_kinds, add_custom_kinds, add_series_label_kinds, add_series_class_kinds,
        add_series_number_kinds})
    add(kinds);
  return kinds;
}

/// The models that learn data of a kind, as model.kind says them.
std::string learners_of(const std::string& data) {
  std::vector<std::string> models;
  for (const TaskKind& kind : task_kinds())
    if (kind.data == data) models.push_back(kind.model);
  return alternatives(models);
}

/// Returns the row of the model, or the first one of the data where no model fits.
const TaskKind& kind_of(const Config& config) {
  const TaskKinds& kinds = task_kinds();
  const auto fits = std::ranges::find_if(kinds, [&](const TaskKind& kind) {
    return kind.data == config.text("data.kind") && kind.model == config.text("model.kind");
  });
  if (fits != kinds.end()) return *fits;
  return *std::ranges::find(kinds, config.text("data.kind"), &TaskKind::data);
}

bool is_read(const TaskKind& kind) {
  return kind.validation != std::string_view(validation_examples);
}

/// Throws ConfigError for a source of tables where none are read.
void check_source(const Config& config, const TaskKind& kind) {
  if (!makes_tables(config)) return;
  if (!is_read(kind) || !kind.read)
    fail(config, "data.source",
         "must be \"files\" with " + assignment(config, "data.kind") + ", which reads no tables",
         "data.kind");
  if (kind.data == "texts" && config.text("data.label_column").empty())
    fail(config, "data.source", "needs data.label_column: texts without it are files",
         "data.label_column");
}

/// Whether the key keeps any examples.
bool keeps_examples(const Config& config, const std::string& key) {
  if (key == validation_splits) return config.number_list(key)[1] > 0;
  if (key == validation_fraction)
    return config.number(key) > 0 || !config.text_list("data.validation_files").empty();
  return config.integer(key) > 0;
}

}  // namespace

std::vector<std::string> model_kind_names() {
  std::vector<std::string> names = {"lm",       "classifier",  "bag_of_words", "forecaster",
                                    "ensemble", "events",      "field",        "gp",
                                    "vae",      "contrastive", "filter_bank",  "regressor"};
  for (const std::string& name : tasks().names()) names.push_back(name);
  return names;
}

void describe(Keys& keys, ModelChoice& choice) {
  keys("kind", choice.kind, one_of_kinds(model_kind_names),
       "what is learned: the next token (lm), a label of the sequence (classifier, or bag_of_words "
       "for texts, filter_bank for series), a number of a series (regressor), the rows that follow "
       "(forecaster, or an ensemble of "
       "simple forecasts), type and time of the next event (events), the next frame, or values at "
       "places and times (field), a column of a table with its uncertainty (gp, or an ensemble of "
       "estimators), a latent variable that generates examples (vae), embeddings without labels "
       "(contrastive)");
}

std::vector<std::string> data_kind_names() {
  std::vector<std::string> names;
  for (const TaskKind& kind : task_kinds())
    if (std::ranges::find(names, kind.data) == names.end()) names.push_back(kind.data);
  return names;
}

std::vector<std::string> data_kinds_with(const std::string& validation_key) {
  std::vector<std::string> names;
  for (const TaskKind& kind : task_kinds())
    if (kind.validation == validation_key && std::ranges::count(names, kind.data) == 0)
      names.push_back(kind.data);
  return names;
}

const TaskKinds& task_kinds() {
  static std::mutex mutex;
  static TaskKinds kinds;
  static std::size_t changes = 0;
  const std::lock_guard lock(mutex);
  if (kinds.empty() || changes != CountedChanges::count()) {
    kinds = registered_kinds();
    changes = CountedChanges::count();
  }
  return kinds;
}

bool reads_files(const Config& config) { return is_read(kind_of(config)) && !makes_tables(config); }

bool is_custom(const Config& config) {
  return std::ranges::count(tasks().names(), config.text("model.kind")) > 0;
}

bool makes_tables(const Config& config) {
  return config.text("data.source") != TableSourceSpec().source;
}

std::vector<std::string> sets_of_other_data(const Config& config, const std::string& file) {
  const TaskKind& kind = kind_of(config);
  if (!is_read(kind))
    throw std::invalid_argument(fmt::format("{}: {} is generated and reads no file", file,
                                            assignment(config, "data.kind")));
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(file, error);
  const std::string files = !is_folder ? file : file + (kind.data == "texts" ? "/*/*" : "/**");
  std::vector<std::string> sets = {"data.files=[" + in_quotes(files) + "]"};
  if (makes_tables(config)) sets.push_back("data.source=files");
  if (kind.keeps_data) return sets;  // its own are split as before
  sets.push_back(kind.validation == std::string_view(validation_splits) ? "data.splits=[1,0,0]"
                                                                        : "data.validation=0");
  if (kind.data == "images") sets.push_back("data.validation_files=[]");
  if (kind.data == "labelled_series") sets.push_back("data.test_files=[]");
  sets.push_back("train.stop.patience=0");  // there is no validation
  return sets;
}

std::vector<std::filesystem::path> data_files(const Config& config) {
  return expand_files(config.text_list("data.files"), std::filesystem::current_path());
}

std::vector<std::filesystem::path> table_names(const Config& config) {
  if (makes_tables(config)) return {config.text("data.source")};
  return data_files(config);
}

NamedArray read_table(const Config& config, const std::filesystem::path& name,
                      const ReadOptions& options) {
  if (!makes_tables(config)) return read_array(name, options);
  return with_table_options(make_table(read_spec<TableSourceSpec>(config, "data")), name.string(),
                            options.csv);
}

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

ReadOptions table_options(const Config& config) {
  const TaskKind& kind = kind_of(config);
  return kind.read ? kind.read(config) : series_options(config);
}

void for_each_table(
    const Config& config,
    const std::function<void(const std::filesystem::path& name, NamedArray& table)>& take) {
  for (const auto& name : table_names(config)) {
    NamedArray table = read_table(config, name, table_options(config));
    try {
      take(name, table);
    } catch (const DataError& error) {
      throw DataError(name.string() + ": " + error.what());
    }
  }
}

CsvOptions only_columns(const Config& config, const std::string& time,
                        const std::vector<std::string>& columns) {
  CsvOptions csv;
  csv.delimiter = config.text("data.delimiter");
  csv.decimal = config.text("data.decimal");
  csv.quote = config.text("data.quote");
  csv.header = config.text("data.header");
  csv.time_format = config.text("data.time_format");
  if (!csv.time_format.empty()) csv.time = time;
  for (const std::string& column : columns)
    if (!column.empty()) csv.columns.push_back(column);
  if (std::any_of(csv.columns.begin(), csv.columns.end(), parse_count)) csv.columns.clear();
  csv.if_missing = "fill it in, or remove its row";
  return csv;
}

void check_fitted_at_once(const Config& config) {
  if (!config.period("train.steps").off())
    fail(config, "train.steps",
         "must be 0 with " + assignment(config, "model.kind") + ", which is fitted at once",
         "model.kind");
}

void check_data(const Config& config) {
  const TaskKind& kind = kind_of(config);
  if (is_custom(config) && config.text("model.kind") != kind.model)
    fail(config, "data.kind",
         fmt::format("must be {} too with {}", in_quotes(config.text("model.kind")),
                     assignment(config, "model.kind")),
         "model.kind");
  if (config.text("model.kind") != kind.model)
    fail(config, "model.kind",
         fmt::format("cannot learn {}, which is for model.kind = {}",
                     assignment(config, "data.kind"), learners_of(kind.data)),
         "data.kind");
  check_source(config, kind);
  if (reads_files(config) && config.text_list("data.files").empty())
    fail_over(config, "data.files", "must name the files of", "data.kind");
  check_tokenizer(config);
  if (kind.check) kind.check(config);
}

std::unique_ptr<Task> make_task(const Config& config, const KnownFacts& known) {
  return kind_of(config).open(config, known);
}

std::unique_ptr<Learner> make_learner(const Config& config, const KnownFacts& facts) {
  return kind_of(config).learn(config, facts);
}

void require_examples(const Config& config, const Dataset& data, Split split,
                      const std::string& option) {
  if (data.examples(split) > 0) return;
  const TaskKind& kind = kind_of(config);
  const bool test = split == Split::test;
  std::string key = kind.validation,
              problem = fmt::format("keeps no {} examples; ", name_of(split));
  if (key == validation_splits) {
    problem += fmt::format("raise its {} number", test ? "third" : "second");
  } else if (test && is_read(kind)) {
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
       key == validation_splits ? "needs a second number of data.splits greater than 0"
                                : "needs " + key + " greater than 0",
       key);
}

}  // namespace bochner
