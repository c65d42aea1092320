#pragma once
/// Models of whole series of real values: patches of rows as tokens, blocks, and a linear head for
/// classes or for a number.

#include <bochner/layers/basic/standardization.hpp>
#include <bochner/layers/convolutions/filter_bank.hpp>
#include <bochner/layers/models/contrast_model.hpp>
#include <bochner/layers/models/forecaster.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct SeriesModelSpec {
  StackSpec stack;
  std::string pooling = "mean", standardize = "channel";

  // set by the task
  PatchSpec patch;                       ///< described on its own, since several models have it
  std::size_t channels = 1, length = 1;  ///< of the series, rows of the longest
  std::size_t outputs = 1;

  /// Returns the number of tokens of a series, with the class token.
  std::size_t tokens(std::size_t rows) const;
  /// Returns the numbers of a token: values and missing indicators of its rows and channels, and
  /// whether it is a class token if there is one.
  std::size_t numbers() const;
};
inline void describe(Keys& keys, SeriesModelSpec& spec) {
  describe(keys, spec.stack);
  describe_pooling(keys, spec.pooling);
  describe_standardize(keys, spec.standardize);
}

/// Tokens of a batch of series; those from the length of their series on are padding.
struct SeriesTokens {
  Tensor values;                     ///< (B, T, numbers)
  std::vector<std::size_t> lengths;  ///< (B)
  Tensor shares;                     ///< of each token in the pooled output (B, 1, T)
};

/// Maps series of any length to numbers. Missing values are 0 with an indicator of 1, as are rows
/// beyond the end in the last patch; tokens without any value are left out of the mean.
class SeriesModel : public Module {
 public:
  explicit SeriesModel(const SeriesModelSpec& spec);
  /// Sets mean and deviation of each channel from training series.
  void fit(const std::vector<SeriesValues>& series);
  /// Returns a series in the units of the model; missing values stay NaN. (channels, rows) -> the
  /// same
  std::vector<float> standardized(SeriesValues series) const;
  /// Returns the tokens of series in the units of the model.
  SeriesTokens tokens(const std::vector<std::vector<float>>& standardized) const;
  /// -> (B, outputs)
  Var forward(Tape& tape, const SeriesTokens& tokens);
  /// Returns the outputs of series in the units of the data. -> (B, outputs)
  Var forward(Tape& tape, const std::vector<SeriesValues>& series);
  const SeriesModelSpec& spec() const { return spec_; }
  void visit(Visitor& visitor) override;

 private:
  SeriesModelSpec spec_;
  Standardize unit_;
  SequenceEncoder encoder_;
  Linear head_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
