#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/optim/optimizer.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns whether a parameter is a logarithm, frequency or time constant, exempt from decay.
bool is_spectral(const std::string& name) {
  const std::string path = "." + name;
  return matches("*.features.*", path) || matches("*.density.*", path) ||
         matches("*.time_kernel.*", path) || matches("*.time.*", path) ||
         matches("*.filter.*", path) || matches("*.frequencies", path) ||
         matches("*.spectrum.*", path) || matches("*.lower_bounds.*", path) ||
         matches("*.shift.*", path) || matches("*.log_sharpness", path);
}

std::vector<double> lr_factors_of(const std::vector<ParameterSettings>& settings) {
  std::vector<double> factors;
  for (const ParameterSettings& one : settings) factors.push_back(one.lr_factor);
  return factors;
}

std::vector<NamedParameter> densities_of(const std::vector<NamedParameter>& parameters) {
  std::vector<NamedParameter> densities;
  for (const NamedParameter& named : parameters)
    if (is_density(named.name)) densities.push_back(named);
  return densities;
}

void check(const ParameterGroup& group, const char* name, std::optional<double> value) {
  require(!value || (std::isfinite(*value) && *value >= 0), "optim.groups", "\"", group.match,
          "\": ", name, " = ", value.value_or(0), ": must be finite and at least 0");
}

}  // namespace

bool is_density(const std::string& name) {
  const std::string path = "." + name;
  return matches("*.features.*density.*", path) || matches("*.time_kernel.density.*", path) ||
         matches("*.filter.*.density.*", path) || matches("*.features.log_scale", path) ||
         matches("*.features.log_head_scale", path) || matches("*.log_sharpness", path);
}

std::vector<ParameterSettings> resolve_groups(const std::vector<NamedParameter>& parameters,
                                              double weight_decay, double density_lr_factor,
                                              const std::vector<ParameterGroup>& groups) {
  std::vector<ParameterSettings> settings(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool decayed =
        parameters[i].parameter->shape().size() >= 2 && !is_spectral(parameters[i].name);
    settings[i].weight_decay = decayed ? weight_decay : 0;
    settings[i].lr_factor = is_density(parameters[i].name) ? density_lr_factor : 1;
  }
  for (const ParameterGroup& group : groups) {
    check(group, "lr_factor", group.lr_factor);
    check(group, "weight_decay", group.weight_decay);
    bool used = false;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!matches(group.match, parameters[i].name)) continue;
      used = true;
      settings[i].lr_factor = group.lr_factor.value_or(settings[i].lr_factor);
      settings[i].weight_decay = group.weight_decay.value_or(settings[i].weight_decay);
    }
    require(used, "optim.groups", "\"", group.match,
            "\" matches no parameter; `bochner inspect` lists their names");
  }
  return settings;
}

Optimizer::Optimizer(const OptimizerSpec& spec, std::vector<NamedParameter> parameters,
                     std::vector<std::string> moments)
    : spec_(spec),
      parameters_(std::move(parameters)),
      updates_(zeros({parameters_.size()})),
      loop_(parameters_),
      last_(loop_.size()) {
  require(std::isfinite(spec.weight_decay) && spec.weight_decay >= 0, "optim",
          "weight_decay = ", spec.weight_decay, ": must be finite and at least 0");
  settings_ = resolve_groups(parameters_, spec.weight_decay, spec.density_lr_factor, spec.groups);
  if (spec.density_natural) natural_.emplace(densities_of(parameters_));
  if (spec.kind == "natural")
    gaussians_.emplace(parameters_, lr_factors_of(settings_), spec.natural, 1 / spec.temperature);
  for (std::string& name : moments) {
    Moment& moment = moments_.emplace_back(Moment{std::move(name), {}});
    for (const NamedParameter& named : parameters_)
      moment.tensors.push_back(zeros(named.parameter->shape()));
  }
}

