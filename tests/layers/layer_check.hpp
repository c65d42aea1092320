#pragma once
/// Gradient checks of layers.

#include <bochner/autodiff/gradcheck.hpp>
#include <bochner/layers/module.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace layer_check {

using op_check::is_double;
using op_check::random_tensor;

/// Randomizes parameters, so that no gradient is zero by accident.
inline void randomize(Module& module, double deviation = 0.5) {
  for (const NamedParameter& named : parameters_of(module)) {
    const RandomFunction random{5, Purpose::test, stream_of(named.name.c_str())};
    Tensor& value = named.parameter->value();
    for (std::size_t i = 0; i < value.size(); ++i)
      value.data()[i] = real(deviation * random.normal(i));
  }
}

inline std::vector<std::string> names_of(Module& module) {
  std::vector<std::string> names;
  for (const NamedParameter& named : parameters_of(module)) names.push_back(named.name);
  return names;
}

/// Compares gradients of every parameter and of x with central differences, in double only.
template <class Forward>
void check_layer(Module& module, const Tensor& x, const Forward& forward) {
  if (!is_double) return;
  std::vector<NamedParameter> parameters = parameters_of(module);
  Parameter input{x};
  parameters.push_back({"input", &input});
  const GradientReport report =
      check_gradient([&](Tape& tape) { return forward(tape, tape(input)); }, parameters);
  EXPECT_TRUE(report.passed) << report.summary() << ": " << report.analytic << " instead of "
                             << report.numeric;
  EXPECT_GE(report.checked, parameters.size());
}

/// Returns the gradients of all parameters for a fixed random cotangent.
template <class Forward>
std::vector<Tensor> parameter_gradients(Module& module, const Forward& forward) {
  for (const NamedParameter& named : parameters_of(module)) named.parameter->zero_gradient();
  Tape tape;
  tape.training = true;
  const Var y = forward(tape);
  tape.backward(y, random_tensor(y.shape(), 99));
  std::vector<Tensor> gradients;
  for (const NamedParameter& named : parameters_of(module)) {
    EXPECT_TRUE(named.parameter->has_gradient()) << named.name;
    gradients.push_back(named.parameter->gradient());
  }
  return gradients;
}

}  // namespace layer_check
}  // namespace bochner::inline BOCHNER_PRECISION
