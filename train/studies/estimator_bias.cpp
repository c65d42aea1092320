#include <bochner/autodiff/real.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/studies/estimator_bias.hpp>
#include <cmath>
#include <limits>

namespace bochner {

std::vector<double> deviations_of(const Estimates& all, const std::vector<double>& kernel,
                                  const std::vector<double>& known) {
  std::vector<double> means;
  for (const std::vector<double>& values : all) {
    double sum = 0, weights = 0;
    for (std::size_t p = 0; p < kernel.size(); ++p) {
      const double weight = 1 / (1e-9 + known[p]);
      if (!(weight > 0)) continue;  // infinite variance, or a ratio of infinite ones
      sum += weight * (values[p] / kernel[p] - 1);
      weights += weight;
    }
    means.push_back(sum / weights);
  }
  return means;
}

std::vector<std::vector<double>> less_others(const std::vector<std::vector<double>>& deviations,
                                             const std::vector<std::size_t>& m) {
  std::vector<std::vector<double>> rest(m.size());
  for (std::size_t r = 0; r < m.size() && m.size() > 1; ++r)
    for (std::size_t seed = 0; seed < deviations[r].size(); ++seed) {
      double sum = 0, weight = 0;
      for (std::size_t other = 0; other < m.size(); ++other) {
        if (other == r) continue;
        sum += double(m[other]) * deviations[other][seed];
        weight += double(m[other]);
      }
      rest[r].push_back(deviations[r][seed] - sum / weight);
    }
  return rest;
}

void summarize_bias(ErrorAtM& row, const std::vector<double>& deviations) {
  // Rounding errors are not bias: pairs without variance prove nothing.
  constexpr double rounding = 64 * double(std::numeric_limits<real>::epsilon());
  if (deviations.empty()) return;
  const double S = double(deviations.size()), bias = mean_of(deviations);
  row.bias = bias;
  if (S > 1)
    row.bias_sigmas = bias / std::hypot(std::sqrt(scatter_of(deviations) / (S - 1) / S), rounding);
}

}  // namespace bochner
