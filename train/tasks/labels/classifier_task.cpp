#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/labelled/pathfinder.hpp>
#include <bochner/layers/models/label_loss.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/init_from_data.hpp>
#include <bochner/train/tasks/labels/label_data.hpp>
#include <bochner/train/tasks/labels/label_pictures.hpp>
#include <bochner/train/tasks/table_learner.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>

namespace bochner {
namespace {

constexpr std::size_t image_batch = 16;

SequenceClassifierSpec classifier_spec(const Config& config, const LabelFacts& facts) {
  auto spec = read_spec<SequenceClassifierSpec>(config, "model");
  spec.trunk.length = facts.length;
  spec.trunk.vocabulary = facts.vocabulary;
  spec.trunk.timed = config.text("data.kind") == "event_files";
  complete(spec.trunk.time.density, config);
  complete(spec.trunk, config, facts.length);
  spec.classes = facts.classes;
  spec.trunk.places.rows = facts.rows;
  spec.trunk.places.columns = facts.columns;
  spec.trunk.places.channels = facts.channels;
  spec.trunk.places.class_token = has_class_token(config);
  complete_encoding(spec.trunk, config);
  return spec;
}

std::vector<LabelledExample> image_examples(const NamedArray& input, const ImageShape& shape,
                                            bool class_token) {
  std::vector<LabelledExample> examples;
  for (std::vector<std::int32_t>& pixels : pixels_of(input, shape)) {
    if (class_token) pixels.insert(pixels.begin(), pixel_class);
    examples.push_back({std::move(pixels), 0});
  }
  return examples;
}

/// Predicts a label for each sequence: texts, images, or sequences of events.
class LabelLearner : public TableLearner<LabelFacts, SequenceClassifierSpec, SequenceClassifier>,
                     public AnswersTexts {
 public:
  /// `data`: the sequences that are open, if any.
  LabelLearner(const Config& config, LabelFacts facts, const LabelledSequences* data = nullptr)
      : TableLearner(config, std::move(facts), classifier_spec),
        data_kind_(config.text("data.kind")) {
    if (data_kind_ == "texts")
      texts_ = data ? static_cast<const LabelledTexts*>(data)->spec()
                    : labelled_texts_spec(config, facts_.tokenizer);
    texts_.length = facts_.length - (texts_.class_token ? 1 : 0);  // the number of positions
    if (!spec_.trunk.timed) return;
    columns_ = event_columns(config);
    events_ = labelled_events_spec(config);
    events_.length = facts_.length - (events_.class_token ? 1 : 0);
  }

  std::string describe() const override {
    const std::string time =
        spec_.trunk.timed ? ", time " + describe_time(spec_.trunk.time) : std::string();
    return fmt::format("classifier, {}, positions {}{}, pooling {}", describe_stack(spec_.trunk),
                       spec_.trunk.positions, time, spec_.pooling);
  }
  Json sizes() const override {
    const TokenPlacesSpec& places = spec_.trunk.places;
    return {{"length", spec_.trunk.length},
            {"rows", places.rows},
            {"columns", places.columns},
            {"channels", places.channels}};
  }
  void illustrate(Page& page) override { add_encoding(page, model_, grid_of(spec_.trunk.places)); }
  std::uint64_t tokenizer_digest() const override { return facts_.tokenizer; }
  LearnerAbilities abilities() override {
    const bool tables = facts_.rows > 0 || spec_.trunk.timed, texts = data_kind_ == "texts";
    return {.tables = tables ? this : nullptr, .texts = texts ? this : nullptr, .specimens = this};
  }

  /// Returns the probability of each label, in a row for each image of (n, height, width,
  /// channels), or for each sequence of a table of events, in the order of their first rows. Such a
  /// table has the columns of the training data; the labels may be missing. Of sequences that are
  /// longer than those of the data, the last events are read.
  NamedArray predict(const NamedArray& question) override {
    if (spec_.trunk.timed) return predict_events(question);
    const auto examples = image_examples(question, facts_.image(), spec_.trunk.places.class_token);
    return {probabilities(examples, image_batch), class_columns()};
  }

  /// Returns the probability of each label, in a row for each text.
  NamedArray predict_texts(const std::vector<std::string>& texts, std::size_t batch) override {
    std::vector<LabelledExample> examples;
    for (const std::string& text : texts) examples.push_back(labelled_text(text, 0, texts_));
    NamedArray result;
    const xt::xarray<double> each = probabilities(examples, batch);
    result.values.resize({texts.size(), 1 + spec_.classes});
    for (std::size_t i = 0; i < texts.size(); ++i) {
      result.values(i, 0) = double(i);
      for (std::size_t k = 0; k < spec_.classes; ++k) result.values(i, 1 + k) = each(i, k);
    }
    result.columns = class_columns();
    result.columns.insert(result.columns.begin(), "text");
    return result;
  }

  /// Returns the names of the classes, or their numbers from 0.
  std::vector<std::string> class_names() const {
    std::vector<std::string> names = facts_.labels;
    for (std::size_t k = names.size(); k < spec_.classes; ++k) names.push_back(std::to_string(k));
    return names;
  }

  /// Adds the text or the picture of an example to an answer.
  void show(LabelAnswer& answer, std::vector<std::int32_t> tokens) const {
    if (spec_.trunk.places.class_token) tokens.erase(tokens.begin());
    const ImageShape image = facts_.image();
    if (data_kind_ == "texts") answer.example = excerpt(decode(*texts_.tokenizer, tokens));
    if (image.rows == 0) return;
    const std::vector<std::string> names = class_names();
    HeatMap map{names[answer.label] + ", answered " + names[answer.answer], "", "", image.rows,
                image.columns};
    for (std::size_t i = 0; i < image.rows * image.columns; ++i)
      map.values.push_back(double(tokens[i * image.channels]));
    answer.picture = [map = std::move(map)] { return draw(map); };
  }

  void forward_specimen(Tape& tape, std::size_t i) override {
    const LabelledBatch& one = facts_.specimens[i];
    model_.logits(tape, one.tokens, one.lengths, one.times);
  }

 private:
  NamedArray predict_events(const NamedArray& question) {
    const std::size_t types = facts_.vocabulary - (events_.class_token ? 1 : 0);
    const TableShape shape = facts_.table();
    const EventColumns columns = columns_without_label(columns_, shape, question);
    const std::vector<EventTable> sequences = numbered_events(question, columns, shape, types);
    NamedArray result{{}, class_columns()};
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

  std::vector<std::string> class_columns() const {
    std::vector<std::string> columns;
    for (std::size_t k = 0; k < spec_.classes; ++k)
      columns.push_back(numbered_name("class", facts_.labels, k));
    return columns;
  }

  /// Returns probabilities (n, classes), computed `batch` at a time.
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

  std::string data_kind_;
  EventColumns columns_;       // of events
  LabelledEventsSpec events_;  // of events
  LabelledTextsSpec texts_;    // of texts
};

/// Trains a classifier of sequences.
class ClassifierTask : public Task, public PredictsClasses {
 public:
  ClassifierTask(const Config& config, const KnownFacts& known)
      : data_(config, known),
        learner_(config, label_facts(config, data_, known), data_.sequences.get()),
        loss_(read_spec<LabelLossSpec>(config, "model")) {
    const SequenceClassifierSpec& spec = learner_.spec();
    if (spec.trunk.timed)
      fit_times(model(), classifier().time_scale(), spec.trunk.time,
                sequences().batch(scale_examples(data())).times, config.count("train.seed"));
  }

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return *data_.sequences; }
  TaskAbilities abilities() override { return {.classes = this}; }

  std::vector<std::string> class_names() const override { return learner_.class_names(); }
  ClassProbabilities class_probabilities(const Examples& examples) override {
    const LabelledBatch batch = sequences().batch(examples);
    Tape tape({.recording = false});
    const Var logits = classifier().logits(tape, batch.tokens, batch.lengths, batch.times);
    return probabilities_of(logits.value(), batch.labels);
  }

  Var loss(Tape& tape, const Examples& examples) override {
    const LabelledBatch batch = sequences().batch(examples);
    return loss_(classifier().logits(tape, batch.tokens, batch.lengths, batch.times), batch.labels);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const LabelledBatch batch = sequences().batch(examples);
    return evaluate_answers(classifier().logits(tape, batch.tokens, batch.lengths, batch.times),
                            batch.labels);
  }

  void illustrate(Page& page) override {
    constexpr std::size_t batch = 16, most_batches = 128;
    const HeldOut held = held_out_examples(data(), batch, most_batches);
    const TakenBatches taken = held.taken(data());
    std::vector<LabelAnswer> answers;
    for (std::uint64_t k = 0; k < taken.count; ++k)
      add_answers(answers, data().part(held.split, taken.index(k), batch));
    add_label_answers(page, learner_.class_names(), std::move(answers));
  }

  Verdict verdict(const HeldOut& held) override {
    const TakenBatches taken = held.taken(data());
    if (taken.count == 0) return {};
    Indices labels;
    for (std::uint64_t k = 0; k < taken.count; ++k) {
      const Examples part = data().part(held.split, taken.index(k), held.batch);
      const Indices more = sequences().batch(part).labels;
      labels.values.insert(labels.values.end(), more.values.begin(), more.values.end());
    }
    return class_verdict(labels, sequences().classes(), held.evaluate(*this));
  }

  NamedArrays arrays(const Examples& examples) override {
    const LabelledBatch batch = sequences().batch(examples);
    Tape tape({.recording = false});
    const Var logits = classifier().logits(tape, batch.tokens, batch.lengths, batch.times);
    NamedArrays all{{"tokens", array_of(batch.tokens)},
                    {"targets", array_of(batch.labels)},
                    {"outputs", array_of(logits.value())}};
    if (!batch.lengths.empty())
      all.emplace_back("lengths", array_of(batch.lengths, {batch.lengths.size()}));
    if (learner_.spec().trunk.timed) all.emplace_back("times", array_of(batch.times));
    return all;
  }

 private:
  const LabelledSequences& sequences() const { return *data_.sequences; }
  SequenceClassifier& classifier() { return learner_.model(); }

  void add_answers(std::vector<LabelAnswer>& answers, const Examples& examples) {
    const LabelledBatch batch = sequences().batch(examples);
    Tape tape({.recording = false});
    const Var each = softmax(classifier().logits(tape, batch.tokens, batch.lengths, batch.times));
    const std::size_t classes = sequences().classes(), T = batch.tokens.shape[1];
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const real* row = each.data() + i * classes;
      const std::size_t answer = std::size_t(std::max_element(row, row + classes) - row);
      LabelAnswer one{std::size_t(batch.labels.values[i]), answer, double(row[answer]),
                      fmt::format("number {}", examples.index(i) + 1)};
      const auto tokens = batch.tokens.values.begin() + std::ptrdiff_t(i * T);
      const std::size_t length = batch.lengths.empty() ? T : batch.lengths[i];
      if (one.label != answer) learner_.show(one, {tokens, tokens + std::ptrdiff_t(length)});
      answers.push_back(std::move(one));
    }
  }

