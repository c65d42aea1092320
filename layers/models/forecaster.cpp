#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/encodings/positions.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/layers/models/quantile_start.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::size_t window_outputs(const ForecasterSpec& spec) { return spec.horizon * spec.outputs(); }

/// Linear map from the window to the future, shared by all variates or one per variate.
class WindowMap : public Module {
 public:
  explicit WindowMap(const ForecasterSpec& spec)
      : per_variate_(spec.per_variate),
        weight_(zeros(per_variate_ ? Shape{spec.variates, window_outputs(spec), spec.lookback}
                                   : Shape{spec.lookback, window_outputs(spec)}),
                Initial::uniform(1 / std::sqrt(double(spec.lookback)))),
        bias_(zeros(per_variate_ ? Shape{spec.variates, window_outputs(spec)}
                                 : Shape{window_outputs(spec)}),
              Initial::uniform(1 / std::sqrt(double(spec.lookback)))) {}
  /// Maps windows. (B, V, L) -> (B, V, H Q)
  Var forward(Tape& tape, const Var& x) {
    if (per_variate_) return project_heads(x, tape(weight_)) + tape(bias_);
    return affine(x, tape(weight_), tape(bias_));
  }
  void visit(Visitor& visitor) override {
    visitor("weight", weight_);
    visitor("bias", bias_);
  }

 private:
  bool per_variate_;
  Parameter weight_, bias_;
};

/// Returns A such that x A averages `width` rows around each, with ends repeated. (L, L)
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

