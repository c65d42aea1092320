#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/exponents.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

Var softmax_scaled(const Var& x) { return x * std::pow(double(x.dim(-1)), -0.25); }

Var exponents(const Var& x, const Var& w, double c, const Var& offset) {
  return exponential(x, w, c, offset).values();
}

Features exponential(const Var& x, const Var& w, double c, const Var& offset) {
  const double scale = std::pow(double(x.dim(-1)), -0.25);
  Features features = exponential_features(x, scale * w, real(c * scale * scale), offset);
  features.log_factor = real(-std::log(double(w.dim(1))) / 2);
  return features;
}

}  // namespace bochner::inline BOCHNER_PRECISION