  LabelData data_;
  LabelLearner learner_;
  ClassLoss loss_;
};

/// Returns facts for a model without data.
LabelFacts assumed_label_facts(const Config& config) {
  LabelFacts known;
  known.vocabulary = 300;
  known.length = config.count("data.length") + 1;
  if (config.text("data.kind") == "images") {
    known.rows = known.columns = 8;
    known.length = known.rows * known.columns + 1;
  }
  return known;
}

/// Throws ConfigError if buckets need too many sequences: each is generated to find its length.
void check_buckets(const Config& config) {
  constexpr std::int64_t most = 1 << 20;
  const std::int64_t windows = std::max<std::int64_t>(1, most / config.integer("train.batch"));
  if (config.integer("data.buckets") > windows)
    fail(config, "data.buckets",
         fmt::format("must be at most {} with {}: more than {} sequences would be sorted at once",
                     windows, assignment(config, "train.batch"), most),
         "train.batch");
}

void check_pathfinder(const Config& config) {
  if (config.count("data.side") < Pathfinder::smallest_side)
    fail(config, "data.side",
         fmt::format("must be at least {} for pathfinder, 32 and 128 as published",
                     Pathfinder::smallest_side),
         "data.kind");
}

void check_list_ops(const Config& config) {
  const ListOpsSpec spec = list_ops_spec(config);
  require_at_most(config, "data.shortest", "data.length");
  if (double(spec.shortest) > largest_list_ops(spec))
    fail(config, "data.shortest",
         fmt::format("must be at most {}: {} and {} allow no larger expression",
                     largest_list_ops(spec), assignment(config, "data.depth"),
                     assignment(config, "data.arguments")),
         "data.depth");
  check_buckets(config);
}

}  // namespace

const char classifier_template[] = R"(# A classifier of {what}. See docs/tasks.md.

[model]
kind = "classifier"
blocks = 2
width = 64
positions = "{positions}"
pooling = "mean"
dropout = 0.1

[model.mixer]
kind = "linear"               # attention in O(T); others: softmax, ssm, hyena, ...
heads = 4
features = "positive"         # phi: the feature map
m = 32                        # features
convolution = 4

[data]
kind = "{data}"                # or images (IDX, CIFAR), event_files
files = [{files}]
{columns}validation = 0.1              # of the examples
)";

void add_label_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "classifier", open_as<ClassifierTask>,
                      learn_as<LabelLearner, assumed_label_facts>};
  add("listops", validation_examples, check_list_ops);
  add("images", validation_fraction);
  add("shapes", validation_examples);
  add("pathfinder", validation_examples, check_pathfinder);
  add("texts", validation_fraction, nullptr, text_options);
  add("event_files", validation_fraction, check_labels, event_options);
}

}  // namespace bochner
