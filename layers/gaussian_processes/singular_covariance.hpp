#pragma once
/// What to do about covariances that are singular to rounding.

#include <cmath>
#include <stdexcept>
#include <string>

namespace bochner {

/// The result of an action. Where that throws std::domain_error, another one that says what to do;
/// noise is a variance.
template <class Action>
auto or_say_singular(double noise, const std::string& method, const Action& action) {
  try {
    return action();
  } catch (const std::domain_error& error) {
    throw std::domain_error(
        std::string("gp: ") + error.what() + ", with noise of deviation " +
        std::to_string(std::sqrt(noise)) +
        " in units of the targets': rows are alike but for rounding; start with more "
        "model.gp.noise, lower optim.lr, or leave out rows that are there twice" +
        (method == "exact" ? "" : ", or choose model.gp.method = \"exact\""));
  }
}

}  // namespace bochner
