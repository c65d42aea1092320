#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/ops/likelihood/gaussian_likelihood.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {

std::vector<std::vector<double>> likelihood_slopes(const Covariance& covariance,
                                                   FactoredCovariance& state) {
  const std::size_t n = covariance.size();
  invert_from_factor(n, state.factor.data());
  const auto weights = [&](std::size_t i, double* numbers) {
    const double* inverse = state.factor.data() + i * n;
    for (std::size_t j = 0; j <= i; ++j)  // doubled off the diagonal, for both triangles
      numbers[j] = (state.alpha[i] * state.alpha[j] - inverse[j]) / (i == j ? 2 : 1);
  };
  return covariance.pull_back(weights);
}

void add_slopes(const std::vector<Var>& parameters, const std::vector<std::vector<double>>& slopes,
                double factor) {
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    require(slopes[p].size() == parameters[p].size(), "gaussian_log_likelihood",
            "pull_back() returned ", slopes[p].size(), " slopes for a parameter ",
            parameters[p].shape());
    Tensor gradient = uninitialized(parameters[p].shape());
    std::ranges::transform(slopes[p], gradient.data(),
                           [&](double slope) { return real(factor * slope); });
    parameters[p].add_gradient(std::move(gradient));
  }
}

FactoredCovariance factored(const Covariance& covariance, const std::vector<double>& y) {
  const std::size_t n = covariance.size();
  require(y.size() == n, "gaussian_log_likelihood", "a covariance of ", n, " rows and ", y.size(),
          " values");
  FactoredCovariance state{PooledNumbers<double>(n * n), y};
  parallel_each(n, 1, [&](std::size_t i) { covariance.row(i, state.factor.data() + i * n); });
  cholesky(n, state.factor.data());
  solve_lower(n, state.factor.data(), 1, state.alpha.data());
  const double square =
      std::inner_product(state.alpha.begin(), state.alpha.end(), state.alpha.begin(), 0.0);
  state.log_likelihood =
      -(square + log_determinant_of_factor(n, state.factor.data()) + double(n) * log_two_pi) / 2;
  solve_lower_transposed(n, state.factor.data(), 1, state.alpha.data());
  return state;
}

Var gaussian_log_likelihood(const std::vector<Var>& parameters,
                            std::shared_ptr<const Covariance> covariance,
                            const std::vector<double>& y) {
  auto state = std::make_shared<FactoredCovariance>(factored(*covariance, y));
  return record("gaussian_log_likelihood", filled({}, real(state->log_likelihood)), parameters,
                [parameters, covariance = std::move(covariance), state](Tensor& g) {
                  add_slopes(parameters, likelihood_slopes(*covariance, *state),
                             double(g.data()[0]));
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
