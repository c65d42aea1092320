#include <bochner/layers/spectral/parameter_posterior.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// The deviation that a posterior starts with, in that of the prior: what was learned by a point
/// goes on being learned.
constexpr double first_deviation = 0.05;

std::size_t numbers_of(const std::vector<NamedParameter>& parameters) {
  std::size_t n = 0;
  for (const NamedParameter& named : parameters) n += named.parameter->value().size();
  return n;
}

Shape factor_shape(ParameterPosterior::Form form, std::size_t n) {
  if (form == ParameterPosterior::Form::point) return {0};
  if (form == ParameterPosterior::Form::mean_field) return {n};
  require(n <= ParameterPosterior::most_of_full, "density", "posterior = \"full\" of ", n,
          " numbers needs their square; at most ", ParameterPosterior::most_of_full,
          ", choose \"mean_field\"");
  return {n, n};
}

/// Where the gradient of a parameter is added up.
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
  require(prior > 0, "density", "prior = ", prior, ": must be above 0");
  const real start = real(std::log(first_deviation * prior));
  const std::size_t step = form == Form::full ? size_ + 1 : 1;
  for (std::size_t i = 0; i < factor_.value().size(); i += step) factor_.value().data()[i] = start;
  centre();
}

template <class Body>
void ParameterPosterior::each(const Body& body) const {
  std::size_t i = 0;
  for (const NamedParameter& named : parameters_)
    for (real& value : named.parameter->value()) body(i++, value);
}

void ParameterPosterior::centre() {
  each([&](std::size_t i, real value) { centre_.data()[i] = value; });
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
    double moved = factor(i, i) * z_[i];
    if (form_ == Form::full)
      for (std::size_t j = 0; j < i; ++j) moved += factor(i, j) * z_[j];
    value = real(double(value) + moved);
  });
}

void ParameterPosterior::restore() {
  each([&](std::size_t i, real& value) { value = mean_[i]; });
}

void ParameterPosterior::add_gradients(double share) {
  std::vector<double> of_loss(size_);
  add_mean_gradients(share, of_loss);
  if (form_ != Form::point) add_factor_gradients(share, of_loss);
}

/// `of_loss` receives what was there before.
void ParameterPosterior::add_mean_gradients(double share, std::vector<double>& of_loss) {
  std::size_t i = 0;
  for (const NamedParameter& named : parameters_) {
    real* gradient = gradient_of(*named.parameter);
    for (const real value : named.parameter->value()) {
      of_loss[i] = double(*gradient);
      const double away = double(value) - double(centre_.data()[i++]);
      *gradient++ += real(share * away / (prior_ * prior_));
    }
  }
}

/// By the logarithm l of a diagonal entry: d theta_i / d l = L_ii z_i, d KL / d l = L_ii^2 /
/// prior^2
/// - 1.
void ParameterPosterior::add_factor_gradients(double share, const std::vector<double>& of_loss) {
  real* gradient = gradient_of(factor_);
  for (std::size_t i = 0; i < size_; ++i) {
    const double own = factor(i, i), weight = share / (prior_ * prior_);
    gradient[form_ == Form::full ? i * (size_ + 1) : i] +=
        real((of_loss[i] * z_[i] + weight * own) * own - share);
    if (form_ == Form::mean_field) continue;
    for (std::size_t j = 0; j < i; ++j)
      gradient[i * size_ + j] += real(of_loss[i] * z_[j] + weight * factor(i, j));
  }
}

double ParameterPosterior::divergence() const {
  double sum = 0;
  each([&](std::size_t i, real value) {
    const double away = (double(value) - double(centre_.data()[i])) / prior_;
    sum += away * away / 2;
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

void ParameterPosterior::visit(Visitor& visitor) {
  if (is_drawn()) visitor("factor", factor_);
  visitor("centre", centre_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
