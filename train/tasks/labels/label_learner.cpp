#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/labels/image_data.hpp>
#include <bochner/train/tasks/labels/label_learner.hpp>
#include <bochner/train/tasks/labels/labelled_data.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
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

}  // namespace

void LabelFacts::check() const {
  constexpr std::uint64_t most = std::uint64_t(1) << 24;
  require_size("tokens in the vocabulary", vocabulary, most);
  require_size("classes", classes, most);
  require_size("tokens of a sequence", length, std::uint64_t(1) << 32);
  require_size("channels", channels, 4);
  require_size("training sequences", examples, std::uint64_t(1) << 40);
  if (rows > most || columns > most || rows * columns * channels > length)
    throw DataError("facts claim images of ", rows, " x ", columns, " pixels in sequences of ",
                    length, " tokens");
  if (types.size() > vocabulary || labels.size() > classes)
    throw DataError("facts name more types or labels than they count");
}

LabelLearner::LabelLearner(const Config& config, LabelFacts facts)
    : facts_(std::move(facts)),
      data_kind_(config.text("data.kind")),
      reading_(table_options(config)),
      spec_(classifier_spec(config, facts_)),
      model_(spec_) {
  initialize(model_, config.count("train.seed"));
  if (data_kind_ == "texts") {
    texts_ = labelled_texts_spec(config);
    require_same_tokenizer(config, *texts_.tokenizer, facts_.tokenizer);
  }
  if (!spec_.trunk.timed) return;
  columns_ = event_columns(config);
  events_ = labelled_events_spec(config);
  events_.length = facts_.length - (events_.class_token ? 1 : 0);  // the number of positions
}

std::string LabelLearner::describe() const {
  const std::string time =
      spec_.trunk.timed ? ", time " + describe_time(spec_.trunk.time) : std::string();
  return fmt::format("classifier, {}, positions {}{}, pooling {}", describe_stack(spec_.trunk),
                     spec_.trunk.positions, time, spec_.pooling);
}

Json LabelLearner::sizes() const {
  const TokenPlacesSpec& places = spec_.trunk.places;
  return {{"length", spec_.trunk.length},
          {"rows", places.rows},
          {"columns", places.columns},
          {"channels", places.channels}};
}

void LabelLearner::illustrate(Page& page) {
  add_encoding(page, model_, grid_of(spec_.trunk.places));
}

LearnerAbilities LabelLearner::abilities() {
  const bool tables = facts_.rows > 0 || spec_.trunk.timed, texts = data_kind_ == "texts";
  return {.tables = tables ? this : nullptr, .texts = texts ? this : nullptr, .specimens = this};
}

NamedArray LabelLearner::predict(const NamedArray& question) {
  if (spec_.trunk.timed) return predict_events(question);
  const auto examples = image_examples(question, facts_.image(), spec_.trunk.places.class_token);
  return {probabilities(examples, image_batch), class_columns()};
}

NamedArray LabelLearner::predict_events(const NamedArray& question) {
  const std::size_t types = facts_.vocabulary - (events_.class_token ? 1 : 0);
  TableShape shape = facts_.table();
  const EventColumns columns = columns_without_label(columns_, shape, question);
  NamedArray numbered = question;
  number_texts(numbered, columns, shape, false);
  const std::vector<EventTable> sequences = event_tables(numbered, types, columns);
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

NamedArray LabelLearner::predict_texts(const std::vector<std::string>& texts, std::size_t batch) {
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

void LabelLearner::forward_specimen(Tape& tape, std::size_t i) {
  const LabelledBatch& one = facts_.specimens[i];
  model_.logits(tape, one.tokens, one.lengths, one.times);
}

std::vector<std::string> LabelLearner::class_columns() const {
  std::vector<std::string> columns;
  for (std::size_t k = 0; k < spec_.classes; ++k)
    columns.push_back(numbered_name("class", facts_.labels, k));
  return columns;
}

xt::xarray<double> LabelLearner::probabilities(const std::vector<LabelledExample>& examples,
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

}  // namespace bochner
