#include <bochner/optim/optimizer.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// g' = g + decay w;  v = momentum v + g';  w -= lr v, or lr (g' + momentum v) with Nesterov's
/// look-ahead. No dampening, as in Sutskever, Martens, Dahl, Hinton (2013) and PyTorch.
class Sgd : public Optimizer {
 public:
  explicit Sgd(const OptimizerSpec& spec)
      : Optimizer(spec, std::vector<std::string>(spec.momentum > 0 ? 1 : 0, "momentum")) {
    require(!spec.nesterov || spec.momentum > 0, "sgd", "nesterov = true needs a momentum above 0");
  }

 private:
  void update(const Piece& piece, double learning_rate, double weight_decay) override {
    const real rate = real(learning_rate), decay = real(weight_decay),
               momentum = real(spec_.momentum);
    real* __restrict weight = piece.weight;
    const real* __restrict gradient = piece.gradient;
    if (spec_.momentum == 0) {
      for (std::size_t i = 0; i < piece.size; ++i)
        weight[i] -= rate * (gradient[i] + decay * weight[i]);
      return;
    }
    real* __restrict velocity = moment(0, piece);
    // Nesterov's direction is g' + momentum v, the plain one 0 g' + 1 v.
    const real fresh = real(spec_.nesterov ? 1 : 0), carried = spec_.nesterov ? momentum : real(1);
    for (std::size_t i = 0; i < piece.size; ++i) {
      const real g = gradient[i] + decay * weight[i];
      velocity[i] = momentum * velocity[i] + g;
      weight[i] -= rate * (fresh * g + carried * velocity[i]);
    }
  }
};

/// Settings of the sgd step along natural gradients: no momentum, and no decay except by groups.
OptimizerSpec plain_step(OptimizerSpec spec) {
  spec.momentum = spec.weight_decay = 0;
  spec.nesterov = false;
  return spec;
}

/// Conjugate gradients of more weights would take too many steps.
void require_small(const std::vector<NamedParameter>& parameters) {
  constexpr std::size_t most = 10'000'000;
  std::size_t size = 0;
  for (const NamedParameter& named : parameters) size += named.parameter->value().size();
  require(size <= most, "natural_cg", "the model has ", size, " weights, more than ", most,
          "; choose another optim.kind");
}

/// sgd along natural gradients, which step() puts in place of the gradients.
class NaturalCg : public Sgd {
 public:
  explicit NaturalCg(const OptimizerSpec& spec) : Sgd(plain_step(spec)) {
    require_small(spec.parameters);
    require(!spec.density_natural, "optim",
            "density_natural = true is for other kinds than natural_cg, which does it for all");
  }
};

}  // namespace

void add_sgd(Optimizers& all) {
  all.add("sgd", make<Sgd>);
  all.add("natural_cg", make<NaturalCg>);
}

}  // namespace bochner::inline BOCHNER_PRECISION
