#include <bochner/data/text/labelled_texts.hpp>
#include <bochner/train/tasks/labels/label_data.hpp>
#include <bochner/train/tasks/specimens.hpp>

namespace bochner {
namespace {

std::size_t known_types(const Config& config, const LabelFacts& known) {
  return known.vocabulary - (has_class_token(config) ? 1 : 0);
}

LabelFacts facts_of(const Config& config, const LabelData& data) {
  const LabelledSequences& sequences = *data.sequences;
  const ImageShape image = sequences.image();
  LabelFacts facts{.vocabulary = sequences.vocabulary(),
                   .classes = sequences.classes(),
                   .length = sequences.length(),
                   .rows = image.rows,
                   .columns = image.columns,
                   .channels = image.channels,
                   .types = data.shape.types,
                   .labels = data.shape.labels,
                   .table_width = data.shape.width,
                   .table_columns = data.shape.names,
                   .examples = sequences.examples(Split::train),
                   .specimens = take_specimens(sequences, sequences.tokens_per_example())};
  if (config.text("data.kind") != "texts") return facts;
  const auto& texts = static_cast<const LabelledTexts&>(sequences);
  facts.labels = texts.class_names();
  facts.tokenizer = texts.spec().tokenizer->digest();
  return facts;
}

/// Throws DataError if the data hold names or sizes that the model has not learned.
void require_known(const LabelFacts& known, const LabelFacts& found) {
  require_known_names("type", known.types, found.types);
  require_known_names("label", known.labels, found.labels);
  if (found.vocabulary > known.vocabulary || found.classes > known.classes ||
      found.length > known.length)
    throw DataError("data.files: holds ", found.vocabulary, " tokens and ", found.classes,
                    " labels in sequences of up to ", found.length, "; the model was trained on ",
                    known.vocabulary, ", ", known.classes, " and ", known.length);
}

}  // namespace

LabelData::LabelData(const Config& config, const KnownFacts& known) {
  const auto facts = known.of<LabelFacts>();
  shape = {0, {}, facts.types, facts.labels, known_types(config, facts)};
  sequences = labelled_sequences(config, shape, facts.labels);
}

LabelFacts label_facts(const Config& config, const LabelData& data, const KnownFacts& known) {
  LabelFacts found = facts_of(config, data);
  if (!known.are_exact()) return found;
  LabelFacts learned = known.of<LabelFacts>();
  require_known(learned, found);
  return learned;
}

LabelFacts image_facts(const Config& config, const LabelData& data, const KnownFacts& known) {
  LabelFacts facts = label_facts(config, data, known);
  const auto [rows, columns, channels] = data.sequences->image();
  if (rows != facts.rows || columns != facts.columns || channels != facts.channels)
    throw DataError("data.files: holds images of ", rows, " x ", columns, " x ", channels,
                    " numbers; the model was trained on ", facts.rows, " x ", facts.columns, " x ",
                    facts.channels);
  return facts;
}

LabelFacts smallest_image_facts(const Config& config) {
  const std::uint64_t side = config.count("model.patch.pixels");
  return {.length = side * side, .rows = side, .columns = side, .examples = 0};
}

}  // namespace bochner
