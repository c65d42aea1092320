#pragma once
/// Labelled sequences of a config, and the facts that models learn from them.

#include <bochner/data/events/event_files.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/labelled/pixels.hpp>
#include <bochner/data/text/labelled_texts.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/serialize.hpp>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, LabelledBatch& batch) {
  serialize_indices(archive, batch.tokens);
  archive(batch.lengths);
  serialize_indices(archive, batch.labels);
  serialize_array(archive, batch.times);
}

struct LabelFacts {
  static constexpr const char* kind = "labels";
  std::uint64_t vocabulary = 1, classes = 2;
  std::uint64_t length = 1;                           ///< tokens of the longest sequence
  std::uint64_t rows = 0, columns = 0, channels = 1;  ///< of images
  std::vector<std::string> types = {};                ///< names of events, or terms of texts
  std::vector<std::string> labels = {};
  std::uint64_t table_width = 0;  ///< columns of tables of events
  std::vector<std::string> table_columns = {};
  std::uint64_t examples = 1;   ///< training sequences
  std::uint64_t tokenizer = 0;  ///< digest; 0 for bytes
  std::vector<LabelledBatch> specimens = {};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(vocabulary, classes, length, rows, columns, channels, types, labels, table_width,
            table_columns, examples, tokenizer, specimens);
  }
  void check() const;
  TableShape table() const { return {table_width, table_columns, types, labels}; }
  ImageShape image() const { return {rows, columns, channels}; }
};

/// Sequences of a config, with names numbered as in the known facts: images, shapes, texts,
/// expressions, or sequences of events. Throws DataError, and std::invalid_argument for other data.
struct LabelData {
  TableShape shape;  ///< of tables of events
  std::unique_ptr<LabelledSequences> sequences;

  LabelData(const Config& config, const KnownFacts& known);
};

/// Returns the facts of the sequences, or the known ones if data may not extend them. Throws
/// DataError if the data hold names or sizes that the model has not learned.
LabelFacts label_facts(const Config& config, const LabelData& data, const KnownFacts& known);

/// Returns label_facts() of images. Throws DataError also for images of another size than known.
LabelFacts image_facts(const Config& config, const LabelData& data, const KnownFacts& known);
/// Returns facts for a model without data: images of one patch.
LabelFacts smallest_image_facts(const Config& config);

LabelledEventsSpec labelled_events_spec(const Config& config);
/// `tokenizer`: its known digest, see tokenizer_of().
LabelledTextsSpec labelled_texts_spec(const Config& config, std::uint64_t tokenizer);
/// Opens rows of tables if data.label_column is set, else files in folders. `known`: labels with
/// numbers.
std::unique_ptr<LabelledTexts> labelled_texts(const Config& config, const LabelledTextsSpec& spec,
                                              const std::vector<std::string>& known);
/// Returns how tables of texts are read.
ReadOptions text_options(const Config& config);
/// Returns whether each sequence begins with a class token.
bool has_class_token(const Config& config);

/// Flattens images (n, rows, columns, channels), grey ones also (n, rows, columns) or (n, pixels),
/// row by row with the channels of a pixel together. Throws DataError for other shapes, and for
/// numbers that are not whole or not from 0 to 255.
std::vector<std::vector<std::int32_t>> pixels_of(const NamedArray& input, const ImageShape& shape);

}  // namespace bochner
