#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

Frequencies::Frequencies(const FeatureSpec& spec)
    : log_scale_(zeros({0})), log_head_scale_(zeros({0})) {
  const std::size_t H = spec.heads;
  if (spec.projection == "density") {
    density_ = make_density(spec.density);
  } else {
    projection_ = projections().make(spec.projection, {H, spec.m, spec.dim, spec.density.seed});
    log_scale_.assign(filled({H, 1, spec.dim}, real(spec.density.log_scale)));
  }
  if (spec.weights == "importance") {
    require(density_ != nullptr, spec.kind.c_str(),
            "weights = \"importance\" requires projection = \"density\", not \"", spec.projection,
            "\"");
    proposal_ = std::make_unique<Proposal>(spec.density);
  }
  if (spec.spread == 0) return;
  Tensor spread = zeros({H, 1, 1});
  for (std::size_t h = 0; h < H && H > 1; ++h)
    spread.data()[h] = real(spec.spread * (2 * double(h) / double(H - 1) - 1));
  log_head_scale_.assign(std::move(spread));
}

Var Frequencies::new_draws(Tape& tape) {
  const Var w = proposal_  ? tape.constant(proposal_->draws(tape))
                : density_ ? density_->draws(tape)
                           : projection_->rows(tape) * exp(tape(log_scale_));
  return log_head_scale_.value().size() > 0 ? w * exp(tape(log_head_scale_)) : w;
}

Var Frequencies::log_ratio(Tape& tape) {
  require(proposal_ != nullptr, "frequencies", "log_ratio() requires a proposal");
  return proposal_->log_ratio(tape, *density_);
}

void Frequencies::visit(Visitor& visitor) {
  if (density_) {
    visitor("density", *density_);
    if (proposal_) visitor("proposal", *proposal_);
  } else {
    visitor("projection", *projection_);
    visitor("log_scale", log_scale_);
  }
  if (log_head_scale_.value().size() > 0) visitor("log_head_scale", log_head_scale_);
}

Var softmax_scaled(const Var& x) { return x * std::pow(double(x.dim(-1)), -0.25); }

std::vector<double> sample_of(const Tensor& samples, std::size_t row, std::size_t head) {
  const std::size_t H = samples.shape()[1], d = samples.shape()[2];
  const real* first = samples.data() + (row * H + head) * d;
  return {first, first + d};
}

std::vector<double> scaled_samples(const Tensor& samples, std::size_t head, std::size_t d) {
  require(samples.dimension() == 3 && samples.shape()[0] > 0 && samples.shape()[1] > head &&
              samples.shape()[2] == d,
          "calibrate", "samples must be (n, H, ", d, "), n > 0, not ", samples.shape());
  const std::size_t stride = samples.shape()[1] * d;
  const double scale = std::pow(double(d), -0.25);
  std::vector<double> points(samples.shape()[0] * d);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] = scale * double(samples.data()[i / d * stride + head * d + i % d]);
  return points;
}

Var exponents(const Var& x, const Var& w, double c, const Var& offset) {
  return exponential(x, w, c, offset).values();
}

Features exponential(const Var& x, const Var& w, double c, const Var& offset) {
  const double scale = std::pow(double(x.dim(-1)), -0.25);
  Features features = exponential_features(x, w, real(c * scale * scale), offset, real(scale));
  features.log_factor = real(-std::log(double(w.dim(1))) / 2);
  return features;
}

}  // namespace bochner::inline BOCHNER_PRECISION
