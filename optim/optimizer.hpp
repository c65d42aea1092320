#pragma once
/// The optimizer interface (parameters, settings, moments, counts) and its registry.

#include <bochner/autodiff/tape.hpp>
#include <bochner/base/registry.hpp>
#include <bochner/optim/clip.hpp>
#include <bochner/optim/flat_loop.hpp>
#include <bochner/optim/natural_cg.hpp>
#include <bochner/optim/natural_gradients.hpp>
#include <bochner/optim/parameter_group.hpp>
#include <bochner/optim/schedule.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

class Optimizer;
struct OptimizerSpec;
/// Properties of a kind of optimizer.
struct OptimizerTraits {
  bool whole_tensors = false;  ///< updates some tensors whole, so that processes cannot share them
};
using Optimizers = Registry<Optimizer, OptimizerSpec, OptimizerTraits>;
/// Registry of optimizers; add custom ones here.
Optimizers& optimizers();

/// An optimizer and its schedule, gradient limits and weight average.
struct OptimizerSpec {
  std::string kind = "adamw";
  double momentum = 0.9;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weight_decay = 0.1;  ///< excludes norms, biases and others, see resolve_groups()
  std::string decay = "decoupled";
  /// Multiplies lr for spectral densities: their parameters are logarithms and shifts in units of
  /// the start, which move little within a run at the rate of weights.
  double density_lr_factor = 1;
  bool density_natural = false;  ///< see NaturalGradient
  std::vector<ParameterGroup> groups = {};
  double lr = 1e-3, clip = 1, clip_value = 0, ema = 0;
  Schedule schedule = {};
  /// For langevin and natural; runs replace 0 by 1 / number of terms in the loss of all data.
  double temperature = 0;
  std::uint64_t seed = 1;  ///< of langevin's noise
  NaturalSpec natural = {};
  NaturalCgSpec cg = {};
  std::vector<NamedParameter> parameters = {};  ///< set by make_optimizer(); outlive the optimizer
  OwnSpecs own = {};                            ///< specs of custom optimizers
};
/// The learned densities that optimizers find by their names, see is_density().
inline KeyCondition learns_densities() {
  return applies("model.mixer.density.kind") || applies("model.mixer.time_kernel.density.kind") ||
         applies("model.mixer.filter.density.kind") || when("model.mixer.normalize", {"l2"}) ||
         when("model.mixer.kind", {});  // what a program adds may have its own
}
inline void describe(Keys& keys, OptimizerSpec& spec) {
  keys(
      "kind", spec.kind, one_of(optimizers),
      "optimizer; langevin: sgd with noise, which samples weights from the posterior (set clip = "
      "0, and weight_decay = 0 for a flat prior); natural: adamw, with closed-form natural "
      "gradients for Gaussian densities and posteriors of densities; natural_cg: natural gradient "
      "of all weights of a small model (set lr = 1 or less); muon: matrices between hidden layers "
      "step along their orthogonalised mean gradient, the other parameters as in adamw; lion: the "
      "sign of a mean gradient (a tenth of adamw's lr, ten times its weight_decay); schedule_free: "
      "adamw that evaluates an average of its weights (schedule constant, with a warm-up)");
  keys("lr", spec.lr, at_least(0), "peak learning rate of the schedule");
  keys.when("kind", {"adam", "adamw", "natural", "muon", "schedule_free"}, [&] {
    std::vector<double> betas = {spec.beta1, spec.beta2};
    keys("betas", betas, below(0, 1), "decay of the running mean and square of the gradient");
    spec.beta1 = betas.at(0), spec.beta2 = betas.at(1);
    keys("epsilon", spec.epsilon, above(0), "added to the root of the running square");
  });
  keys.when("kind",
            {"adamw", "adam", "sgd", "langevin", "natural", "muon", "lion", "schedule_free"})(
      "weight_decay", spec.weight_decay, at_least(0),
      "weight decay; norms, biases, spectral parameters and sharpness are not decayed");
  KeyCondition decays = keys.is("kind", {"adamw", "natural", "muon", "lion", "schedule_free"});
  decays.only_named = true;
  keys.when(decays)(
      "decay", spec.decay, one_of({"decoupled", "independent", "cautious"}),
      "what decay subtracts from a weight w at rate lr: lr weight_decay w (decoupled), (lr / "
      "optim.lr) weight_decay w, for which 1e-4 is large (independent), or nothing where it "
      "opposes the step (cautious)");
  keys.when(learns_densities())("density_lr_factor", spec.density_lr_factor, at_least(0),
                                "factor of the learning rate for spectra of feature maps, time "
                                "kernels and filters, and for sharpness; 0 freezes them");
  keys.when(applies("model.blocks"))(
      "density_natural", spec.density_natural,
      "natural gradients (a Gaussian's Fisher matrix) for the mean and log_scale of spectral "
      "densities; adam then has one running square for each head");
  keys.when("kind", {"sgd"}, [&] {
    keys("momentum", spec.momentum, below(0, 1), "momentum");
    keys("nesterov", spec.nesterov, "Nesterov's momentum");
  });
  keys.when("kind", {"langevin", "natural"})(
      "temperature", spec.temperature, at_least(0),
      "temperature of the posterior, in units of the loss; 0 for 1 over the loss terms of all "
      "training data, the posterior itself");
  keys("clip", spec.clip, at_least(0),
       "largest global norm of the gradient, 0 for no limit; natural steps of Gaussians are "
       "limited by natural.trust instead");
  keys("clip_value", spec.clip_value, at_least(0),
       "largest absolute entry of the gradient, 0 for no limit");
  keys("groups", spec.groups,
       "settings of parameters whose names match a pattern: { match, lr_factor, weight_decay }");
  keys.when(keys.is_not("kind", {"schedule_free"}))(
      "ema", spec.ema, below(0, 1), "decay of the running mean of the weights, 0 for none");
  keys.section("schedule", spec.schedule);
  keys.when("kind", {"natural"}).section("natural", spec.natural);
  keys.when("kind", {"natural_cg"}).section("cg", spec.cg);
  optimizers().describe_own(keys, spec.own);
}

