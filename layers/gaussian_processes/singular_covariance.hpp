#pragma once
/// Errors for covariances that are singular to rounding.

#include <cmath>
#include <stdexcept>
#include <string>

namespace bochner {

/// Runs an action and adds a remedy to its std::domain_error; `noise` is a variance.
template <class Action>
auto explain_singular(double noise, const std::string& method, const Action& action) {
  try {
    return action();
  } catch (const std::domain_error& error) {
    throw std::domain_error(
        std::string("gp: ") + error.what() + ", with noise of deviation " +
        std::to_string(std::sqrt(noise)) +
        " in units of the targets': some rows are equal up to rounding; increase model.gp.noise, "
        "lower optim.lr, or remove duplicate rows" +
        (method == "exact" ? "" : ", or set model.gp.method = \"exact\""));
  }
}

}  // namespace bochner
