#pragma once
/// What data.kind may be, which model and task learn it, and what its keys must satisfy.

#include <bochner/data/events/event_files.hpp>
#include <bochner/data/fields/sensor_windows.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/tables/table_rows.hpp>
#include <bochner/data/tables/table_source.hpp>
#include <bochner/data/text/list_ops.hpp>
#include <bochner/data/text/token_tasks.hpp>
#include <bochner/data/text/tokenizer.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <functional>
#include <memory>

namespace bochner {

class Learner;
class Task;

/// The keys that keep examples for validation.
inline constexpr const char *validation_fraction = "data.validation",
                            *validation_examples = "data.validation_examples",
                            *validation_splits = "data.splits";

/// A kind of data and the model that learns it.
struct TaskKind {
  std::string data;   ///< data.kind
  std::string model;  ///< model.kind
  std::unique_ptr<Task> (*open)(const Config& config, const KnownFacts& known);
  /// Without facts, a model of the smallest data that there can be.
  std::unique_ptr<Learner> (*learn)(const Config& config, const KnownFacts& facts);
  const char* validation;                  ///< one of the keys above
  void (*check)(const Config&) = nullptr;  ///< throws ConfigError
  /// How its tables are read, from files or data.source; null: it reads none.
  ReadOptions (*read)(const Config& config) = nullptr;
  bool keeps_data = false;  ///< whether facts hold the training data
};
using TaskKinds = std::vector<TaskKind>;
/// Returns all kinds; valid until a registry changes.
const TaskKinds& task_kinds();

/// Each adds the rows of its folder.
using AddTaskKinds = void(TaskKinds& kinds);
AddTaskKinds add_text_kinds, add_label_kinds, add_bag_of_words_kinds, add_event_kinds,
    add_event_token_kinds, add_field_kinds, add_sensor_kinds, add_table_kinds,
    add_table_ensemble_kinds, add_series_kinds, add_ensemble_kinds, add_latent_kinds,
    add_contrast_kinds, add_custom_kinds, add_series_label_kinds, add_series_class_kinds,
    add_series_number_kinds;

/// Opens a task: a TaskKind::open.
template <class SomeTask>
std::unique_ptr<Task> open_as(const Config& config, const KnownFacts& known) {
  return std::make_unique<SomeTask>(config, known);
}
/// Makes a learner: a TaskKind::learn.
template <class SomeLearner>
std::unique_ptr<Learner> learn_as(const Config& config, const KnownFacts& facts) {
  return std::make_unique<SomeLearner>(config, facts);
}
/// Makes a learner of the facts, or of assumed(config) without any.
template <class SomeLearner, auto assumed>
std::unique_ptr<Learner> learn_as(const Config& config, const KnownFacts& facts) {
  using Facts = decltype(assumed(config));
  return std::make_unique<SomeLearner>(config,
                                       facts.bytes.empty() ? assumed(config) : facts.of<Facts>());
}

/// Adds rows of one model.
struct ModelRows {
  TaskKinds& kinds;
  std::string model;
  decltype(TaskKind::open) open;
  decltype(TaskKind::learn) learn;

