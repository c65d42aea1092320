#include <bochner/optim/optimizer.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// g' = g + decay w;  v = momentum v + g';  w -= lr v, or lr (g' + momentum v) with Nesterov's
/// look-ahead. No dampening, as in Sutskever, Martens, Dahl, Hinton (2013) and PyTorch.
class Sgd : public Optimizer {
 public:
  Sgd(const OptimizerSpec& spec, const std::vector<NamedParameter>& parameters,
      std::vector<ParameterSettings> settings)
      : Optimizer(spec.kind, parameters, std::move(settings),
                  std::vector<std::string>(spec.momentum > 0 ? 1 : 0, "momentum")),
        momentum_(spec.momentum),
        nesterov_(spec.nesterov) {
    require(momentum_ >= 0 && momentum_ < 1, "sgd", "momentum = ", momentum_,
            ": must be in [0, 1)");
    require(!nesterov_ || momentum_ > 0, "sgd", "nesterov = true needs a momentum above 0");
  }

 private:
  void update(const Piece& piece, double learning_rate, double weight_decay) override {
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

  double momentum_;
  bool nesterov_;
};

/// m = mean of g, v = mean of g^2, both corrected for their start at 0 by the number t of updates;
/// w -= lr * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon).
/// Kingma, Ba (2015), whose decay goes through the moments ("adam"); w -= lr * decay * w beside
/// them: Loshchilov, Hutter (2019) ("adamw").
class Adam : public Optimizer {
 public:
  Adam(const OptimizerSpec& spec, const std::vector<NamedParameter>& parameters,
       std::vector<ParameterSettings> settings)
      : Optimizer(spec.kind, parameters, std::move(settings), {"first_moment", "second_moment"}),
        decoupled_(spec.kind == "adamw"),
        beta1_(spec.beta1),
        beta2_(spec.beta2),
        epsilon_(spec.epsilon) {
    require(beta1_ >= 0 && beta1_ < 1, "adam", "beta1 = ", beta1_, ": must be in [0, 1)");
    require(beta2_ >= 0 && beta2_ < 1, "adam", "beta2 = ", beta2_, ": must be in [0, 1)");
    require(epsilon_ > 0 && std::isfinite(epsilon_), "adam", "epsilon = ", epsilon_,
            ": must be finite and above 0");
  }

 private:
  void update(const Piece& piece, double learning_rate, double weight_decay) override {
    const double t = updates(piece);
    const real rate = real(learning_rate / (1 - std::pow(beta1_, t)));
    const real root_correction = real(1 / std::sqrt(1 - std::pow(beta2_, t)));
    const real share1 = real(1 - beta1_), beta2 = real(beta2_), share2 = real(1 - beta2_);
    const real epsilon = real(epsilon_);
    const real penalty = real(decoupled_ ? 0 : weight_decay);
    // Subtracted with the rest: 1 - lr * decay as a factor would be rounded away in float.
    const real shrink = real(decoupled_ ? learning_rate * weight_decay : 0);
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

  bool decoupled_;
  double beta1_, beta2_, epsilon_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec,
                                          const std::vector<NamedParameter>& parameters) {
  require(std::isfinite(spec.weight_decay) && spec.weight_decay >= 0, "optim",
          "weight_decay = ", spec.weight_decay, ": must be finite and at least 0");
  std::vector<ParameterSettings> settings =
      resolve_groups(parameters, spec.weight_decay, spec.density_lr_factor, spec.groups);
  if (spec.kind == "sgd") return std::make_unique<Sgd>(spec, parameters, std::move(settings));
  require(spec.kind == "adam" || spec.kind == "adamw", "optim", "no kind \"", spec.kind,
          "\"; choose sgd, adam or adamw");
  return std::make_unique<Adam>(spec, parameters, std::move(settings));
}

}  // namespace bochner::inline BOCHNER_PRECISION
