#pragma once
#include <bochner/layers/basic/units.hpp>
#include <bochner/layers/encodings/time_scale.hpp>
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

  /// Tokens of a window.
  std::size_t patches() const { return (lookback - patch.length) / patch.stride + 1; }
};
inline void describe(Keys& keys, ForecasterSpec& spec) {
  describe(keys, spec.stack);
  keys("backbone", spec.backbone, one_of({"linear", "attention", "rows"}),
       "forecaster: a linear map of the window, attention over its patches, or over its rows and "
       "those to come, each at its time (rows)");
  keys("loss", spec.loss, one_of({"mse", "mae", "huber"}),
       "forecaster: what is minimised, in the unit of the training data");
  keys.section("instance_norm", spec.instance_norm);
  keys("per_variate", spec.per_variate, "linear forecaster: weights of its own for each variate");
  keys("moving_average", spec.moving_average, between(0, 1 << 16),
       "linear forecaster: a map of its own for the mean over so many rows, 0 for none");
  keys("patch.length", spec.patch.length, between(1, 1 << 16),
       "attention forecaster: rows of a token");
  keys("patch.stride", spec.patch.stride, between(1, 1 << 16),
       "attention forecaster: rows from one token to the next");
  keys("head_dropout", spec.head_dropout, below(0, 1),
       "attention forecaster: probability that an input of the last map is dropped");
  keys.section("time", spec.time);
}

/// From a normalised window of each variate to what follows it, at the times (B, L + H) of the rows
/// that are seen and of those to come. (B, V, L) -> (B, V, H)
class ForecastBackbone : public Module {
 public:
  virtual Var forward(Tape& tape, const Var& x, const Times& times) = 0;
  /// Origin and unit of the times; null where they are not seen.
  virtual TimeScale* time_scale() { return nullptr; }
};
/// Throws std::invalid_argument when there is no such backbone.
std::unique_ptr<ForecastBackbone> make_forecast_backbone(const ForecasterSpec& spec);

/// The next H rows from the last L: instance normalisation around a backbone that sees one variate
/// at a time, in units of the training data.
class Forecaster : public Module {
 public:
  explicit Forecaster(const ForecasterSpec& spec);
  /// Between data and what forward() and loss() take.
  Standardize& standardize() { return standardize_; }
  /// Set it from the training data before the first step; null where no times are seen.
  TimeScale* time_scale() { return backbone_->time_scale(); }
  /// `times` (B, L + H) of all rows, ascending, where the backbone sees them. (B, V, L) -> (B, V,
  /// H)
  Var forward(Tape& tape, const Var& past, const Times& times = {});
  /// Mean over windows, variates and rows. (B, V, H), (B, V, H) -> ()
  Var loss(const Var& forecast, const Tensor& future) const;
  void visit(Visitor& visitor) override;

 private:
  ForecasterSpec spec_;
  Standardize standardize_;
  InstanceNorm norm_;
  std::unique_ptr<ForecastBackbone> backbone_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