void Optimizer::begin_updates() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = *parameters_[i].parameter;
    require(!parameter.is_averaged(), "optim", "step() while ", parameters_[i].name,
            " holds its average; call swap() first");
    require(parameter.value().size() == loop_.size_of(i), "optim", parameters_[i].name,
            " changed its shape to ", parameter.shape(), "; make a new optimizer");
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].parameter->has_gradient()) continue;
    updates_.data()[i] += real(1);
    parameters_[i].parameter->mark_changed();
  }
}

/// Replaces gradients by natural ones; parameters with lr_factor = 0 are fixed.
void Optimizer::precondition(double learning_rate, const GradientLimit& limit,
                             const FisherProduct& fisher) {
  require(bool(fisher), "natural_cg", "step() needs Fisher products of the loss");
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (settings_[i].lr_factor == 0) parameters_[i].parameter->zero_gradient();
  limit_all(limit, parameters_);
  to_natural_gradients(parameters_, fisher, spec_.cg, learning_rate);
}

void Optimizer::step(double learning_rate, const GradientLimit& limit,
                     const FisherProduct& fisher) {
  require(std::isfinite(learning_rate) && learning_rate >= 0, "optim", "learning rate ",
          learning_rate, ": must be finite and at least 0");
  require(limit.largest > 0, "optim", "limit ", limit.largest, ": must be positive");
  const bool preconditions = spec_.kind == "natural_cg";
  if (preconditions) precondition(learning_rate, limit, fisher);
  begin_updates();
  if (gaussians_) gaussians_->begin(learning_rate * spec_.natural.lr_factor);
  step_each(learning_rate, preconditions ? GradientLimit() : limit);
  if (gaussians_) gaussians_->end();
}

void Optimizer::step_each(double learning_rate, const GradientLimit& limit) {
  if (!natural_) return update_all(learning_rate, limit);
  limit_all(limit, parameters_);  // before natural gradients are computed
  natural_->begin();
  update_all(learning_rate, {});
  natural_->end();
}

void Optimizer::update_all(double learning_rate, const GradientLimit& limit) {
  loop_.within(first_, last_, [&](std::size_t index, std::size_t begin, std::size_t end) {
    Parameter& parameter = *parameters_[index].parameter;
    if (!parameter.has_gradient()) return;
    real* gradient = parameter.gradient().data();
    limit.apply(gradient + begin, end - begin);
    const real* root = natural_ ? natural_->root(parameter) : nullptr;
    update({index, begin, end - begin, parameter.value().data() + begin, gradient + begin,
            (root ? root : gradient) + begin},
           learning_rate * settings_[index].lr_factor, settings_[index].weight_decay);
  });
}

std::vector<NamedTensor> Optimizer::state() {
  std::vector<NamedTensor> tensors = {{spec_.kind + ".updates", &updates_}};
  for (Moment& moment : moments_)
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      tensors.push_back(
          {spec_.kind + "." + moment.name + "/" + parameters_[i].name, &moment.tensors[i]});
  return tensors;
}

std::pair<std::size_t, std::size_t> Optimizer::part_of(std::size_t parameter, std::size_t first,
                                                       std::size_t last) const {
  const std::size_t begin = loop_.offset_of(parameter), size = loop_.size_of(parameter);
  const auto within = [&](std::size_t element) {
    return std::clamp(element, begin, begin + size) - begin;
  };
  return {within(first), within(last)};
}

void Optimizer::keep(std::size_t first, std::size_t last) {
  require(is_whole() && first <= last && last <= loop_.size(), "optim", "elements ", first, " to ",
          last, " are not a range of the ", loop_.size());
  first_ = first, last_ = last;
  for (Moment& moment : moments_)
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const auto [from, to] = kept(i);
      Tensor part = uninitialized({to - from});
      std::copy(moment.tensors[i].data() + from, moment.tensors[i].data() + to, part.data());
      moment.tensors[i] = std::move(part);
    }
}

