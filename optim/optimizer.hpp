#pragma once
/// What all optimizers share: parameters, settings, moments, counts; and the factory by name.

#include <bochner/autodiff/tape.hpp>
#include <bochner/optim/clip.hpp>
#include <bochner/optim/flat_loop.hpp>
#include <bochner/optim/gaussian_steps.hpp>
#include <bochner/optim/natural_gradient.hpp>
#include <bochner/optim/parameter_group.hpp>
#include <bochner/optim/schedule.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// An optimizer, and what is done around its step: the schedule of its learning rate, limits of the
/// gradients, the average of the weights.
struct OptimizerSpec {
  std::string kind = "adamw";
  double momentum = 0.9;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weight_decay = 0.1;  ///< see resolve_groups() for whom
  /// Times lr for spectral densities: their parameters are logarithms and shifts in units of the
  /// start, which move little within a run at the rate of weights.
  double density_lr_factor = 1;
  bool density_natural = false;  ///< see NaturalGradient
  std::vector<ParameterGroup> groups = {};
  double lr = 1e-3, clip = 1, clip_value = 0, ema = 0;
  Schedule schedule = {};
  /// Of langevin and natural: 1 over the terms of the loss of all data, which runs set what is 0
  /// to.
  double temperature = 0;
  std::uint64_t seed = 1;  ///< of what langevin draws
  NaturalSpec natural = {};
};
inline void describe(Keys& keys, OptimizerSpec& spec) {
  keys("kind", spec.kind, one_of({"adamw", "adam", "sgd", "langevin", "natural"}),
       "optimizer; langevin is sgd with noise, which visits weights as often as the posterior has "
       "them (set clip = 0, and weight_decay = 0 for a flat prior); natural is adamw with natural "
       "gradients "
       "in closed form for the posteriors of densities, or for densities that are Gaussians");
  keys("lr", spec.lr, at_least(0), "largest learning rate of the schedule");
  std::vector<double> betas = {spec.beta1, spec.beta2};
  keys("betas", betas, below(0, 1),
       "decay of the running mean and square of the gradient (adam, adamw, natural)");
  spec.beta1 = betas.at(0), spec.beta2 = betas.at(1);
  keys("epsilon", spec.epsilon, above(0),
       "added to the root of the running square (adam, adamw, natural)");
  keys("weight_decay", spec.weight_decay, at_least(0),
       "decay of the weights; norms, biases, spectral parameters and the sharpness of normalised "
       "queries are not decayed");
  keys(
      "density_lr_factor", spec.density_lr_factor, at_least(0),
      "times the learning rate for what is learned of the spectra of feature maps, kernels in time "
      "and filters, and for the sharpness of normalised queries; 0 freezes all of it");
  keys("density_natural", spec.density_natural,
       "natural gradients for the mean and log_scale of spectral densities: steps in units of the "
       "density itself, by a Gaussian's Fisher matrix; adam then has one running square for each "
       "head");
  keys("momentum", spec.momentum, below(0, 1), "momentum (sgd)");
  keys("nesterov", spec.nesterov, "Nesterov's momentum (sgd)");
  keys(
      "temperature", spec.temperature, at_least(0),
      "of the noise, in units of the loss; 0 for 1 over the terms of the loss of all training "
      "data, at which weights are those of the posterior (langevin), and their posteriors those of "
      "all data (natural)");
  keys("clip", spec.clip, at_least(0),
       "largest global norm of the gradient, 0 for no limit; natural steps of Gaussians do not "
       "heed it, nor clip_value: natural.trust limits them");
  keys("clip_value", spec.clip_value, at_least(0),
       "largest absolute entry of the gradient, 0 for no limit");
  keys("groups", spec.groups,
       "settings of the parameters whose name matches a pattern: { match, lr_factor, weight_decay "
       "}");
  keys("ema", spec.ema, below(0, 1), "decay of the running mean of the weights, 0 for none");
  keys.section("schedule", spec.schedule);
  keys.section("natural", spec.natural);
}

