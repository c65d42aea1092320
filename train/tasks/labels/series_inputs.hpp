#pragma once
/// What models of tokens of series share: specs, augmented batches and outputs.

#include <bochner/data/formats/npy.hpp>
#include <bochner/data/labelled/augmentations.hpp>
#include <bochner/layers/models/series_model.hpp>
#include <bochner/train/tasks/labels/series_data.hpp>

namespace bochner {

/// Sets what a spec takes from other keys and from the data.
void complete(SeriesModelSpec& spec, const Config& config, const LabelledSeriesFacts& facts);
/// Returns "1 block, D 64, softmax, positions none, patches of 8 rows, pooling mean".
std::string describe_tokens(const SeriesModelSpec& spec);

/// Throws DataError for a series of more tokens than the model has learned positions.
void require_positions(const SeriesModelSpec& spec, const std::vector<SeriesValues>& series);
/// Calls require_positions() for the series of all splits.
void require_positions(const SeriesModelSpec& spec, const LabelledSeries& data);

/// Augments training series; a function of the seed, the epoch and the series.
class SeriesInputs {
 public:
  explicit SeriesInputs(const Config& config);
  /// Returns the tokens of examples. In training they are augmented.
  SeriesTokens training(const SeriesModel& model, const LabelledSeriesBatch& batch,
                        const Examples& examples) const;

 private:
  SeriesAugmentation augmentation_;
  bool is_on_;
  std::uint64_t seed_;
};

/// Returns the outputs of a model for any number of series, a batch at a time. -> (n, outputs)
Tensor outputs_of(SeriesModel& model, const std::vector<SeriesValues>& series);

/// Adds inputs and outputs of a batch for other programs.
NamedArrays arrays_of(const SeriesTokens& tokens, const Var& outputs);

}  // namespace bochner
