#include <algorithm>
#include <bochner/optim/adam.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {

void Adam::update(const Piece& piece, double learning_rate, double weight_decay) {
  const double t = updates(piece), beta1 = spec_.beta1, beta2 = spec_.beta2;
  const bool decoupled = spec_.kind != "adam";
  const real rate = real(learning_rate / (1 - std::pow(beta1, t)));
  const real root_correction = real(1 / std::sqrt(1 - std::pow(beta2, t)));
  const real share1 = real(1 - beta1), kept2 = real(beta2), share2 = real(1 - beta2);
  const real epsilon = std::max(real(spec_.epsilon), std::numeric_limits<real>::min());
  const real penalty = real(decoupled ? 0 : weight_decay);
  // Subtracted with the rest: float would round away a factor 1 - lr * decay.
  const real shrink = real(decoupled ? learning_rate * weight_decay : 0);
  const bool cautious = is_cautious();
  real* __restrict weight = piece.weight;
  const real* __restrict gradient = piece.gradient;
  const real* __restrict root = piece.root;
  real* __restrict first = moment(0, piece);
  real* __restrict second = moment(1, piece);
  for (std::size_t i = 0; i < piece.size; ++i) {
    const real g = gradient[i] + penalty * weight[i], r = root[i] + penalty * weight[i];
    first[i] += share1 * (g - first[i]);
    second[i] = kept2 * second[i] + share2 * (r * r);
    const real scale = std::sqrt(second[i]) * root_correction + epsilon;
    weight[i] -= rate * first[i] / scale + decay_of(cautious, shrink, first[i], weight[i]);
  }
}
namespace {

const OptimizerSpec& checked_natural(const OptimizerSpec& spec) {
  require(spec.temperature > 0, "natural", "temperature = 0: must be above 0");
  require(!spec.density_natural, "optim",
          "density_natural = true is for other kinds than natural, which has steps of its own");
  return spec;
}

/// adamw, with steps of Gaussians in place of the updates of densities.
class Natural : public Adam {
 public:
  explicit Natural(const OptimizerSpec& spec) : Adam(checked_natural(spec)) {}
};

}  // namespace

void add_adam(Optimizers& all) {
  all.add("adamw", make<Adam>);
  all.add("adam", make<Adam>);
  all.add("natural", make<Natural>);
}

}  // namespace bochner::inline BOCHNER_PRECISION
