#pragma once
#include <bochner/layers/basic/instance_norm.hpp>
#include <bochner/layers/basic/standardize.hpp>
#include <bochner/layers/models/block_stack.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct PatchSpec {
  std::size_t length = 16, stride = 8;
};

struct ForecasterSpec {
  std::size_t variates = 1, lookback = 336, horizon = 96;
  std::string backbone = "linear";  ///< "linear" or "attention"
  std::string loss = "mse";         ///< "mse", "mae" or "huber"
  InstanceNormSpec instance_norm;
  // linear
  bool per_variate = false;        ///< weights of its own for each variate
  std::size_t moving_average = 0;  ///< a map of its own for the mean over so many rows; 0 for none
  // attention
  PatchSpec patch;
  std::string positions = "learned";
  StackSpec stack;  ///< its mixers look in both directions
  double head_dropout = 0;

  /// Tokens of a window.
  std::size_t patches() const { return (lookback - patch.length) / patch.stride + 1; }
};

/// From a normalised window of each variate to what follows it. (B, V, L) -> (B, V, H)
class ForecastBackbone : public Module {
 public:
  virtual Var forward(Tape& tape, const Var& x) = 0;
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
  /// (B, V, L) -> (B, V, H)
  Var forward(Tape& tape, const Var& past);
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