/// Whether a parameter is what is learned of the spectra of feature maps, time kernels and filters,
/// or the sharpness of normalised queries. Encodings of time and space, and Gaussian processes, are
/// not among them.
bool is_density(const std::string& name);

/// Learning-rate factor and weight decay of one parameter.
struct ParameterSettings {
  double lr_factor = 1;
  double weight_decay = 0;
};

/// Settings of each parameter: `weight_decay` for matrices, none for norms and biases (rank < 2)
/// and for spectral parameters (below `features`, `density`, `time_kernel`, `time`, `filter`,
/// `spectrum`, `lower_bounds` or `shift`, and those called `frequencies` or `log_sharpness`);
/// `density_lr_factor` where is_density(), 1 for all else; then the groups in order: the last one
/// that matches wins. Throws when a group matches nothing.
std::vector<ParameterSettings> resolve_groups(const std::vector<NamedParameter>& parameters,
                                              double weight_decay, double density_lr_factor,
                                              const std::vector<ParameterGroup>& groups);

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One update from the parameters' gradients. A parameter without a gradient is left alone, and
  /// so are its moments and its count of updates. Gradients are limited on the way, in the same
  /// pass over them.
  void step(double learning_rate, const GradientLimit& limit = {});
  /// Forgets the gradients, so that the next backward pass starts from nothing.
  void zero_gradients();

  /// Everything that a checkpoint needs: "adamw.first_moment/NAME" of each parameter,
  /// and "adamw.updates" (parameters).
  std::vector<NamedTensor> state();

  /// Elements of all parameters, one behind the other.
  std::size_t elements() const { return loop_.size(); }
  /// From here on, step() updates the elements first, ..., last - 1 only, and their moments are the
  /// only ones that are kept: of each tensor of state() that part, (n). Moments must be whole.
  void keep(std::size_t first, std::size_t last);
  /// All elements again; moments that were not kept are zeros.
  void make_whole();
  bool is_whole() const { return last_ - first_ == loop_.size(); }
  /// The elements of a parameter that are kept: from .. to behind.
  std::pair<std::size_t, std::size_t> kept(std::size_t parameter) const {
    return part_of(parameter, first_, last_);
  }
  /// Those among first, ..., last - 1.
  std::pair<std::size_t, std::size_t> part_of(std::size_t parameter, std::size_t first,
                                              std::size_t last) const;

 protected:
  /// `moments` are the names of the tensors of zeros kept for each parameter. The parameters must
  /// outlive the optimizer.
  Optimizer(const OptimizerSpec& spec, std::vector<NamedParameter> parameters,
            std::vector<std::string> moments);

  /// A run of consecutive elements of one parameter.
  struct Piece {
    std::size_t parameter, begin, size;
    real* weight;
    const real* gradient;
    const real* root;  ///< of the squares to divide by: the gradient, or NaturalGradient::root()
  };
  virtual void update(const Piece& piece, double learning_rate, double weight_decay) = 0;

  real* moment(std::size_t which, const Piece& piece) {
    return moments_[which].tensors[piece.parameter].data() + piece.begin -
           kept(piece.parameter).first;
  }
  /// How often the piece's parameter has been updated, this time included.
  double updates(const Piece& piece) const { return double(updates_.data()[piece.parameter]); }

  const OptimizerSpec spec_;

 private:
  struct Moment {
    std::string name;
    std::vector<Tensor> tensors;
  };

  void begin_updates();
  void step_each(double learning_rate, const GradientLimit& limit);
  void update_all(double learning_rate, const GradientLimit& limit);

  std::vector<NamedParameter> parameters_;
  std::vector<ParameterSettings> settings_;
  std::vector<Moment> moments_;
  Tensor updates_;  // a tensor so that it is saved like the moments; exact up to 2^24
  FlatLoop loop_;
  std::size_t first_ = 0, last_;  ///< of the elements that are kept, and behind them
  std::optional<NaturalGradient> natural_;
  std::optional<GaussianSteps> gaussians_;
};

/// Throws when the kind is unknown, a number is out of range or a group matches nothing.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec,
                                          const std::vector<NamedParameter>& parameters);

}  // namespace bochner::inline BOCHNER_PRECISION