void Optimizer::make_whole() {
  for (Moment& moment : moments_)
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      Tensor whole = zeros(parameters_[i].parameter->shape());
      std::copy(moment.tensors[i].begin(), moment.tensors[i].end(), whole.data() + kept(i).first);
      moment.tensors[i] = std::move(whole);
    }
  first_ = 0, last_ = loop_.size();
}

namespace {

/// g' = g + decay w;  v = momentum v + g';  w -= lr v, or lr (g' + momentum v) with Nesterov's
/// look-ahead. No dampening, as in Sutskever, Martens, Dahl, Hinton (2013) and PyTorch.
class Sgd : public Optimizer {
 public:
  Sgd(const OptimizerSpec& spec, const std::vector<NamedParameter>& parameters)
      : Optimizer(spec, parameters,
                  std::vector<std::string>(spec.momentum > 0 ? 1 : 0, "momentum")) {
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

/// m = mean of g, v = mean of g^2, both bias-corrected for t updates; w -= lr * m / (1 - beta1^t) /
/// (sqrt(v / (1 - beta2^t)) + epsilon). "adam" adds decay to the gradient, Kingma, Ba (2015);
/// "adamw" subtracts lr * decay * w, Loshchilov, Hutter (2019).
class Adam : public Optimizer {
 public:
  Adam(const OptimizerSpec& spec, const std::vector<NamedParameter>& parameters)
      : Optimizer(spec, parameters, {"first_moment", "second_moment"}) {}

 private:
  void update(const Piece& piece, double learning_rate, double weight_decay) override {
    const double t = updates(piece), beta1 = spec_.beta1, beta2 = spec_.beta2;
    const bool decoupled = spec_.kind != "adam";
    const real rate = real(learning_rate / (1 - std::pow(beta1, t)));
    const real root_correction = real(1 / std::sqrt(1 - std::pow(beta2, t)));
    const real share1 = real(1 - beta1), kept2 = real(beta2), share2 = real(1 - beta2);
    const real epsilon = std::max(real(spec_.epsilon), std::numeric_limits<real>::min());
    const real penalty = real(decoupled ? 0 : weight_decay);
    // Subtracted with the rest: float would round away a factor 1 - lr * decay.
    const real shrink = real(decoupled ? learning_rate * weight_decay : 0);
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
      weight[i] -= rate * first[i] / scale + shrink * weight[i];
    }
  }
};

/// w -= lr (g + decay w) - sqrt(2 lr temperature) z with normal z, functions of seed, name and
/// update: for small rates w is distributed as exp(-loss / temperature). Welling and Teh, "Bayesian
/// learning via stochastic gradient Langevin dynamics", 2011.
class Langevin : public Optimizer {
 public:
  Langevin(const OptimizerSpec& spec, const std::vector<NamedParameter>& parameters)
      : Optimizer(spec, parameters, {}) {
    require(spec.temperature > 0, "langevin", "temperature = 0: must be above 0");
    for (const NamedParameter& named : parameters)
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

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec,
                                          const std::vector<NamedParameter>& parameters) {
  checked("optim", spec);
  if (spec.kind == "sgd") return std::make_unique<Sgd>(spec, parameters);
  if (spec.kind == "natural_cg") {
    require_small(parameters);
    require(!spec.density_natural, "optim",
            "density_natural = true is for other kinds than natural_cg, which does it for all");
    return std::make_unique<Sgd>(plain_step(spec), parameters);
  }
  if (spec.kind == "langevin") return std::make_unique<Langevin>(spec, parameters);
  if (spec.kind == "natural") {
    require(spec.temperature > 0, "natural", "temperature = 0: must be above 0");
    require(!spec.density_natural, "optim",
            "density_natural = true is for other kinds than natural, which has steps of its own");
  }
  return std::make_unique<Adam>(spec, parameters);
}

}  // namespace bochner::inline BOCHNER_PRECISION
