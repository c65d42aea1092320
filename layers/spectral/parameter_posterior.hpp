#pragma once
/// What is extrapolated of parameters besides their values: a normal prior around where they start,
/// and a normal posterior around where they are.

#include <bochner/base/numeric/philox.hpp>
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Of theta (n), all numbers of some parameters: the prior N(start, prior^2), and, unless it is a
/// point, q(theta) = N(theta, L L^T) with a diagonal or a lower triangular L whose diagonal is
/// positive. What is trained is the evidence lower bound, E_q ln p(data | theta) - KL(q | prior),
/// reparameterised: a step sees theta + L z. Without q it is ln p(data | theta) + ln p(theta).
/// Kingma and Welling, "Auto-encoding variational Bayes", 2014; Blundell et al., "Weight
/// uncertainty in neural networks", 2015.
class ParameterPosterior : public Module {
 public:
  enum class Form { point, mean_field, full };
  static constexpr std::size_t most_of_full = 2048;

  /// Those of a module, as they are now; the prior's deviation is above 0. Throws
  /// std::invalid_argument for a full posterior of more than most_of_full numbers.
  ParameterPosterior(std::vector<NamedParameter> parameters, Form form, double prior);

  /// The prior's mean: where the parameters are now.
  void centre();
  bool is_drawn() const { return form_ != Form::point; }
  /// Parameters are theta + L z until restore(), with z standard normal.
  void draw(const RandomFunction& random);
  void restore();
  /// Adds to the gradients of the parameters, which hold that of the loss by theta + L z of the
  /// last draw, and to those of L: of the loss, and of share times divergence().
  void add_gradients(double share);
  /// KL(q | prior), or -ln p(theta) up to a constant without q, in nats.
  double divergence() const;
  /// The deviation of each number under q; 0 without.
  std::vector<double> deviations() const;

  void visit(Visitor& visitor) override;

 private:
  /// body(number, value) for all numbers of theta in order.
  template <class Body>
  void each(const Body& body) const;
  double factor(std::size_t row, std::size_t column) const;
  void add_mean_gradients(double share, std::vector<double>& of_loss);
  void add_factor_gradients(double share, const std::vector<double>& of_loss);

  std::vector<NamedParameter> parameters_;
  Form form_;
  double prior_;
  std::size_t size_;
  Tensor centre_;     // (n)
  Parameter factor_;  // (n) or (n, n): L, the logarithm of its diagonal; the rest is unused
  std::vector<double> z_;
  std::vector<real> mean_;  // while theta + L z stands in the parameters
};

}  // namespace bochner::inline BOCHNER_PRECISION
