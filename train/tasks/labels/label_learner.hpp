#pragma once
#include <bochner/data/events/event_files.hpp>
#include <bochner/data/labelled/labelled.hpp>
#include <bochner/data/text/labelled_texts.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/learner.hpp>
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
  std::vector<std::string> types = {}, labels = {};   ///< names of events and of labels
  std::uint64_t table_width = 0;                      ///< columns of tables of events
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

/// Predicts a label for each sequence: texts, images, or sequences of events.
class LabelLearner : public Learner,
                     public AnswersTables,
                     public AnswersTexts,
                     public HasSpecimens {
 public:
  LabelLearner(const Config& config, LabelFacts facts);

  Module& model() override { return model_; }
  std::string describe() const override;
  std::string facts() const override { return encode_facts(facts_); }
  Json sizes() const override;
  void illustrate(Page& page) override;
  std::uint64_t tokenizer_digest() const override { return facts_.tokenizer; }
  LearnerAbilities abilities() override;

  ReadOptions read_options() const override { return reading_; }
  /// Returns the probability of each label, in a row for each image of (n, height, width,
  /// channels), or for each sequence of a table of events, in the order of their first rows. Such a
  /// table has the columns of the training data; the labels may be missing. Of sequences that are
  /// longer than those of the data, the last events are read.
  NamedArray predict(const NamedArray& question) override;
  /// Returns the probability of each label, in a row for each text.
  NamedArray predict_texts(const std::vector<std::string>& texts, std::size_t batch) override;

  std::size_t specimens() const override { return facts_.specimens.size(); }
  void forward_specimen(Tape& tape, std::size_t i) override;

  SequenceClassifier& classifier() { return model_; }
  const SequenceClassifierSpec& spec() const { return spec_; }

 private:
  NamedArray predict_events(const NamedArray& question);
  std::vector<std::string> class_columns() const;
  /// Returns probabilities (n, classes), computed `batch` at a time.
  xt::xarray<double> probabilities(const std::vector<LabelledExample>& examples, std::size_t batch);

  LabelFacts facts_;
  std::string data_kind_;
  ReadOptions reading_;
  SequenceClassifierSpec spec_;
  EventColumns columns_;       // of events
  LabelledEventsSpec events_;  // of events
  LabelledTextsSpec texts_;    // of texts
  SequenceClassifier model_;
};

}  // namespace bochner
