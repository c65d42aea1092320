#pragma once
/// Monte Carlo expectations over normal points, and comparison of sampling methods.

#include <bochner/autodiff/real.hpp>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Function of a point of R^d.
using Integrand = std::function<double(std::span<const double> point)>;

/// Method for E f(z), z ~ N(0, I_d), by independent sets of points. Each set is unbiased; points
/// within a set may be dependent, so errors are measured between sets.
struct MonteCarlo {
  std::size_t dim = 1, points = 256;  ///< per set, both antithetic halves included
  std::size_t sets = 32;              ///< at least 2
  std::string draws = "iid";          ///< base_draws(): "sobol_owen" and "halton" are quasi-random
  bool antithetic = false;            ///< points z and -z
  double scale = 1;                   ///< importance: points of N(0, scale^2 I), weighted by p / q
  Integrand control = {};             ///< control variate g: f - b (g - E g), b by least squares
  double control_mean = 0;
  std::uint64_t seed = 1;
};

struct MonteCarloReport {
  double mean = 0, standard_error = 0;
  double variance = 0;          ///< of a set times its points, comparable between methods
  double effective_points = 0;  ///< effective sample size of a set
};

/// Estimates E f. Throws std::invalid_argument for invalid points, sets, scale or draws. Owen,
/// "Monte Carlo theory, methods and examples", 2013.
MonteCarloReport estimate(const MonteCarlo& method, const Integrand& f);

/// Estimates E f by five methods at equal points: "plain", "antithetic", "control" (if given),
/// "importance" (if scale is not 1) and "quasi" (sobol_owen).
struct NamedReport {
  std::string name;
  MonteCarloReport report;
};
std::vector<NamedReport> compare_methods(const MonteCarlo& plain, const Integrand& f);

}  // namespace bochner::inline BOCHNER_PRECISION
