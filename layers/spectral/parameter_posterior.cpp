#include <bochner/layers/spectral/parameter_posterior.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Initial deviation of a posterior relative to the prior, small to keep learned values.
constexpr double initial_deviation = 0.05;

std::size_t numbers_of(const std::vector<NamedParameter>& parameters) {
  std::size_t n = 0;
  for (const NamedParameter& named : parameters) n += named.parameter->value().size();
  return n;
}

Shape factor_shape(ParameterPosterior::Form form, std::size_t n) {
  if (form == ParameterPosterior::Form::point) return {0};
  if (form == ParameterPosterior::Form::mean_field) return {n};
  require(n <= ParameterPosterior::max_full_size, "density", "posterior = \"full\" of ", n,
          " numbers exceeds the limit of ", ParameterPosterior::max_full_size,
          "; use \"mean_field\"");
  return {n, n};
}

real* gradient_of(Parameter& parameter) {
  Tape tape;
  return tape(parameter).gradient_buffer().data();
}

}  // namespace

ParameterPosterior::ParameterPosterior(std::vector<NamedParameter> parameters, Form form,
                                       double prior)
    : parameters_(std::move(parameters)),
      form_(form),
      prior_(prior),
      size_(numbers_of(parameters_)),
      centre_(zeros({size_})),
      factor_(factor_shape(form, size_)) {
  require(prior > 0, "density", "prior = ", prior, " must be above 0");
  const real start = real(std::log(initial_deviation * prior));
  const std::size_t step = form == Form::full ? size_ + 1 : 1;
  for (std::size_t i = 0; i < factor_.value().size(); i += step) factor_.value().data()[i] = start;
  centre();
}

double ParameterPosterior::factor(std::size_t row, std::size_t column) const {
  const real* data = factor_.value().data();
  if (form_ == Form::mean_field) return std::exp(double(data[row]));
  const double entry = double(data[row * size_ + column]);
  return row == column ? std::exp(entry) : entry;
}

void ParameterPosterior::draw(const RandomFunction& random) {
  z_.resize(size_);
  mean_.resize(size_);
  for (std::size_t i = 0; i < size_; ++i) z_[i] = random.normal(i);
  each([&](std::size_t i, real& value) {
    mean_[i] = value;
    double shift = factor(i, i) * z_[i];
    if (form_ == Form::full)
      for (std::size_t j = 0; j < i; ++j) shift += factor(i, j) * z_[j];
    value = real(double(value) + shift);
  });
}

/// `loss_gradient` receives the gradients before the addition.
void ParameterPosterior::add_mean_gradients(double share, std::vector<double>& loss_gradient) {
  std::size_t i = 0;
  for (const NamedParameter& named : parameters_) {
    if (!named.parameter->is_trained()) {
      require(!learns_deviations(), "posterior", named.name,
              " has lr_factor = 0 but its deviation learns; give them equal factors");
      i += named.parameter->value().size();
      continue;
    }
    real* gradient = gradient_of(*named.parameter);
    for (const real value : named.parameter->value()) {
      loss_gradient[i] = double(*gradient);
      const double offset = double(value) - double(centre_.data()[i++]);
      *gradient++ += real(share * offset / (prior_ * prior_));
    }
  }
}

/// For l = ln L_ii: d theta_i / d l = L_ii z_i, d KL / d l = L_ii^2 / prior^2 - 1.
void ParameterPosterior::add_factor_gradients(double share,
                                              const std::vector<double>& loss_gradient) {
  real* gradient = gradient_of(factor_);
  for (std::size_t i = 0; i < size_; ++i) {
    const double diagonal = factor(i, i), weight = share / (prior_ * prior_);
    gradient[form_ == Form::full ? i * (size_ + 1) : i] +=
        real((loss_gradient[i] * z_[i] + weight * diagonal) * diagonal - share);
    if (form_ == Form::mean_field) continue;
    for (std::size_t j = 0; j < i; ++j)
      gradient[i * size_ + j] += real(loss_gradient[i] * z_[j] + weight * factor(i, j));
  }
}

double ParameterPosterior::divergence() const {
  double sum = 0;
  each([&](std::size_t i, real value) {
    const double offset = (double(value) - double(centre_.data()[i])) / prior_;
    sum += offset * offset / 2;
    if (form_ == Form::point) return;
    for (std::size_t j = form_ == Form::full ? 0 : i; j <= i; ++j) {
      const double entry = factor(i, j) / prior_;
      sum += entry * entry / 2;
    }
    sum -= 0.5 + std::log(factor(i, i) / prior_);
  });
  return sum;
}

std::vector<double> ParameterPosterior::deviations() const {
  std::vector<double> all(size_);
  for (std::size_t i = 0; i < size_ && is_drawn(); ++i) {
    double square = 0;
    for (std::size_t j = form_ == Form::full ? 0 : i; j <= i; ++j)
      square += factor(i, j) * factor(i, j);
    all[i] = std::sqrt(square);
  }
  return all;
}

}  // namespace bochner::inline BOCHNER_PRECISION