/// Returns whether a parameter belongs to spectra of feature maps, time kernels or filters, or is
/// the sharpness of normalised queries; not encodings of time and space or Gaussian processes.
bool is_density(const std::string& name);

struct ParameterSettings {
  double lr_factor = 1;
  double weight_decay = 0;
};

/// Resolves the settings of each parameter: `weight_decay` for matrices, none for norms and biases
/// (rank < 2) and for spectral parameters (below `features`, `density`, `time_kernel`, `time`,
/// `filter`, `spectrum`, `lower_bounds` or `shift`, or named `frequencies` or `log_sharpness`);
/// `density_lr_factor` where is_density(), else 1; then the groups in order, the last match wins.
/// Throws if a group matches nothing.
std::vector<ParameterSettings> resolve_groups(const std::vector<NamedParameter>& parameters,
                                              double weight_decay, double density_lr_factor,
                                              const std::vector<ParameterGroup>& groups);

/// The tensors that an optimizer updates whole, because their shape matters.
struct WholeTensors {
  std::function<bool(const NamedParameter&)> includes = {};
  /// Returns the shape of a moment, counted from 0, of a tensor of this shape.
  std::function<Shape(std::size_t moment, const Shape& shape)> moment_shape = {};
};

/// Base of optimizers. Derived classes implement update() for pieces of tensors, which run in
/// parallel, and update_whole() for tensors whose shape matters.
class Optimizer {
 public:
  /// Lets parameters that it has fixed be trained again.
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates the parameters from their gradients, limited in the same pass. A parameter without a
  /// gradient, its moments and its update count stay unchanged. natural_cg needs `fisher` of the
  /// loss, and replaces the gradients by natural ones.
  void step(double learning_rate, const GradientLimit& limit = {},
            const FisherProduct& fisher = {});
  void zero_gradients() {
    for (const NamedParameter& named : parameters_) named.parameter->zero_gradient();
  }

  /// Returns the state for a checkpoint: "adamw.first_moment/NAME" per parameter, and
  /// "adamw.updates" (parameters), see updates_.
  std::vector<NamedTensor> state();

  /// Returns, after a step, the share of each parameter's weights in the average that evaluations
  /// use: average += share (weights - average); empty, also before a step, if there is none.
  virtual std::vector<double> average_shares() const { return {}; }