  void operator()(const std::string& data, const char* validation,
                  decltype(TaskKind::check) check = nullptr,
                  decltype(TaskKind::read) read = nullptr) const {
    kinds.push_back({data, model, open, learn, validation, check, read});
  }
};

/// What data.kind may be.
std::vector<std::string> data_kind_names();
/// Accepts these names. Programs add some, but they fulfil only conditions that name them.
inline Bounds one_of_kinds(NameList names) {
  Bounds bounds = one_of(std::move(names));
  bounds.added = [] { return std::vector<std::string>(); };
  return bounds;
}
/// Lists the kinds that keep validation examples by this key.
std::vector<std::string> data_kinds_with(const std::string& validation_key);

struct ModelChoice {
  std::string kind = "lm";
};
void describe(Keys& keys, ModelChoice& choice);

/// Whether model.kind is a task that a program adds, see CustomTask.
bool is_custom(const Config& config);
/// Whether data.kind is read from data.files, and not generated.
bool reads_files(const Config& config);
/// Whether tables come from data.source, and not from files.
bool makes_tables(const Config& config);
/// Returns the settings that read a file or folder as the only data, all in the training split, to
/// evaluate a model on them. Throws std::invalid_argument for generated data.
std::vector<std::string> sets_of_other_data(const Config& config, const std::string& file);
/// Returns the files of data.files.
std::vector<std::filesystem::path> data_files(const Config& config);
/// Returns the names of all tables: files, or the one of data.source.
std::vector<std::filesystem::path> table_names(const Config& config);
/// Reads a table of table_names(), or makes it. Throws DataError.
NamedArray read_table(const Config& config, const std::filesystem::path& name,
                      const ReadOptions& options);

/// The keys of data.* that kinds share.
struct DataSpec {
  std::string kind = "bytes";
  TableSourceSpec source;
  std::vector<std::string> files;
  std::size_t length = 256;
  std::string separator = "\\n";  ///< see separator_bytes() of encoding_checks.hpp
  TokenizerSpec tokenizer;
  double validation = 0.1;
  ExampleSet examples;
};
inline void describe(Keys& keys, DataSpec& spec) {
  keys("kind", spec.kind, one_of_kinds(data_kind_names),
       "text files (bytes), texts with labels, images, a series, events, readings of sensors, rows "
       "of a table, or generated examples; see tasks.md");
  describe(keys, spec.source);
  KeyCondition files = keys.is("source", {"files"});
  files.only_named = true;
  keys.when(files)("files", spec.files,
                   "files or globs, from the current folder; configs of runs hold absolute paths",
                   resumable_path);
  keys("length", spec.length, between(1, 1 << 24),
       "tokens of a window or sequence (T); of the longest expression (listops); readings "
       "(sensors)");
  keys.when(keys.is("kind", {"bytes"}) && when("model.positions", {"encoding"}))(
      "separator", spec.separator,
      "bytes that end a line of the text for model.positions, with \\n, \\t, \\r, \\\\ and \\xHH",
      of_model);
  keys.when(keys.is("kind", {"bytes", "texts"}) && unless("model.kind", {"bag_of_words"}))
      .section("tokenizer", spec.tokenizer);
  keys.when(keys.is("kind", data_kinds_with(validation_fraction)))(
      "validation", spec.validation, below(0, 1),
      "fraction for validation, rounded up, 0 for none: the last bytes, images, sequences, films "
      "or readings, any texts; of a single sequence or film, its last events or frames");
  keys.when(keys.is("kind", data_kinds_with(validation_examples)),
            [&] { describe(keys, spec.examples); });
}

struct ImagesSpec {
  std::vector<std::string> validation_files;
  bool grey = false;
};
inline void describe(Keys& keys, ImagesSpec& spec) {
  keys("validation_files", spec.validation_files,
       "files to validate on; by default the last data.validation of data.files", resumable_path);
  keys("grey", spec.grey, "one token of brightness a pixel instead of three of colour");
}

/// The generated examples that a config describes, and what kinds of them are.
ExampleSet example_set(const Config& config);
TokenTaskSpec token_task_spec(const Config& config);
ListOpsSpec list_ops_spec(const Config& config);
/// How the data.* keys of a config say that tables are to be read.
ReadOptions table_options(const Config& config);
/// Calls take(name, table) for each of table_names(), and adds the name to its DataError.
void for_each_table(
    const Config& config,
    const std::function<void(const std::filesystem::path& name, NamedArray& table)>& take);
/// Returns how to read only these columns, so that others may hold text; or all columns if numbers
/// select them. `time`: the column of data.time_format.
CsvOptions only_columns(const Config& config, const std::string& time,
                        const std::vector<std::string>& columns);
/// Where it says that the columns of event_files are.
EventColumns event_columns(const Config& config);
/// Returns the columns of readings of sensors.
SensorColumns sensor_columns(const Config& config);

/// Throws ConfigError for steps of a model that is fitted before the first one.
void check_fitted_at_once(const Config& config);
/// Throws ConfigError where data.kind and other keys do not fit.
void check_data(const Config& config);
/// Throws ConfigError at the key that would keep examples where a split has none; at `option` where
/// that is what asked for them.
void require_examples(const Config& config, const Dataset& data, Split split,
                      const std::string& option = "");
/// Throws ConfigError at train.stop.patience when there is nothing to validate on.
void check_validation(const Config& config);

}  // namespace bochner
