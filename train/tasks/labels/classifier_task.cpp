#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/data/events/labelled_events.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/text/labelled_texts.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/data_tables.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/fit_time_scale.hpp>
#include <bochner/train/tasks/labels/image_data.hpp>
#include <bochner/train/tasks/labels/labelled_data.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>
#include <bochner/train/tasks/vocabularies.hpp>
#include <utility>

namespace bochner {
namespace {

SequenceClassifierSpec classifier_spec(const Config& config, const LabelledSizes& sizes,
                                       const ImageShape& image) {
  auto spec = read_spec<SequenceClassifierSpec>(config, "model");
  spec.trunk.length = sizes.length;
  spec.trunk.vocabulary = sizes.vocabulary;
  spec.trunk.timed = config.text("data.kind") == "event_files";
  complete(spec.trunk.time.density, config);
  complete(spec.trunk, config, sizes.length);
  spec.classes = sizes.classes;
  const auto [rows, columns, channels] = image;
  spec.trunk.places.rows = rows;
  spec.trunk.places.columns = columns;
  spec.trunk.places.channels = channels;
  spec.trunk.places.class_token = spec.pooling == "cls";
  complete_encoding(spec.trunk, config);
  return spec;
}

bool has_class_token(const Config& config) { return config.text("model.pooling") == "cls"; }

}  // namespace

LabelledEventsSpec labelled_events_spec(const Config& config) {
  return {config.count("data.length"), config.number("data.validation"), config.count("train.seed"),
          has_class_token(config), config.text("model.kind") == "classifier"};
}

namespace {

LabelledTextsSpec labelled_texts_spec(const Config& config) {
  return {config.count("data.length"), config.number("data.validation"), config.count("train.seed"),
          has_class_token(config), tokenizer_of(config)};
}

/// Rows of tables where a column of labels is named, else files in folders.
std::unique_ptr<LabelledTexts> text_sequences(const Config& config) {
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
  return std::make_unique<LabelledTexts>(
      number_labels(std::move(rows), stored_vocabularies(config).labels), spec);
}

/// `shape` receives that of the tables that they are from, if they are.
std::unique_ptr<LabelledSequences> sequences_of_kind(const Config& config, TableShape& shape) {
  const std::string& kind = config.text("data.kind");
  if (kind == "listops")
    return std::make_unique<ListOps>(list_ops_spec(config), example_set(config));
  if (kind == "images" || kind == "shapes") return image_sequences(config, has_class_token(config));
  if (kind == "event_files") {
    std::vector<EventTable> sequences = read_events(config, shape);
    LabelledEventsSpec spec = labelled_events_spec(config);
    spec.types = shape.types.size();
    spec.labels = shape.labels.size();
    return std::make_unique<LabelledEvents>(std::move(sequences), spec);
  }
  if (kind == "texts") return text_sequences(config);
  throw std::invalid_argument("data.kind = \"" + kind + "\" has no labels");
}

}  // namespace

std::unique_ptr<LabelledSequences> labelled_sequences(const Config& config, TableShape& shape) {
  auto sequences = sequences_of_kind(config, shape);
  auto buckets = read_spec<LengthBuckets>(config, "data");
  buckets.batch = config.count("train.batch");
  sequences->bucket(buckets);
  return sequences;
}

namespace {

std::vector<LabelledExample> image_examples(const NamedArray& input, const ImageShape& shape,
                                            bool class_token) {
  std::vector<LabelledExample> examples;
  for (std::vector<std::int32_t>& pixels : pixels_of(input, shape)) {
    if (class_token) pixels.insert(pixels.begin(), pixel_class);
    examples.push_back({std::move(pixels), 0});
  }
  return examples;
}

constexpr std::size_t image_batch = 16;

/// A label for each sequence.
class ClassifierTask : public Task {
 public:
  explicit ClassifierTask(const Config& config)
      : data_(labelled_sequences(config, shape_)),
        spec_(classifier_spec(config, data_->sizes(), data_->image())),
        model_(spec_) {
    initialize(model_, config.count("train.seed"));
    if (!spec_.trunk.timed) return;
    events_ = labelled_events_spec(config);
    events_.length = data_->length() - (events_.class_token ? 1 : 0);  // positions go no further
    columns_ = event_columns(config);
    fit_times(model_, model_.time_scale(), spec_.trunk.time,
              data_->batch(scale_examples(*data_)).times, config.count("train.seed"));
  }

  Module& model() override { return model_; }
  const Dataset& data() const override { return *data_; }
  Vocabularies names() const override {
    if (const auto* texts = dynamic_cast<const LabelledTexts*>(data_.get()))
      return {.labels = texts->class_names()};
    return names_in(shape_);
  }

  Var loss(Tape& tape, const Examples& examples) override {
    const LabelledBatch batch = data_->batch(examples);
    return model_.loss(tape, batch.tokens, batch.labels, batch.lengths, batch.times);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const LabelledBatch batch = data_->batch(examples);
    return evaluate_answers(model_.logits(tape, batch.tokens, batch.lengths, batch.times),
                            batch.labels);
  }

  NamedArrays arrays(const Examples& examples) override {
    const LabelledBatch batch = data_->batch(examples);
    Tape tape({.recording = false});
    const Var logits = model_.logits(tape, batch.tokens, batch.lengths, batch.times);
    NamedArrays all{{"tokens", array_of(batch.tokens)},
                    {"targets", array_of(batch.labels)},
                    {"outputs", array_of(logits.value())}};
    if (!batch.lengths.empty())
      all.emplace_back("lengths", array_of(batch.lengths, {batch.lengths.size()}));
    if (spec_.trunk.timed) all.emplace_back("times", array_of(batch.times));
    return all;
  }
  Json sizes() const override {
    const TokenPlacesSpec& places = spec_.trunk.places;
    return {{"length", spec_.trunk.length},
            {"rows", places.rows},
            {"columns", places.columns},
            {"channels", places.channels}};
  }

