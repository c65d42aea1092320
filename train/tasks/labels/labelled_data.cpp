#include <algorithm>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/text/labelled_texts.hpp>
#include <bochner/train/tasks/data_tables.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/labels/image_data.hpp>
#include <bochner/train/tasks/labels/labelled_data.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>
#include <utility>

namespace bochner {
namespace {

/// Reads rows of tables if data.label_column is set, else files in folders.
std::unique_ptr<LabelledTexts> text_sequences(const Config& config,
                                              const std::vector<std::string>& known_labels) {
  const std::string& label = config.text("data.label_column");
  const LabelledTextsSpec spec = labelled_texts_spec(config);
  LabelledRows rows;
  if (label.empty())
    rows = rows_of_folders(
        expand_files(config.text_list("data.files"), std::filesystem::current_path()),
        spec.bytes());
  else
    for_each_table(config, [&](const std::filesystem::path&, const NamedArray& table) {
      append_rows(rows, table, config.text("data.text_column"), label);
    });
  return std::make_unique<LabelledTexts>(number_labels(std::move(rows), known_labels), spec);
}

std::unique_ptr<LabelledEvents> event_sequences(const Config& config, TableShape& shape) {
  std::vector<EventTable> sequences = read_events(config, shape);
  LabelledEventsSpec spec = labelled_events_spec(config);
  spec.types = std::max(shape.types.size(), shape.known_types);
  spec.labels = shape.labels.size();
  return std::make_unique<LabelledEvents>(std::move(sequences), spec);
}

std::unique_ptr<LabelledSequences> sequences_of_kind(const Config& config, TableShape& shape,
                                                     const std::vector<std::string>& known_labels) {
  const std::string& kind = config.text("data.kind");
  if (kind == "listops")
    return std::make_unique<ListOps>(list_ops_spec(config), example_set(config));
  if (kind == "images" || kind == "shapes") return image_sequences(config, has_class_token(config));
  if (kind == "event_files") return event_sequences(config, shape);
  if (kind == "texts") return text_sequences(config, known_labels);
  throw std::invalid_argument("data.kind = \"" + kind + "\" has no labels");
}

}  // namespace

bool has_class_token(const Config& config) { return config.text("model.pooling") == "cls"; }

LabelledEventsSpec labelled_events_spec(const Config& config) {
  return {config.count("data.length"), config.number("data.validation"), config.count("train.seed"),
          has_class_token(config), config.text("model.kind") == "classifier"};
}

LabelledTextsSpec labelled_texts_spec(const Config& config) {
  return {config.count("data.length"), config.number("data.validation"), config.count("train.seed"),
          has_class_token(config), tokenizer_of(config)};
}

std::unique_ptr<LabelledSequences> labelled_sequences(
    const Config& config, TableShape& shape, const std::vector<std::string>& known_labels) {
  auto sequences = sequences_of_kind(config, shape, known_labels);
  auto buckets = read_spec<LengthBuckets>(config, "data");
  buckets.batch = config.count("train.batch");
  sequences->bucket(buckets);
  return sequences;
}

}  // namespace bochner
