#pragma once
/// Formats and training data of contrastive learning: images, sequences of events, windows of a
/// series.

#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/labelled/augmentations.hpp>
#include <bochner/data/labelled/labelled.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <bochner/layers/models/contrast_model.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>

namespace bochner {

/// An example before it is cut into tokens: brightness of pixels, rows of a series (V, L) in the
/// unit of the training data, or events.
struct RawExample {
  std::vector<float> values = {};
  LabelledExample events = {};
  std::int32_t label = 0;
};

/// Reads examples and cuts them into tokens, by the facts of the data.
class ContrastFormat {
 public:
  virtual ~ContrastFormat() = default;
  virtual std::string facts() const = 0;
  /// Sets the sizes of a model for these examples.
  virtual void complete(ContrastModelSpec& spec) const = 0;
  /// Returns the number of labels, 0 for none.
  virtual std::size_t classes() const = 0;
  virtual ReadOptions read_options() const { return {}; }
  /// Returns the columns to read from the user's table, none for all.
  virtual std::vector<std::string> columns() const { return {}; }
  /// Returns names of the series whose units the model has.
  virtual std::vector<std::string> series() const { return {}; }
  /// Examples of the user's table; for series also the last row of each window.
  struct Asked {
    std::vector<RawExample> examples;
    std::vector<std::size_t> rows = {};
  };
  virtual Asked read_table(const ContrastModel& model, const NamedArray& table) const = 0;
  virtual EncoderInput encode(const std::vector<RawExample>& examples) const = 0;
  virtual std::size_t specimens() const = 0;
  virtual RawExample specimen(std::size_t i, const ContrastModel& model) const = 0;
};

/// Makes the format of data.kind; without facts, for the smallest data.
std::unique_ptr<ContrastFormat> make_contrast_format(const Config& config, const KnownFacts& facts);

/// Return the examples of a batch without augmentation.
std::vector<RawExample> raw_images(const LabelledBatch& batch);
std::vector<RawExample> raw_sequences(const LabelledBatch& batch);
std::vector<RawExample> raw_windows(SeriesBatch batch, const ContrastModel& model);

/// Raw examples, and two augmented views of each.
class AugmentedExamples {
 public:
  virtual ~AugmentedExamples() = default;
  virtual const Dataset& data() const = 0;
  /// Returns facts for make_contrast_format().
  virtual std::string facts() const = 0;
  /// Sets the units of a new model from the data.
  virtual void fit(ContrastModel&, std::uint64_t) const {}
  virtual std::vector<RawExample> read(const ContrastModel& model,
                                       const Examples& examples) const = 0;
  virtual RawExample view(const RawExample& example, Draws draws) const = 0;

  /// Returns the first views of all examples, then the second ones. (2 B)
  std::vector<RawExample> views(const ContrastModel& model, const Examples& examples,
                                ViewPass pass) const;
};

/// Opens the data of a config. Throws DataError.
std::unique_ptr<AugmentedExamples> make_augmented_examples(const Config& config,
                                                           const KnownFacts& known);

}  // namespace bochner