  /// Rows of time and type, columns as in the training data but for the labels -> a row for each
  /// sequence, in the order of their first rows: the probability of each label. Of a sequence that
  /// is longer than those of the data the last events are seen. Or images (n, height, width,
  /// channels) -> a row for each.
  NamedArray predict(const NamedArray& input) override {
    if (data_->image().rows > 0)
      return {probabilities(image_examples(input, data_->image(), spec_.trunk.places.class_token),
                            image_batch),
              class_columns({})};
    if (!spec_.trunk.timed) return Task::predict(input);
    const std::size_t types = spec_.trunk.vocabulary - (events_.class_token ? 1 : 0);
    const EventColumns columns = columns_without_label(columns_, shape_, input);
    NamedArray numbered = input;
    number_texts(numbered, columns, shape_, false);
    const std::vector<EventTable> sequences = event_tables(numbered, types, columns);
    NamedArray result{{}, class_columns(shape_.labels)};
    result.values.resize({sequences.size(), spec_.classes});
    for (std::size_t row = 0; row < sequences.size(); ++row) {
      const LabelledExample example = labelled_example(sequences[row], events_, types);
      const std::size_t T = example.tokens.size();
      Times times(std::vector<std::size_t>{1, T});
      std::ranges::copy(example.times, times.begin());
      Tape tape({.recording = false});
      const Var each = softmax(model_.logits(tape, {{1, T}, example.tokens}, {}, times));
      std::copy_n(each.data(), spec_.classes, result.values.data() + row * spec_.classes);
    }
    return result;
  }

  /// The probability of each label for each text.
  NamedArray predict_texts(const std::vector<std::string>& texts, std::size_t batch) override {
    const auto* data = dynamic_cast<const LabelledTexts*>(data_.get());
    if (!data) return Task::predict_texts(texts, batch);
    std::vector<LabelledExample> examples;
    for (const std::string& text : texts) examples.push_back(labelled_text(text, 0, data->spec()));
    NamedArray result;
    const xt::xarray<double> each = probabilities(examples, batch);
    result.values.resize({texts.size(), 1 + spec_.classes});
    for (std::size_t i = 0; i < texts.size(); ++i) {
      result.values(i, 0) = double(i);
      for (std::size_t k = 0; k < spec_.classes; ++k) result.values(i, 1 + k) = each(i, k);
    }
    result.columns = class_columns(data->class_names());
    result.columns.insert(result.columns.begin(), "text");
    return result;
  }

  std::string describe_model() const override {
    const std::string time =
        spec_.trunk.timed ? ", time " + describe_time(spec_.trunk.time) : std::string();
    return fmt::format("classifier, {}, positions {}{}, pooling {}", describe_stack(spec_.trunk),
                       spec_.trunk.positions, time, spec_.pooling);
  }

  void illustrate(Page& page) override { add_encoding(page, model_, grid_of(spec_.trunk.places)); }

 private:
  std::vector<std::string> class_columns(const std::vector<std::string>& names) const {
    std::vector<std::string> columns;
    for (std::size_t k = 0; k < spec_.classes; ++k)
      columns.push_back(numbered_name("class", names, k));
    return columns;
  }

  /// (n, classes), computed `batch` at a time.
  xt::xarray<double> probabilities(const std::vector<LabelledExample>& examples,
                                   std::size_t batch) {
    xt::xarray<double> result = xt::zeros<double>({examples.size(), spec_.classes});
    for (std::size_t first = 0; first < examples.size(); first += batch) {
      const auto begin = examples.begin() + std::ptrdiff_t(first);
      const auto end = begin + std::ptrdiff_t(std::min(batch, examples.size() - first));
      const LabelledBatch part = batch_of({begin, end});
      Tape tape({.recording = false});
      const Var each = softmax(model_.logits(tape, part.tokens, part.lengths));
      std::copy_n(each.data(), each.size(), result.data() + first * spec_.classes);
    }
    return result;
  }

  TableShape shape_;  // of the files
  std::unique_ptr<LabelledSequences> data_;
  SequenceClassifierSpec spec_;
  LabelledEventsSpec events_;  // of timed tokens
  EventColumns columns_;
  SequenceClassifier model_;
};

}  // namespace

std::unique_ptr<Task> make_classifier_task(const Config& config) {
  return std::make_unique<ClassifierTask>(config);
}

std::unique_ptr<Module> stand_in_classifier(const Config& config) {
  constexpr std::size_t vocabulary = 300, side = 8;
  if (config.text("data.kind") != "images")
    return std::make_unique<SequenceClassifier>(
        classifier_spec(config, {vocabulary, 2, config.count("data.length") + 1}, {}));
  return std::make_unique<SequenceClassifier>(
      classifier_spec(config, {vocabulary, 2, side * side + 1}, {side, side, 1}));
}

ReadOptions text_options(const Config& config) {
  CsvOptions csv =
      only_columns(config, "", {config.text("data.text_column"), config.text("data.label_column")});
  csv.texts = {config.text("data.text_column"), config.text("data.label_column")};
  csv.labels = {config.text("data.label_column")};
  csv.missing = "nan";
  return {csv, ""};
}

}  // namespace bochner
