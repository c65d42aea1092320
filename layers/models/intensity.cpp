#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/models/intensity.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr int wave_shape = 4;

std::vector<double> delays_of(const IntensitySpec& spec) {
  require(spec.types >= 1 && spec.shortest > 0 && spec.longest >= spec.shortest, "intensity",
          "needs a type, and delays 0 < shortest <= longest: shortest = ", spec.shortest,
          ", longest = ", spec.longest);
  std::vector<double> delays;
  for (std::size_t i = 0; i < spec.delays; ++i) {
    const double part = spec.delays > 1 ? double(i) / double(spec.delays - 1) : 0;
    delays.push_back(spec.shortest * std::pow(spec.longest / spec.shortest, part));
  }
  return delays;
}

/// (1, decay, wave, decay, wave, ..) of each delay, or the integrals from 0 to s.
void fill_basis(const std::vector<double>& delays, double s, bool integrated, real* out) {
  *out++ = real(integrated ? s : 1);
  for (const double delay : delays) {
    const double decay = std::exp(-s / delay), x = wave_shape * s / delay;
    double term = std::exp(-x), survival = 0;  // x^j / j! e^-x, and their sum
    for (int j = 0; j < wave_shape; ++j) {
      survival += term;
      if (j + 1 < wave_shape) term *= x / (j + 1);
    }
    *out++ = real(integrated ? delay * (1 - decay) : decay);
    *out++ = real(integrated ? delay * (1 - survival) : wave_shape * term);
  }
}

}  // namespace

Intensity::Intensity(const IntensitySpec& spec)
    : types_(spec.types),
      delays_(delays_of(spec)),
      linear_(spec.width, spec.types * (1 + 2 * spec.delays)) {}

Var Intensity::weights(Tape& tape, const Var& x) {
  const std::size_t P = 1 + 2 * delays_.size();
  const Var y = linear_.forward(tape, x, {x.dim(0), x.dim(1), types_, P});
  return softplus(y) / double(P);
}

Tensor Intensity::basis(const Times& s, bool integrated) const {
  const std::size_t P = 1 + 2 * delays_.size();
  Shape shape(s.shape().begin(), s.shape().end());
  shape.insert(shape.end(), {1, P});
  Tensor basis = uninitialized(shape);
  for (std::size_t i = 0; i < s.size(); ++i)
    fill_basis(delays_, s.data()[i], integrated, basis.data() + i * P);
  return basis;
}

Var Intensity::log_intensity(const Var& weights, const Times& s) const {
  return log(sum(weights * Var(basis(s, false)), -1));
}

Var Intensity::compensator(const Var& weights, const Times& s) const {
  return sum(weights * Var(basis(s, true)), {-2, -1});
}

}  // namespace bochner::inline BOCHNER_PRECISION
