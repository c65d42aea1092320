#pragma once
/// check_gradient(): tape gradients against central differences.

#include <bochner/autodiff/tape.hpp>
#include <functional>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct GradientReport {
  bool passed = true;
  std::size_t inputs = 0;
  std::size_t checked = 0;           ///< elements compared
  double worst_error = 0;            ///< largest relative error
  std::string worst_element;         ///< "log_scale[3]"
  double analytic = 0, numeric = 0;  ///< at the worst element
  /// Formats as "6 inputs, 120 elements, worst 3.1e-09 at x[0]".
  std::string summary() const;
};

struct GradientOptions {
  double tolerance = 1e-6;  ///< on |analytic - numeric| / max(|analytic|, |numeric|, floor)
  double floor = 1e-3;      ///< below this magnitude, errors are absolute, divided by the floor
  std::size_t elements_per_input = 200;  ///< larger inputs are sampled
  std::uint64_t seed = 1;                ///< of the random cotangent and the sampling
};

/// Checks f, which maps the inputs to a Var of any shape, by differentiating its inner product with
/// a fixed random cotangent. Meant for double; float needs coarse tolerances.
GradientReport check_gradient(const std::function<Var(Tape&, const std::vector<Var>&)>& f,
                              const std::vector<Tensor>& inputs,
                              const GradientOptions& options = {});
/// Checks the parameters of a model; f uses them through tape(parameter). Clears their gradients.
GradientReport check_gradient(const std::function<Var(Tape&)>& f,
                              const std::vector<NamedParameter>& parameters,
                              const GradientOptions& options = {});

}  // namespace bochner::inline BOCHNER_PRECISION
