#pragma once
#include <bochner/layers/basic/standardization.hpp>
#include <bochner/layers/encodings/time_scale.hpp>
#include <bochner/layers/models/row_effects.hpp>
#include <bochner/layers/models/time_input.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Rows of a token of an attention forecaster, and from one token to the next.
struct PatchSpec {
  std::size_t length = 16, stride = 8;
};

struct ForecasterSpec {
  std::size_t variates = 1, lookback = 336, horizon = 96;
  std::string backbone = "linear";
  std::string loss = "mse";
  std::vector<double> quantiles = {0.1, 0.5, 0.9};  ///< levels (loss "quantile")
  InstanceNormSpec instance_norm;
  // linear
  bool per_variate = false;
  std::size_t moving_average = 0;
  // attention
  PatchSpec patch;
  StackSpec stack;  ///< its mixers look in both directions; those of "rows" back in time
  double head_dropout = 0;
  // rows
  TimeEncodingSpec time;
  bool regular = false;  ///< times are the numbers of the rows: time kernels need no gaps
  // several series, and what is known of their rows beforehand
  std::size_t series = 1, covariates = 0;
  std::size_t effects = 16, series_width = 0;

  bool says_quantiles() const { return loss == "quantile"; }
  /// Numbers that are said of each value to come.
  std::size_t outputs() const { return says_quantiles() ? quantiles.size() : 1; }
  /// Of a row: covariates and what is learned of its series.
  std::size_t context() const { return covariates + series_width; }
  /// Tokens of a window.
  std::size_t patches() const { return (lookback - patch.length) / patch.stride + 1; }
};
inline void describe(Keys& keys, ForecasterSpec& spec) {
  describe(keys, spec.stack);
  keys("backbone", spec.backbone, one_of({"linear", "attention", "rows"}),
       "forecaster: a linear map of the window, attention over its patches, or over its rows and "
       "those to come, each at its time (rows)");
  keys("loss", spec.loss,
       one_of({"mse", "mae", "huber", "quantile", "cross_entropy", "nce", "sampled_softmax"}),
       "forecaster: what is minimised, in the unit of the training data; quantile: those of "
       "model.quantiles are forecast; lm: cross_entropy, unless training is to see tokens drawn as "
       "noise in place of all: nce or sampled_softmax, for large vocabularies");
  keys("quantiles", spec.quantiles, between(0, 1),
       "forecaster of quantiles: their levels, ascending, between 0 and 1");
  keys("effects", spec.effects, between(0, 1 << 16),
       "forecaster with covariates (data.known, data.static, data.calendar): hidden units of what "
       "they add to a row, 0 for a linear map");
  keys("series_width", spec.series_width, between(0, 1 << 12),
       "forecaster of several series (data.series): numbers that are learned of each and stand "
       "beside the covariates of its rows, 0 for none");
  keys.section("instance_norm", spec.instance_norm);
  keys("per_variate", spec.per_variate, "linear forecaster: weights of its own for each variate");
  keys("moving_average", spec.moving_average, between(0, 1 << 16),
       "linear forecaster: a map of its own for the mean over so many rows, 0 for none");
  keys("patch.length", spec.patch.length, between(1, 1 << 16),
       "attention forecaster, contrastive, vae of a series: rows of a token");
  keys("patch.stride", spec.patch.stride, between(1, 1 << 16),
       "attention forecaster, contrastive: rows from one token to the next");
  keys("head_dropout", spec.head_dropout, below(0, 1),
       "attention forecaster: probability that an input of the last map is dropped");
  keys.section("time", spec.time);
}

/// From a normalised window of each variate to what follows it, at the times (B, L + H) of the rows
/// that are seen and of those to come, of which `context` (B, L + H, C) is known, if anything is.
/// (B, V, L) -> (B, V, H Q), the Q outputs of a value side by side
class ForecastBackbone : public Module {
 public:
  virtual Var forward(Tape& tape, const Var& x, const Times& times, const Var& context) = 0;
  /// Origin and unit of the times; null where they are not seen.
  virtual TimeScale* time_scale() { return nullptr; }
};
/// Throws std::invalid_argument when there is no such backbone.
std::unique_ptr<ForecastBackbone> make_forecast_backbone(const ForecasterSpec& spec);

/// What is known of the rows of windows, seen and to come: their times (B, L + H), where the
/// backbone sees them, covariates (B, C, L + H) in the unit of the data, if there are any, and of
/// which series each window is (B), where there are several.
struct RowFacts {
  Times times = {};
  Tensor covariates = {};
  std::vector<std::size_t> series = {};
};

/// The next H rows from the last L: instance normalisation around a backbone that sees one variate
/// at a time, in units of the training data; with covariates, around what they leave (RowEffects).
class Forecaster : public Module {
 public:
  explicit Forecaster(const ForecasterSpec& spec);
  /// Between data and what forward() and loss() take.
  Standardize& standardize() { return standardize_; }
  /// Set it from the training data before the first step; null where no times are seen.
  TimeScale* time_scale() { return backbone_->time_scale(); }
  /// Set it from the training data before the first step; null without covariates.
  Standardize* covariate_unit() { return covariate_unit_.get(); }
  /// (B, V, L) -> (B, V, H), or (B, V, H, Q) of quantiles, which ascend
  Var forward(Tape& tape, const Var& past, const RowFacts& facts = {});
  /// Mean over windows, variates and rows. What forward() gives, (B, V, H) -> ()
  Var loss(const Var& forecast, const Tensor& future) const;
  void visit(Visitor& visitor) override;

 private:
  /// (B, L + H, C), or nothing
  Var context_of(Tape& tape, const RowFacts& facts, std::size_t B);

  ForecasterSpec spec_;
  Standardize standardize_;
  std::unique_ptr<Standardize> covariate_unit_;
  Parameter series_;  // (series, series_width)
  std::unique_ptr<RowEffects> effects_;
  InstanceNorm norm_;
  std::unique_ptr<ForecastBackbone> backbone_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