  std::size_t elements() const { return loop_.size(); }
  /// Restricts step() to the elements first, ..., last - 1 of the concatenated parameters and keeps
  /// only their moments: state() then holds that part of each tensor, (n). Moments must be whole.
  void keep(std::size_t first, std::size_t last);
  /// Removes the restriction; moments that were not kept become zero.
  void make_whole();
  bool is_whole() const { return last_ - first_ == loop_.size(); }
  /// Returns the range of a parameter's elements that are kept.
  std::pair<std::size_t, std::size_t> kept(std::size_t parameter) const {
    return part_of(parameter, first_, last_);
  }
  /// Returns the range of a parameter's elements among first, ..., last - 1.
  std::pair<std::size_t, std::size_t> part_of(std::size_t parameter, std::size_t first,
                                              std::size_t last) const;

 protected:
  /// `moments` names the moment tensors that each parameter of the spec has; `numbers` is how many
  /// numbers each has, see number().
  Optimizer(const OptimizerSpec& spec, std::vector<std::string> moments,
            const WholeTensors& whole = {}, std::size_t numbers = 0);

  /// A range of consecutive elements of one parameter.
  struct Piece {
    std::size_t parameter, begin, size;
    real* weight;
    const real* gradient;
    const real* root;  ///< divisor: the gradient, or NaturalGradient::root()
  };
  /// Prepares the updates of a step.
  virtual void begin_step(double) {}
  virtual void update(const Piece& piece, double learning_rate, double weight_decay) = 0;
  /// Updates a whole tensor of the shape; tensors may be updated in parallel.
  virtual void update_whole(const Piece&, const Shape&, double, double) {}

  /// Returns the piece's part of a moment, in the order of their names.
  real* moment(std::size_t which, const Piece& piece) {
    require(which < moments_.size(), "optim", "moment ", which, " is not among the ",
            moments_.size(), " that the constructor names");
    return moments_[which].tensors[piece.parameter].data() + piece.begin -
           kept(piece.parameter).first;
  }
  /// Returns a number of a parameter, 0 at first, which is saved beside its count of updates.
  real& number(std::size_t which, std::size_t parameter) {
    return updates_.data()[(1 + which) * parameters_.size() + parameter];
  }
  bool is_cautious() const { return spec_.decay == "cautious"; }
  /// Returns what decay subtracts from a weight that a step moves against `direction`: shrink w, or
  /// 0 if it is cautious and they oppose each other. Chen et al., "Cautious weight decay", 2025.
  static real decay_of(bool cautious, real shrink, real direction, real weight) {
    return cautious && direction * weight < 0 ? 0 : shrink * weight;
  }
  /// Returns how often the piece's parameter has been updated, including this time.
  double updates(const Piece& piece) const { return double(updates_.data()[piece.parameter]); }

  const OptimizerSpec spec_;

 private:
  struct Moment {
    std::string name;
    std::vector<Tensor> tensors;
  };

  void begin_updates();
  void precondition(double learning_rate, const GradientLimit& limit, const FisherProduct& fisher);
  void step_each(double learning_rate, const GradientLimit& limit);
  void update_all(double learning_rate, const GradientLimit& limit);
  void update_range(std::size_t parameter, std::size_t begin, std::size_t end, double learning_rate,
                    const GradientLimit& limit);

  std::vector<NamedParameter> parameters_;
  std::vector<ParameterSettings> settings_;
  std::vector<Parameter*> fixed_;   // by a learning rate of 0
  std::vector<char> is_whole_;      // for each parameter
  std::vector<std::size_t> whole_;  // parameters that update_whole() updates
  std::vector<Moment> moments_;
  /// Counts of updates, exact up to 2^24, (parameters), or with the numbers below them (1 +
  /// numbers, parameters); a tensor, to be saved like the moments.
  Tensor updates_;
  FlatLoop loop_;
  std::size_t first_ = 0, last_;  ///< range of the elements that are kept
  std::optional<NaturalGradient> natural_;
  std::optional<GaussianSteps> gaussians_;
};

/// Returns whether a parameter is a logarithm, frequency or time constant, exempt from decay.
bool is_spectral(const std::string& name);

/// Throws if the kind is unknown, a number is out of range or a group matches nothing.
std::unique_ptr<Optimizer> make_optimizer(OptimizerSpec spec,
                                          const std::vector<NamedParameter>& parameters);

/// Adds the optimizers that a source defines.
using AddOptimizers = void(Optimizers& all);
AddOptimizers add_sgd, add_adam, add_langevin, add_muon, add_lion, add_schedule_free;

}  // namespace bochner::inline BOCHNER_PRECISION
