#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/basic/dropout.hpp>
#include <bochner/layers/basic/linear.hpp>
#include <bochner/layers/encodings/positions.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// From the window to the future, by one linear map for all variates or one for each.
class WindowMap : public Module {
 public:
  explicit WindowMap(const ForecasterSpec& spec)
      : per_variate_(spec.per_variate),
        weight_(initial_weight(spec), Initial::uniform(1 / std::sqrt(double(spec.lookback)))),
        bias_(initial_bias(spec), Initial::uniform(1 / std::sqrt(double(spec.lookback)))) {}
  /// (B, V, L) -> (B, V, H)
  Var forward(Tape& tape, const Var& x) {
    if (per_variate_) return project_heads(x, tape(weight_)) + tape(bias_);
    return affine(x, tape(weight_), tape(bias_));
  }
  void visit(Visitor& visitor) override {
    visitor("weight", weight_);
    visitor("bias", bias_);
  }

 private:
  static Tensor initial_weight(const ForecasterSpec& spec) {
    if (spec.per_variate) return zeros({spec.variates, spec.horizon, spec.lookback});
    return zeros({spec.lookback, spec.horizon});
  }
  static Tensor initial_bias(const ForecasterSpec& spec) {
    if (spec.per_variate) return zeros({spec.variates, spec.horizon});
    return zeros({spec.horizon});
  }
  bool per_variate_;
  Parameter weight_, bias_;
};

/// x A is the mean over `width` rows around each, the ends repeated beyond the window. (L, L)
Tensor averaging_matrix(std::size_t L, std::size_t width) {
  Tensor matrix = zeros({L, L});
  const auto before = std::ptrdiff_t((width - 1) / 2);
  for (std::size_t t = 0; t < L; ++t) {
    for (std::size_t i = 0; i < width; ++i) {
      const std::ptrdiff_t row = std::ptrdiff_t(t + i) - before;
      matrix(std::clamp<std::ptrdiff_t>(row, 0, std::ptrdiff_t(L) - 1), t) += real(1) / real(width);
    }
  }
  return matrix;
}

/// One linear map, or one for the trend and one for the remainder: Zeng et al., "Are Transformers
/// effective for time series forecasting?", 2023 (NLinear and DLinear).
class LinearForecast : public ForecastBackbone {
 public:
  explicit LinearForecast(const ForecasterSpec& spec) : remainder_(spec) {
    if (spec.moving_average == 0) return;
    trend_ = std::make_unique<WindowMap>(spec);
    averages_ = averaging_matrix(spec.lookback, spec.moving_average);
  }
  Var forward(Tape& tape, const Var& x) override {
    if (!trend_) return remainder_.forward(tape, x);
    const Var average = matmul(x, tape.view(averages_));
    return trend_->forward(tape, average) + remainder_.forward(tape, x - average);
  }
  void visit(Visitor& visitor) override {
    if (trend_) visitor("trend", *trend_);
    visitor(trend_ ? "remainder" : "window", remainder_);
  }

 private:
  WindowMap remainder_;
  std::unique_ptr<WindowMap> trend_;
  Tensor averages_;
};

StackSpec in_both_directions(const ForecasterSpec& spec) {
  StackSpec stack = spec.stack;
  stack.block.mixer.causal = false;
  return stack;
}

/// Patches of a window as tokens, blocks, one linear map of all tokens: Nie et al., "A time series
/// is worth 64 words" (PatchTST), 2023, with mixers of any kind.
class AttentionForecast : public ForecastBackbone {
 public:
  explicit AttentionForecast(const ForecasterSpec& spec)
      : patch_(spec.patch),
        width_(spec.stack.block.width),
        embedding_(spec.patch.length, spec.stack.block.width),
        positions_(make_positions(spec.stack.positions, spec.patches(), spec.stack.block.width)),
        dropout_(spec.stack.block.dropout),
        stack_(in_both_directions(spec)),
        head_dropout_(spec.head_dropout),
        head_(spec.patches() * spec.stack.block.width, spec.horizon) {}

  Var forward(Tape& tape, const Var& x) override {
    const std::size_t B = x.dim(0), V = x.dim(1);
    const Var cut = patches(x, patch_.length, patch_.stride);  // (B, V, N, P)
    const std::size_t N = cut.dim(2), D = width_;
    Var tokens = embedding_.forward(tape, cut, {B * V, N, D});
    if (positions_) tokens = positions_->forward(tape, tokens, 0);
    tokens = stack_.forward(tape, dropout_.forward(tape, tokens));
    return head_.forward(tape, head_dropout_.forward(tape, reshape(tokens, {B, V, N * D})));
  }
  void visit(Visitor& visitor) override {
    visitor("embedding", embedding_);
    if (positions_) visitor("positions", *positions_);
    stack_.visit(visitor);
    visitor("head", head_);
  }

 private:
  PatchSpec patch_;
  std::size_t width_;
  Linear embedding_;
  std::unique_ptr<PositionEncoding> positions_;
  Dropout dropout_;
  BlockStack stack_;
  Dropout head_dropout_;
  Linear head_;
};

}  // namespace

std::unique_ptr<ForecastBackbone> make_forecast_backbone(const ForecasterSpec& spec) {
  if (spec.backbone == "linear") return std::make_unique<LinearForecast>(spec);
  require(spec.backbone == "attention", "forecaster", "no backbone is called \"", spec.backbone,
          "\"; there are: linear, attention");
  require(spec.patch.length >= 1 && spec.patch.length <= spec.lookback && spec.patch.stride >= 1,
          "forecaster", "no patches of length ", spec.patch.length, " and stride ",
          spec.patch.stride, " in ", spec.lookback, " rows");
  return std::make_unique<AttentionForecast>(spec);
}

}  // namespace bochner::inline BOCHNER_PRECISION
