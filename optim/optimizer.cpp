#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/optim/optimizer.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

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

bool is_spectral(const std::string& name) {
  const std::string path = "." + name;
  return matches("*.features.*", path) || matches("*.density.*", path) ||
         matches("*.time_kernel.*", path) || matches("*.time.*", path) ||
         matches("*.filter.*", path) || matches("*.frequencies", path) ||
         matches("*.spectrum.*", path) || matches("*.lower_bounds.*", path) ||
         matches("*.shift.*", path) || matches("*.log_sharpness", path);
}

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

Optimizer::Optimizer(const OptimizerSpec& spec, std::vector<std::string> moments,
                     const WholeTensors& whole, std::size_t numbers)
    : spec_(spec),
      parameters_(spec.parameters),
      updates_(
          zeros(numbers > 0 ? Shape{1 + numbers, parameters_.size()} : Shape{parameters_.size()})),
      loop_(parameters_),
      last_(loop_.size()) {
  require(std::isfinite(spec.weight_decay) && spec.weight_decay >= 0, "optim",
          "weight_decay = ", spec.weight_decay, ": must be finite and at least 0");
  settings_ = resolve_groups(parameters_, spec.weight_decay, spec.density_lr_factor, spec.groups);
  if (spec.density_natural) natural_.emplace(densities_of(parameters_));
  if (spec.kind == "natural")
    gaussians_.emplace(parameters_, lr_factors_of(settings_), spec.natural, 1 / spec.temperature);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter* parameter = parameters_[i].parameter;
    if (settings_[i].lr_factor == 0 && parameter->is_trained()) fixed_.push_back(parameter);
    is_whole_.push_back(whole.includes && whole.includes(parameters_[i]));
    if (is_whole_[i]) whole_.push_back(i);
  }
  for (Parameter* parameter : fixed_) parameter->set_trained(false);
  for (std::string& name : moments) {
    Moment& moment = moments_.emplace_back(Moment{std::move(name), {}});
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const Shape& shape = parameters_[i].parameter->shape();
      const bool is_own = is_whole_[i] && whole.moment_shape;
      moment.tensors.push_back(
          zeros(is_own ? whole.moment_shape(moments_.size() - 1, shape) : shape));
    }
  }
}

Optimizer::~Optimizer() {
  for (Parameter* parameter : fixed_) parameter->set_trained(true);
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

/// Replaces gradients by natural ones.
void Optimizer::precondition(double learning_rate, const GradientLimit& limit,
                             const FisherProduct& fisher) {
  require(bool(fisher), "natural_cg", "step() needs Fisher products of the loss");
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
  begin_step(learning_rate);
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

void Optimizer::update_range(std::size_t index, std::size_t begin, std::size_t end,
                             double learning_rate, const GradientLimit& limit) {
  Parameter& parameter = *parameters_[index].parameter;
  if (!parameter.has_gradient()) return;
  real* gradient = parameter.gradient().data();
  limit.apply(gradient + begin, end - begin);
  const real* root = natural_ ? natural_->root(parameter) : nullptr;
  const Piece piece{index,
                    begin,
                    end - begin,
                    parameter.value().data() + begin,
                    gradient + begin,
                    (root ? root : gradient) + begin};
  const double rate = learning_rate * settings_[index].lr_factor;
  double decay = settings_[index].weight_decay;
  if (spec_.decay == "independent" && spec_.lr > 0) decay /= spec_.lr;
  if (is_whole_[index])
    update_whole(piece, parameter.shape(), rate, decay);
  else
    update(piece, rate, decay);
}

void Optimizer::update_all(double learning_rate, const GradientLimit& limit) {
  loop_.within(first_, last_, [&](std::size_t index, std::size_t begin, std::size_t end) {
    if (!is_whole_[index]) update_range(index, begin, end, learning_rate, limit);
  });
  parallel_tasks(whole_.size(), [&](std::size_t i) {
    update_range(whole_[i], 0, loop_.size_of(whole_[i]), learning_rate, limit);
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
  require(whole_.empty(), "optim", "\"", spec_.kind,
          "\" updates whole tensors, which processes cannot share");
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

Optimizers& optimizers() {
  static Optimizers registry = [] {
    Optimizers all("optimizer", {});
    for (AddOptimizers* add :
         {add_adam, add_sgd, add_langevin, add_muon, add_lion, add_schedule_free})
      add(all);
    return std::move(all).built_in();
  }();
  return registry;
}

std::unique_ptr<Optimizer> make_optimizer(OptimizerSpec spec,
                                          const std::vector<NamedParameter>& parameters) {
  spec.parameters = parameters;
  return optimizers().make(spec.kind, spec);
}

}  // namespace bochner::inline BOCHNER_PRECISION
