#include <bochner/autodiff/gradcheck.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Changes one element and restores it in the destructor.
class PerturbedElement {
 public:
  PerturbedElement(real& element, real value) : element_(element), original_(element) {
    element = value;
  }
  ~PerturbedElement() { element_ = original_; }
  PerturbedElement(const PerturbedElement&) = delete;
  PerturbedElement& operator=(const PerturbedElement&) = delete;

 private:
  real& element_;
  real original_;
};

/// Clears all gradients on construction and destruction.
class ClearedGradients {
 public:
  explicit ClearedGradients(const std::vector<NamedParameter>& parameters)
      : parameters_(parameters) {
    forget();
  }
  ~ClearedGradients() { forget(); }
  ClearedGradients(const ClearedGradients&) = delete;
  ClearedGradients& operator=(const ClearedGradients&) = delete;

 private:
  void forget() {
    for (const NamedParameter& named : parameters_) named.parameter->zero_gradient();
  }
  const std::vector<NamedParameter>& parameters_;
};

Tensor random_cotangent(const Shape& shape, const GradientOptions& options) {
  const RandomFunction random{options.seed, Purpose::test, 0};
  Tensor cotangent = uninitialized(shape);
  for (std::size_t i = 0; i < cotangent.size(); ++i) cotangent.data()[i] = real(random.normal(i));
  return cotangent;
}

std::vector<std::size_t> sample(std::size_t size, std::size_t limit, const RandomFunction& random) {
  const std::size_t count = std::min(size, limit);
  std::vector<std::size_t> elements(count);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t begin = k * size / count, end = (k + 1) * size / count;
    elements[k] = begin + random.integer(k, end - begin);
  }
  return elements;
}

/// Returns the derivative of <cotangent, y>. Differences are taken before the sum, so that constant
/// elements of y add no rounding.
double central_difference(const std::function<Tensor()>& evaluate, const Tensor& cotangent,
                          real& element, double step) {
  const real above = real(double(element) + step), below = real(double(element) - step);
  const auto value_at = [&](real value) {
    const PerturbedElement variation(element, value);
    return evaluate();
  };
  const Tensor high = value_at(above), low = value_at(below);
  double sum = 0;
  for (std::size_t i = 0; i < cotangent.size(); ++i) {
    sum += double(cotangent.data()[i]) * (double(high.data()[i]) - double(low.data()[i]));
  }
  return sum / (double(above) - double(below));
}

double relative_error(double analytic, double numeric, double floor) {
  const double error =
      std::abs(analytic - numeric) / std::max({std::abs(analytic), std::abs(numeric), floor});
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

struct Comparison {
  double error, numeric;
};

/// Compares with several step sizes: a kink, curvature or rounding may spoil one.
Comparison compare(const std::function<Tensor()>& evaluate, const Tensor& cotangent, real& element,
                   double analytic, const GradientOptions& options) {
  const double base = std::cbrt(double(std::numeric_limits<real>::epsilon())) *
                      std::max(1.0, std::abs(double(element)));
  Comparison best{std::numeric_limits<double>::infinity(), 0};
  for (double factor : {1.0, 0.5, 0.25, 2.0, 8.0}) {
    const double numeric = central_difference(evaluate, cotangent, element, factor * base);
    const double error = relative_error(analytic, numeric, options.floor);
    if (factor == 1 || error < best.error) best = {error, numeric};
    if (best.error <= options.tolerance) break;
  }
  return best;
}

}  // namespace

std::string GradientReport::summary() const {
  std::ostringstream text;
  text.precision(2);
  text << inputs << (inputs == 1 ? " input, " : " inputs, ") << checked << " elements";
  if (checked > 0) text << ", worst " << worst_error << " at " << worst_element;
  text.precision(9);
  if (!passed) text << ": analytic " << analytic << ", numeric " << numeric;
  return text.str();
}

GradientReport check_gradient(const std::function<Var(Tape&, const std::vector<Var>&)>& f,
                              const std::vector<Tensor>& inputs, const GradientOptions& options) {
  std::vector<Parameter> parameters;
  for (const Tensor& input : inputs) parameters.emplace_back(input);
  std::vector<NamedParameter> named;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    named.push_back({std::string("x").append(std::to_string(k)), &parameters[k]});
  const auto of_parameters = [&](Tape& tape) {
    std::vector<Var> leaves;
    for (Parameter& parameter : parameters) leaves.push_back(tape(parameter));
    return f(tape, leaves);
  };
  return check_gradient(of_parameters, named, options);
}

GradientReport check_gradient(const std::function<Var(Tape&)>& f,
                              const std::vector<NamedParameter>& parameters,
                              const GradientOptions& options) {
  const ClearedGradients no_gradients(parameters);
  Tape tape;
  tape.seed = options.seed;
  const Var y = f(tape);
  const Tensor cotangent = random_cotangent(y.shape(), options);
  if (y.needs_gradient()) tape.backward(y, cotangent);
  const auto evaluate = [&] {
    Tape again;
    again.seed = options.seed;
    again.recording = false;
    return f(again).value();
  };
  GradientReport report;
  for (const auto& [name, parameter] : parameters) {
    if (!parameter->is_trained()) continue;
    const RandomFunction random{options.seed, Purpose::test, ++report.inputs};
    Tensor& value = parameter->value();
    for (std::size_t i : sample(value.size(), options.elements_per_input, random)) {
      const double analytic = parameter->has_gradient() ? parameter->gradient().data()[i] : 0;
      const auto [error, numeric] =
          compare(evaluate, cotangent, value.data()[i], analytic, options);
      ++report.checked;
      report.passed = report.passed && error <= options.tolerance;
      if (!report.worst_element.empty() && error <= report.worst_error) continue;
      report.worst_error = error;
      report.worst_element = name + "[" + std::to_string(i) + "]";
      report.analytic = analytic;
      report.numeric = numeric;
    }
  }
  return report;
}

}  // namespace bochner::inline BOCHNER_PRECISION