/// One linear map, or one for the trend and one for the remainder (NLinear and DLinear): Zeng et
/// al., "Are Transformers effective for time series forecasting?", 2023.
class LinearForecast : public ForecastBackbone {
 public:
  explicit LinearForecast(const ForecasterSpec& spec) : remainder_(spec) {
    if (spec.moving_average == 0) return;
    trend_ = std::make_unique<WindowMap>(spec);
    averages_ = averaging_matrix(spec.lookback, spec.moving_average);
  }
  Var forward(Tape& tape, const Var& x, const Times&, const Var&) override {
    if (!trend_) return remainder_.forward(tape, x);
    const Var average = matmul(x, tape.view(averages_));
    return trend_->forward(tape, average) + remainder_.forward(tape, x - average);
  }
  std::vector<Module*> last_maps() override {
    return trend_ ? std::vector<Module*>{&remainder_, trend_.get()}
                  : std::vector<Module*>{&remainder_};
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

/// Patches of a window as tokens, blocks, one linear map of all tokens: Nie et al., "A time series
/// is worth 64 words" (PatchTST), 2023, with any mixers.
class AttentionForecast : public ForecastBackbone {
 public:
  explicit AttentionForecast(const ForecasterSpec& spec)
      : patch_(spec.patch),
        width_(spec.stack.block.width),
        embedding_(spec.patch.length, spec.stack.block.width),
        positions_(make_positions(spec.stack.positions, spec.patches(), spec.stack.block.width)),
        dropout_(spec.stack.block.dropout),
        stack_(in_both_directions(spec.stack)),
        head_dropout_(spec.head_dropout),
        head_(spec.patches() * spec.stack.block.width, window_outputs(spec)) {}

  Var forward(Tape& tape, const Var& x, const Times&, const Var&) override {
    const std::size_t B = x.dim(0), V = x.dim(1);
    const Var cut = patches(x, patch_.length, patch_.stride);  // (B, V, N, P)
    const std::size_t N = cut.dim(2), D = width_;
    Var tokens = embedding_.forward(tape, cut, {B * V, N, D});
    if (positions_) tokens = positions_->forward(tape, tokens, 0);
    tokens = stack_.forward(tape, dropout_.forward(tape, tokens));
    return head_.forward(tape, head_dropout_.forward(tape, reshape(tokens, {B, V, N * D})));
  }
  std::vector<Module*> last_maps() override { return {&head_}; }
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

/// Repeats each row n times. (B, T) -> (B n, T)
Times repeat_rows(const Times& times, std::size_t n) {
  const std::size_t B = times.shape()[0], T = times.shape()[1];
  Times repeated(std::vector<std::size_t>{B * n, T});
  for (std::size_t row = 0; row < B * n; ++row)
    std::copy_n(times.data() + row / n * T, T, repeated.data() + row * T);
  return repeated;
}

/// Repeats each window V times. (B, T, D) -> (B V, T, D)
Var repeat_for_variates(const Var& x, std::size_t V) {
  const std::size_t B = x.dim(0), T = x.dim(1), D = x.dim(2);
  return reshape(broadcast_to(reshape(x, {B, 1, T, D}), {B, V, T, D}), {B * V, T, D});
}

/// Rows as tokens at their times, with causal attention; forecasts are read from the outputs of
/// future rows. A token is a vector for past or future, plus its value times a vector, plus a
/// linear map of the row's context.
class RowForecast : public ForecastBackbone {
 public:
  explicit RowForecast(const ForecasterSpec& spec)
      : horizon_(spec.horizon),
        value_({1, spec.stack.block.width}, Initial::normal(1)),
        kind_({2, 1, spec.stack.block.width}, Initial::normal(1)),
        context_({spec.context(), spec.stack.block.width},
                 Initial::normal(1 / std::sqrt(std::max(1.0, double(spec.context()))))),
        time_(spec.time, spec.stack.block.width),
        positions_(make_positions(spec.stack.positions, spec.lookback + spec.horizon,
                                  spec.stack.block.width)),
        dropout_(spec.stack.block.dropout),
        stack_(causal_stack(spec.stack, spec.time, "forecaster")),
        regular_(spec.regular),
        head_(spec.stack.block.width, spec.outputs()) {}

  TimeScale* time_scale() override { return &scale_; }

  Var forward(Tape& tape, const Var& x, const Times& times, const Var& context) override {
    const std::size_t B = x.dim(0), V = x.dim(1), L = x.dim(2), H = horizon_;
    require(times.dimension() == 2 && times.shape()[0] == B && times.shape()[1] == L + H,
            "forecaster", "times must be (", B, ", ", L + H, ") for past and future rows");
    const Times scaled = repeat_rows(scale_.scaled(times), V);
    const Var kind = tape(kind_), value = tape(value_);
    const Var seen = reshape(x, {B * V, L, 1}) * value + slice(kind, 0, 0, 1);
    const Var future = broadcast_to(slice(kind, 0, 1, 2), {B * V, H, seen.dim(2)});
    Var rows = concat({seen, future}, 1);
    if (context.exists()) rows = rows + repeat_for_variates(matmul(context, tape(context_)), V);
    Var tokens = time_.forward(tape, rows, scaled);
    if (positions_) tokens = positions_->forward(tape, tokens, 0);
    const Layout layout = regular_ ? Layout{.times = scaled} : layout_of(scaled);
    tokens = stack_.forward(tape, dropout_.forward(tape, tokens), layout);
    const Var outputs = head_.forward(tape, slice(tokens, 1, L, L + H));
    return reshape(outputs, {B, V, H * outputs.dim(2)});
  }
  std::vector<Module*> last_maps() override { return {&head_}; }
  void visit(Visitor& visitor) override {
    visitor("time_scale", scale_);
    visitor("value", value_);
    visitor("kind", kind_);
    if (context_.value().size() > 0) visitor("context", context_);
    time_.visit(visitor);
    if (positions_) visitor("positions", *positions_);
    stack_.visit(visitor);
    visitor("head", head_);
  }

 private:
  std::size_t horizon_;
  TimeScale scale_;
  Parameter value_, kind_;  // (1, D), (past or future, 1, D)
  Parameter context_;       // (C, D)
  TimeInput time_;
  std::unique_ptr<PositionEncoding> positions_;
  Dropout dropout_;
  BlockStack stack_;
  bool regular_;
  Linear head_;
};

real mean_of_column(const Tensor& x, std::size_t column) {
  double sum = 0;
  for (std::size_t row = 0; row < x.shape()[0]; ++row) sum += double(x(row, column));
  return real(sum / double(x.shape()[0]));
}

/// Sets the outputs of a linear map to constants (H, Q), except the middle one of each Q; a map
/// with Q outputs takes their means over H.
void start_spreads(Module& map, const Tensor& outputs, std::size_t middle) {
  const std::vector<NamedParameter> parameters = parameters_of(map);
  Tensor &weight = parameters[0].parameter->value(), &bias = parameters[1].parameter->value();
  const std::size_t Q = outputs.shape()[1], n = bias.shape().back();
  const std::size_t inner = weight.dimension() == 3 ? weight.shape()[2] : 1;  // (V, n, L), (L, n)
  for (std::size_t i = 0; i < weight.size(); ++i)
    if (i / inner % Q != middle) weight.data()[i] = 0;
  for (std::size_t i = 0; i < bias.size(); ++i) {
    const std::size_t q = i % Q;
    if (q == middle) continue;
    bias.data()[i] = n == Q ? mean_of_column(outputs, q) : outputs.data()[i % n];
  }
}

}  // namespace

std::unique_ptr<ForecastBackbone> make_forecast_backbone(const ForecasterSpec& spec) {
  if (spec.backbone == "linear") return std::make_unique<LinearForecast>(spec);
  if (spec.backbone == "rows") return std::make_unique<RowForecast>(spec);
  require(spec.patch.length >= 1 && spec.patch.length <= spec.lookback && spec.patch.stride >= 1,
          "forecaster", "no patches of length ", spec.patch.length, " and stride ",
          spec.patch.stride, " in ", spec.lookback, " rows");
  return std::make_unique<AttentionForecast>(spec);
}

Forecaster::Forecaster(const ForecasterSpec& spec)
    : spec_(checked("forecaster", spec)),
      standardize_(spec.variates, spec.series),
      series_({spec.series, spec.series_width}, Initial::normal(1)),
      norm_(spec.instance_norm, spec.variates),
      backbone_(make_forecast_backbone(spec)) {
  if (!spec.predicts_quantiles()) loss_ = make_value_loss(spec.loss);
  require(!spec.predicts_quantiles() || !spec.instance_norm.affine, "forecaster",
          "loss = \"quantile\" requires instance_norm.affine = false: a negative gain reverses "
          "quantiles");
  if (spec.covariates > 0) covariate_unit_ = std::make_unique<Standardize>(spec.covariates);
  if (spec.context() > 0)
    effects_ = std::make_unique<RowEffects>(spec.context(), spec.effects, spec.variates);
}

Var Forecaster::context_of(Tape& tape, const RowFacts& facts, std::size_t B) {
  const std::size_t T = spec_.lookback + spec_.horizon;
  std::vector<Var> parts;
  if (covariate_unit_) {
    require(facts.covariates.shape() == Shape({B, spec_.covariates, T}), "forecaster",
            "covariates must be (", B, ", ", spec_.covariates, ", ", T,
            ") for past and future rows");
    Tensor covariates = facts.covariates;
    covariate_unit_->apply(covariates);
    parts.push_back(transpose(tape.constant(covariates), {0, 2, 1}));
  }
  if (spec_.series_width > 0) {
    require(facts.series.size() == B, "forecaster", "series of the windows are missing");
    Indices which{{B, 1}, {facts.series.begin(), facts.series.end()}};
    parts.push_back(broadcast_to(gather(tape(series_), which), {B, T, spec_.series_width}));
  }
  return parts.empty() ? Var() : parts.size() == 1 ? parts[0] : concat(parts, -1);
}

Var Forecaster::forward(Tape& tape, const Var& past, const RowFacts& facts) {
  require(past.rank() == 3 && past.dim(1) == spec_.variates && past.dim(2) == spec_.lookback,
          "forecaster", "the past must be (B, ", spec_.variates, ", ", spec_.lookback, "), not ",
          past.shape());
  const std::size_t B = past.dim(0), V = spec_.variates, L = spec_.lookback, H = spec_.horizon,
                    Q = spec_.outputs();
  const InstanceNorm::Statistics statistics = norm_.statistics_of(past);
  const Var context = context_of(tape, facts, B);
  const Var effects = effects_ ? effects_->forward(tape, context) : Var();
  Var x = norm_.apply(tape, past, statistics);
  if (effects_) x = x - slice(effects, -1, 0, L);
  Var y = backbone_->forward(tape, x, facts.times, context);
  if (spec_.predicts_quantiles())
    y = ascending(reshape(y, {B, V, H, Q}), median_index(spec_.quantiles));
  if (effects_) y = reshape(y, {B, V, H, Q}) + reshape(slice(effects, -1, L, L + H), {B, V, H, 1});
  if (effects_ || spec_.predicts_quantiles()) y = reshape(y, {B, V, H * Q});
  y = norm_.undo(tape, y, statistics);
  return spec_.predicts_quantiles() ? reshape(y, {B, V, H, Q}) : y;
}

void Forecaster::start_quantiles(const Tensor& past, const Tensor& future) {
  Tape tape({.recording = false});
  const InstanceNorm::Statistics statistics = norm_.statistics_of(tape.view(past));
  const auto rows = [&](const Tensor& x) {
    const Shape shape = {x.shape()[0] * x.shape()[1], x.shape()[2]};
    return reshape(norm_.apply(tape, tape.view(x), statistics), shape).value();
  };
  const std::size_t middle = median_index(spec_.quantiles);
  Tensor outputs = spreads_of(ridge_residuals(rows(past), rows(future)), spec_.quantiles, middle);
  for (Module* map : backbone_->last_maps()) {
    start_spreads(*map, outputs, middle);
    outputs.fill(0);
  }
}

Var Forecaster::loss(const Var& forecast, const Tensor& future) const {
  return loss_ ? mean_loss(*loss_, forecast, future) : pinball(forecast, future, spec_.quantiles);
}

void Forecaster::visit(Visitor& visitor) {
  visitor("standardize", standardize_);
  if (covariate_unit_) visitor("covariate_unit", *covariate_unit_);
  if (spec_.series_width > 0) visitor("series", series_);
  if (effects_) visitor("effects", *effects_);
  visitor("instance_norm", norm_);
  visitor("backbone", *backbone_);
}

RowEffects::RowEffects(std::size_t covariates, std::size_t hidden, std::size_t variates)
    : up_(hidden > 0 ? std::make_unique<Linear>(covariates, hidden) : nullptr),
      down_({hidden > 0 ? hidden : covariates, variates}) {}

Var RowEffects::forward(Tape& tape, const Var& covariates) {
  const Var inner = up_ ? up_->forward_gelu(tape, covariates) : covariates;
  return transpose(matmul(inner, tape(down_)), {0, 2, 1});
}

Var ascending(const Var& x, std::size_t middle) {
  const std::size_t Q = x.dim(-1);
  require(middle < Q, "ascending", "index ", middle, " is out of range for ", Q);
  std::vector<Var> columns;
  for (std::size_t q = 0; q < Q; ++q) columns.push_back(slice(x, -1, q, q + 1));
  for (std::size_t q = middle + 1; q < Q; ++q) columns[q] = columns[q - 1] + softplus(columns[q]);
  for (std::size_t q = middle; q-- > 0;) columns[q] = columns[q + 1] - softplus(columns[q]);
  return concat(columns, -1);
}

std::size_t median_index(const std::vector<double>& levels) {
  const auto distance = [](double level) { return std::abs(level - 0.5); };
  return std::size_t(std::ranges::min_element(levels, {}, distance) - levels.begin());
}

}  // namespace bochner::inline BOCHNER_PRECISION
