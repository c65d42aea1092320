#include <algorithm>
#include <bochner/layers/estimators/table_ensemble.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Minimises the squared error by exact steps along pairs of weights.
std::vector<double> least_squares_weights(const std::vector<Columns>& estimates,
                                          const std::vector<double>& truth) {
  constexpr int rounds = 200;
  const std::size_t M = estimates.size(), n = truth.size();
  std::vector<double> products(M * M);  // of residuals
  for (std::size_t a = 0; a < M; ++a)
    for (std::size_t b = 0; b < M; ++b)
      for (std::size_t i = 0; i < n; ++i)
        products[a * M + b] += (estimates[a][0][i] - truth[i]) * (estimates[b][0][i] - truth[i]);
  std::vector<double> weights(M);
  weights[M - 1] = 1;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t a = 0; a < M; ++a)
      for (std::size_t b = 0; b < a; ++b) {
        double slope = 0;  // by moving weight from b to a
        for (std::size_t m = 0; m < M; ++m)
          slope += weights[m] * (products[a * M + m] - products[b * M + m]);
        const double bend = products[a * M + a] + products[b * M + b] - 2 * products[a * M + b];
        if (!(bend > 0)) continue;
        const double step = std::clamp(-slope / bend, -weights[a], weights[b]);
        weights[a] += step, weights[b] -= step;
      }
  return weights;
}

/// Maximises the likelihood of a mixture of the members by EM.
std::vector<double> likeliest_weights(const std::vector<Columns>& estimates,
                                      const Columns& answers) {
  constexpr int rounds = 300;
  constexpr double least = 1e-15;
  const std::size_t M = estimates.size(), n = answers[0].size();
  std::vector<double> weights(M, 1 / double(M)), next(M), p(M);
  for (int round = 0; round < rounds; ++round) {
    std::ranges::fill(next, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::size_t m = 0; m < M; ++m) {
        p[m] = 0;
        for (std::size_t k = 0; k < answers.size(); ++k) p[m] += answers[k][i] * estimates[m][k][i];
        sum += p[m] = weights[m] * std::max(p[m], least);
      }
      for (std::size_t m = 0; m < M; ++m) next[m] += p[m] / sum / double(n);
    }
    weights = next;
  }
  return weights;
}

}  // namespace

std::vector<double> stacking_weights(const std::vector<Columns>& estimates,
                                     const Columns& answers) {
  constexpr double negligible = 0.02;
  std::vector<double> weights = answers.size() == 1 ? least_squares_weights(estimates, answers[0])
                                                    : likeliest_weights(estimates, answers);
  double sum = 0;
  for (double& weight : weights) sum += weight = weight < negligible ? 0 : weight;
  for (double& weight : weights) weight /= sum;
  return weights;
}

RowEstimates combine(const std::vector<double>& weights, const std::vector<double>& losses,
                     const std::function<RowEstimates(std::size_t member)>& estimates_of) {
  RowEstimates sum;
  for (std::size_t m = 0; m < weights.size(); ++m) {
    if (weights[m] == 0) continue;
    const RowEstimates one = estimates_of(m);
    const std::size_t n = one.values[0].size();
    sum.values.resize(one.values.size(), std::vector<double>(n));
    sum.deviations.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < one.values.size(); ++k)
        sum.values[k][i] += weights[m] * one.values[k][i];
      sum.deviations[i] += weights[m] * (one.deviations.empty() ? losses[m] : one.deviations[i]);
    }
  }
  return sum;
}

}  // namespace bochner::inline BOCHNER_PRECISION
