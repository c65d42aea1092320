#pragma once
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/basic/standardization.hpp>
#include <bochner/layers/encodings/scales.hpp>
#include <bochner/layers/models/loss.hpp>
#include <bochner/layers/models/token_inputs.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Effects of a row's covariates on its variates: W2 gelu(W1 c + b), or W c without hidden units;
/// initially 0. They are subtracted from the past and added to the forecast: dynamic regression
/// (Pankratz, "Forecasting with dynamic regression models", 1991). (B, T, C) -> (B, V, T)
class RowEffects : public Module {
 public:
  RowEffects(std::size_t covariates, std::size_t hidden, std::size_t variates);
  Var forward(Tape& tape, const Var& covariates);
  void visit(Visitor& visitor) override {
    if (up_) visitor("up", *up_);
    visitor("down", down_);
  }

 private:
  std::unique_ptr<Linear> up_;
  Parameter down_;
};

/// Makes numbers ascend: x[.., middle] stays, each further one adds or subtracts a softplus, so
/// that rounding cannot make them cross. (.., Q) -> (.., Q)
Var ascending(const Var& x, std::size_t middle);
/// Returns the index of the level nearest to 1/2.
std::size_t median_index(const std::vector<double>& levels);

/// Rows per token of an attention forecaster, and distance between tokens.
struct PatchSpec {
  std::size_t length = 16, stride = 8;
};

struct ForecasterSpec {
  std::size_t variates = 1, lookback = 336, horizon = 96;
  std::string backbone = "linear";
  LossSpec loss;
  std::vector<double> quantiles = {0.1, 0.5, 0.9};  ///< levels (loss "quantile")
  InstanceNormSpec instance_norm;
  // linear
  bool per_variate = false;
  std::size_t moving_average = 0;
  // attention
  PatchSpec patch;
  StackSpec stack;  ///< attention in both directions; causal for "rows"
  double head_dropout = 0;
  // rows
  TimeEncodingSpec time;
  bool regular = false;  ///< times are row numbers: time kernels need no gaps
  // several series, and known covariates of their rows
  std::size_t series = 1, covariates = 0;
  std::size_t effects = 16, series_width = 0;

  bool predicts_quantiles() const { return loss.kind == "quantile"; }
  std::size_t outputs() const { return predicts_quantiles() ? quantiles.size() : 1; }
  /// Returns the width of a row's context: covariates and series embedding.
  std::size_t context() const { return covariates + series_width; }
  std::size_t patches() const { return (lookback - patch.length) / patch.stride + 1; }
};
/// Also of patches of a series in other models.
inline void describe(Keys& keys, PatchSpec& spec) {
  const KeyCondition attention = when("model.backbone", {"attention"}),
                     series = when("data.kind", {"series"}),
                     whole = when("data.kind", {"labelled_series"}) &&
                             when("model.kind", {"classifier", "regressor"});
  keys.when(attention || whole || (series && when("model.kind", {"vae", "contrastive"})))(
      "length", spec.length, between(1, 1 << 16), "rows of a token");
  keys.when(attention || whole || (series && when("model.kind", {"contrastive"})))(
      "stride", spec.stride, between(1, 1 << 16), "rows from one token to the next");
}
inline void describe_quantiles(Keys& keys, std::vector<double>& levels) {
  keys.when(loss_is(keys, {"quantile"}))("quantiles", levels, between(0, 1),
                                         "levels of the quantiles, ascending");
}
inline void describe(Keys& keys, ForecasterSpec& spec) {
  keys("backbone", spec.backbone, one_of({"linear", "attention", "rows"}),
       "a linear map of the window, attention over its patches, or over its rows and those to "
       "come, each at its time (rows)");
  keys.when("backbone", {"attention", "rows"}, [&] { describe(keys, spec.stack); });
  describe(keys, spec.loss);
  describe_quantiles(keys, spec.quantiles);
  keys("effects", spec.effects, between(0, 1 << 16),
       "hidden units that map covariates (data.known, data.static, data.calendar) to rows; 0 for a "
       "linear map");
  keys(
      "series_width", spec.series_width, between(0, 1 << 12),
      "learned numbers for each of several series (data.series), used like covariates; 0 for none");
  keys.section("instance_norm", spec.instance_norm);
  keys.when("backbone", {"linear"}, [&] {
    keys("per_variate", spec.per_variate, "separate weights for each variate");
    keys("moving_average", spec.moving_average, between(0, 1 << 16),
         "rows of a moving average that gets a linear map of its own; 0 for none");
  });
  keys.section("patch", spec.patch);
  keys.when("backbone", {"attention"})("head_dropout", spec.head_dropout, below(0, 1),
                                       "probability that training drops an input of the last map");
  keys.when("backbone", {"rows"}).section("time", spec.time);
}

/// Maps normalized windows to the future; `times` (B, L + H) and optional `context` (B, L + H, C)
/// cover past and future rows. (B, V, L) -> (B, V, H Q), the Q outputs of a value adjacent
class ForecastBackbone : public Module {
 public:
  virtual Var forward(Tape& tape, const Var& x, const Times& times, const Var& context) = 0;
  /// Returns origin and unit of times; null if the backbone ignores times.
  virtual TimeScale* time_scale() { return nullptr; }
  /// Returns the linear maps, with a bias, whose sum is the output.
  virtual std::vector<Module*> last_maps() = 0;
};
/// Throws std::invalid_argument for an unknown backbone.
std::unique_ptr<ForecastBackbone> make_forecast_backbone(const ForecasterSpec& spec);

/// Known facts about past and future rows of windows: times (B, L + H), covariates (B, C, L + H) in
/// data units, and the series of each window (B). Each may be missing if not used.
struct RowFacts {
  Times times = {};
  Tensor covariates = {};
  std::vector<std::size_t> series = {};
};

/// Forecasts H rows from L: instance normalization around a backbone that sees one variate, in
/// units of the training data; RowEffects of covariates are subtracted before and added after.
class Forecaster : public Module {
 public:
  explicit Forecaster(const ForecasterSpec& spec);
  /// Returns the standardization between data and forward() or loss().
  Standardize& standardize() { return standardize_; }
  /// Returns the time scale, to fit to the training data before the first step; null without times.
  TimeScale* time_scale() { return backbone_->time_scale(); }
  /// Returns the covariates' scale, to fit before the first step; null without covariates.
  Standardize* covariate_unit() { return covariate_unit_.get(); }
  /// Initializes the distances between quantiles as those of the residuals of ridge_residuals(),
  /// the same for all windows. Windows in order of time, in units of the training data. (B, V, L),
  /// (B, V, H)
  void start_quantiles(const Tensor& past, const Tensor& future);
  /// Forecasts. (B, V, L) -> (B, V, H), or (B, V, H, Q) with ascending quantiles
  Var forward(Tape& tape, const Var& past, const RowFacts& facts = {});
  /// Returns the mean loss over windows, variates and rows. forecast (B, V, H) -> ()
  Var loss(const Var& forecast, const Tensor& future) const;
  void visit(Visitor& visitor) override;

 private:
  /// Returns the context (B, L + H, C), or nothing.
  Var context_of(Tape& tape, const RowFacts& facts, std::size_t B);

  ForecasterSpec spec_;
  Standardize standardize_;
  std::unique_ptr<Standardize> covariate_unit_;
  Parameter series_;  // (series, series_width)
  std::unique_ptr<RowEffects> effects_;
  InstanceNorm norm_;
  std::unique_ptr<ForecastBackbone> backbone_;
  std::unique_ptr<ValueLoss> loss_;  // null for quantiles
};

}  // namespace bochner::inline BOCHNER_PRECISION
