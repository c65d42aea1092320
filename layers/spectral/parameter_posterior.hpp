#pragma once
/// Normal prior of parameters around their start, and normal posterior around their values.

#include <bochner/base/numeric/philox.hpp>
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// For theta (n), all numbers of some parameters: the prior N(start, prior^2) and, unless `point`,
/// the posterior q(theta) = N(theta, L L^T) with diagonal or lower triangular L, diagonal positive.
/// Training maximizes the evidence lower bound E_q ln p(data | theta) - KL(q | prior),
/// reparameterized: a step uses theta + L z. Without q it maximizes ln p(data | theta) + ln
/// p(theta). Kingma and Welling, "Auto-encoding variational Bayes", 2014; Blundell et al., "Weight
/// uncertainty in neural networks", 2015.
class ParameterPosterior : public Module {
 public:
  enum class Form { point, mean_field, full };
  static constexpr std::size_t max_full_size = 2048;

  /// Takes a module's parameters and the prior's deviation, above 0. Throws std::invalid_argument
  /// for a full posterior of more than max_full_size numbers.
  ParameterPosterior(std::vector<NamedParameter> parameters, Form form, double prior);

  /// Sets the prior's mean to the current parameters.
  void centre() {
    each([&](std::size_t i, real value) { centre_.data()[i] = value; });
  }
  bool is_drawn() const { return form_ != Form::point; }
  /// Sets parameters to theta + L z, z standard normal, until restore().
  void draw(const RandomFunction& random);
  void restore() {
    each([&](std::size_t i, real& value) { value = mean_[i]; });
  }
  /// Adds gradients of the loss and of `share` times divergence() to the parameters and L. On
  /// entry, the parameters' gradients are those of the loss at theta + L z of the last draw.
  void add_gradients(double share) {
    std::vector<double> loss_gradient(size_);
    add_mean_gradients(share, loss_gradient);
    if (learns_deviations()) add_factor_gradients(share, loss_gradient);
  }
  /// Returns KL(q | prior), or without q -ln p(theta) up to a constant, in nats.
  double divergence() const;
  /// Returns the deviation of each number under q; 0 without q.
  std::vector<double> deviations() const;

  void visit(Visitor& visitor) override {
    if (is_drawn()) visitor("factor", factor_);
    visitor("centre", centre_);
  }

 private:
  /// Calls body(index, value) for all numbers of theta in order.
  template <class Body>
  void each(const Body& body) const {
    std::size_t i = 0;
    for (const NamedParameter& named : parameters_)
      for (real& value : named.parameter->value()) body(i++, value);
  }
  bool learns_deviations() const { return is_drawn() && factor_.is_trained(); }
  double factor(std::size_t row, std::size_t column) const;
  void add_mean_gradients(double share, std::vector<double>& loss_gradient);
  void add_factor_gradients(double share, const std::vector<double>& loss_gradient);

  std::vector<NamedParameter> parameters_;
  Form form_;
  double prior_;
  std::size_t size_;
  Tensor centre_;     // (n)
  Parameter factor_;  // (n) or (n, n): L, with the logarithm of its diagonal; the rest is unused
  std::vector<double> z_;
  std::vector<real> mean_;  // theta, while the parameters are theta + L z
};

}  // namespace bochner::inline BOCHNER_PRECISION
