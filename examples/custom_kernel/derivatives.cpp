#include <bochner/bochner.hpp>
#include <cmath>
#include <cstdio>
using namespace bochner;

/// Returns x / (1 + |x|). (..) -> (..)
Var softsign(const Var& x) {
  Tensor y = x.value() / (1 + xt::abs(x.value()));
  return record(
      "softsign", std::move(y), {x},
      [x](Tensor& gradient) { x.add_gradient(gradient / xt::square(1 + xt::abs(x.value()))); },
      {{x, [x](const Var& d) { return d / square(1 + abs(x)); }}});
}

/// Returns the largest eigenvalue, in magnitude, of the Hessian of a loss by power iteration.
double largest_curvature(const std::function<Var(Tape&)>& loss,
                         const std::vector<NamedParameter>& parameters) {
  std::vector<Tensor> v;
  Draws draws({1, Purpose::user, 1});
  for (const auto& [name, parameter] : parameters) {
    v.push_back(zeros(parameter->shape()));
    for (real& number : v.back()) number = real(draws.normal());
  }
  double length = 1;
  for (int i = 0; i < 20; ++i) {
    v = hvp(loss, parameters, v);
    double squares = 0;
    for (const Tensor& part : v) squares += double(xt::sum(xt::square(part))());
    length = std::sqrt(squares);
    for (Tensor& part : v) part /= real(length);
  }
  return length;
}

int main() {
  const Tensor x = {{-2, real(0.5), 3}};
  const GradientReport report = check_gradient(
      [](Tape&, const std::vector<Var>& inputs) { return softsign(inputs[0]); }, {x});
  std::printf("softsign: %s\n", report.summary().c_str());

  Linear net(3, 1);
  initialize(net, 1);
  const double curvature = largest_curvature(
      [&](Tape& tape) { return mean(square(softsign(net.forward(tape, Var(x))) - 1)); },
      parameters_of(net));
  std::printf("largest curvature: %.4f\n", curvature);
  return report.passed && std::isfinite(curvature) ? 0 : 1;
}
