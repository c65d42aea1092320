#include <bochner/optim/sgd.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Sgd::Sgd(const std::vector<NamedParameter>& parameters, std::vector<ParameterSettings> settings,
         double momentum, bool nesterov)
    : Optimizer("sgd", parameters, std::move(settings),
                momentum > 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{}),
      momentum_(momentum),
      nesterov_(nesterov) {
  require(momentum >= 0 && momentum < 1, "sgd", "momentum = ", momentum, ": must be in [0, 1)");
  require(!nesterov || momentum > 0, "sgd", "nesterov = true needs a momentum above 0");
}

void Sgd::update(const Piece& piece, double learning_rate, double weight_decay) {
  const real rate = real(learning_rate), decay = real(weight_decay), momentum = real(momentum_);
  real* __restrict weight = piece.weight;
  const real* __restrict gradient = piece.gradient;
  if (momentum_ == 0) {
    for (std::size_t i = 0; i < piece.size; ++i)
      weight[i] -= rate * (gradient[i] + decay * weight[i]);
    return;
  }
  real* __restrict velocity = moment(0, piece);
  // Nesterov's direction is g' + momentum v, the plain one 0 g' + 1 v.
  const real fresh = real(nesterov_ ? 1 : 0), carried = nesterov_ ? momentum : real(1);
  for (std::size_t i = 0; i < piece.size; ++i) {
    const real g = gradient[i] + decay * weight[i];
    velocity[i] = momentum * velocity[i] + g;
    weight[i] -= rate * (fresh * g + carried * velocity[i]);
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
