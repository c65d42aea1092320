#include <bochner/base/numeric/philox.hpp>
#include <bochner/optim/optimizer.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// w -= lr (g + decay w) - sqrt(2 lr temperature) z with normal z, functions of seed, name and
/// update: for small rates w is distributed as exp(-loss / temperature). Welling and Teh, "Bayesian
/// learning via stochastic gradient Langevin dynamics", 2011.
class Langevin : public Optimizer {
 public:
  explicit Langevin(const OptimizerSpec& spec) : Optimizer(spec, {}) {
    require(spec.temperature > 0, "langevin", "temperature = 0: must be above 0");
    for (const NamedParameter& named : spec.parameters)
      streams_.push_back(stream_of(("langevin." + named.name).c_str()));
  }

 private:
  void update(const Piece& piece, double learning_rate, double weight_decay) override {
    const real rate = real(learning_rate), decay = real(weight_decay);
    constexpr auto countable = double(std::uint64_t(1) << std::numeric_limits<real>::digits);
    const double update = updates(piece);
    require(update < countable, "langevin", "after ", countable,
            " updates the counter would overflow and repeat the noise");
    const double deviation = std::sqrt(2 * learning_rate * spec_.temperature);
    const RandomFunction random{spec_.seed, Purpose::posterior,
                                streams_[piece.parameter] + std::uint64_t(update)};
    real* __restrict weight = piece.weight;
    for (std::size_t i = 0; i < piece.size; ++i)
      weight[i] -= rate * (piece.gradient[i] + decay * weight[i]) -
                   real(deviation * random.normal(piece.begin + i));
  }

  std::vector<std::uint64_t> streams_;
};

}  // namespace

void add_langevin(Optimizers& all) { all.add("langevin", make<Langevin>); }

}  // namespace bochner::inline BOCHNER_PRECISION
