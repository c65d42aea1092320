#pragma once
/// Examples of contrastive learning: as they are, and in two views, as an encoder takes them.

#include <bochner/data/formats/array.hpp>
#include <bochner/data/labelled/augmentations.hpp>
#include <bochner/layers/basic/standardization.hpp>
#include <bochner/layers/models/contrast_model.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner {

/// An example before it is cut into tokens: brightness of pixels, rows of a series (V, L) in the
/// unit of the training data, or events.
struct RawExample {
  std::vector<float> values = {};
  LabelledExample events = {};
  std::int32_t label = 0;
};

class AugmentedExamples {
 public:
  virtual ~AugmentedExamples() = default;
  virtual const Dataset& data() const = 0;
  /// Labels that examples have, 0 for none.
  virtual std::size_t classes() const = 0;
  /// Sizes that the data tell.
  virtual void complete(ContrastModelSpec& spec) const = 0;
  /// Takes what the model keeps of the data from them, in a new model.
  virtual void fit(ContrastModel& model, std::uint64_t seed) const = 0;
  virtual std::vector<RawExample> read(const ContrastModel& model,
                                       const Examples& examples) const = 0;
  virtual Vocabularies names() const { return {}; }
  /// Columns of a table of the user's that are needed, none for all.
  virtual std::vector<std::string> columns() const { return {}; }
  /// What stands in a table of the user's, and of series the number of the last row of each window.
  struct Asked {
    std::vector<RawExample> examples;
    std::vector<std::size_t> rows = {};
  };
  virtual Asked read_table(const ContrastModel& model, const NamedArray& table) = 0;
  virtual RawExample view(const RawExample& example, Draws draws) const = 0;
  virtual EncoderInput encode(const std::vector<RawExample>& examples) const = 0;

  /// First views of all, then the second ones.
  EncoderInput views(const ContrastModel& model, const Examples& examples, ViewPass pass) const;
};

/// Of what the config says. Throws DataError.
std::unique_ptr<AugmentedExamples> view_source(const Config& config);

}  // namespace bochner
