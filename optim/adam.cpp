#include <bochner/optim/adam.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

Adam::Adam(const std::vector<NamedParameter>& parameters, std::vector<ParameterSettings> settings,
           WeightDecay decay, double beta1, double beta2, double epsilon)
    : Optimizer(decay == WeightDecay::decoupled ? "adamw" : "adam", parameters, std::move(settings),
                {"first_moment", "second_moment"}),
      decay_(decay),
      beta1_(beta1),
      beta2_(beta2),
      epsilon_(epsilon) {
  require(beta1 >= 0 && beta1 < 1, "adam", "beta1 = ", beta1, ": must be in [0, 1)");
  require(beta2 >= 0 && beta2 < 1, "adam", "beta2 = ", beta2, ": must be in [0, 1)");
  require(epsilon > 0 && std::isfinite(epsilon), "adam", "epsilon = ", epsilon,
          ": must be finite and above 0");
}

void Adam::update(const Piece& piece, double learning_rate, double weight_decay) {
  const double t = updates(piece);
  const real rate = real(learning_rate / (1 - std::pow(beta1_, t)));
  const real root_correction = real(1 / std::sqrt(1 - std::pow(beta2_, t)));
  const real share1 = real(1 - beta1_), beta2 = real(beta2_), share2 = real(1 - beta2_);
  const real epsilon = real(epsilon_);
  const bool decoupled = decay_ == WeightDecay::decoupled;
  const real penalty = real(decoupled ? 0 : weight_decay);
  // Subtracted with the rest: 1 - lr * decay as a factor would be rounded away in float.
  const real shrink = real(decoupled ? learning_rate * weight_decay : 0);
  real* __restrict weight = piece.weight;
  const real* __restrict gradient = piece.gradient;
  real* __restrict first = moment(0, piece);
  real* __restrict second = moment(1, piece);
  for (std::size_t i = 0; i < piece.size; ++i) {
    const real g = gradient[i] + penalty * weight[i];
    first[i] += share1 * (g - first[i]);
    second[i] = beta2 * second[i] + share2 * (g * g);
    const real scale = std::sqrt(second[i]) * root_correction + epsilon;
    weight[i] -= rate * first[i] / scale + shrink * weight[i];
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
