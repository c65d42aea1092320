#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/features/frequencies.hpp>

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
  require(spec.spread >= 0, "features", "spread = ", spec.spread, ": must be at least 0");
  if (spec.spread == 0) return;
  Tensor spread = zeros({H, 1, 1});
  for (std::size_t h = 0; h < H && H > 1; ++h)
    spread.data()[h] = real(spec.spread * (2 * double(h) / double(H - 1) - 1));
  log_head_scale_.assign(std::move(spread));
}

Var Frequencies::draws(Tape& tape) {
  const Var w = density_ ? density_->draws(tape) : projection_->rows(tape) * exp(tape(log_scale_));
  return log_head_scale_.value().size() > 0 ? w * exp(tape(log_head_scale_)) : w;
}

void Frequencies::visit(Visitor& visitor) {
  if (density_) {
    visitor("density", *density_);
  } else {
    visitor("projection", *projection_);
    visitor("log_scale", log_scale_);
  }
  if (log_head_scale_.value().size() > 0) visitor("log_head_scale", log_head_scale_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
