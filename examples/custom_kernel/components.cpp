#include <bochner/bochner.hpp>
#include <cstdio>
using namespace bochner;

/// Draws rows of three normal distributions, finds how many there are, and fits them.
int main() {
  const std::size_t n = 300;
  const NormalDistribution parts[] = {{-4, 1}, {0, 0.5}, {5, 1}};
  Draws draws({1, Purpose::sampling, 1});
  std::vector<double> rows;
  for (std::size_t i = 0; i < n; ++i) rows.push_back(parts[i % 3].draw(draws));

  const NormalWishart base{{0}, 0.05, 3, {1}};  // mean, strength, degrees, squares
  const auto sampler = collapsed_gibbs_sampler({0.5, base}, rows, {1, Purpose::sampling, 2});
  const std::size_t K = count_components(*sampler, 200, 0.05);

  const WeightedRows data{1, rows};
  const FittedMixture fitted = fit_mixture(data, initial_mixture(data, K));
  for (const GaussianComponent& part : fitted.mixture.components)
    std::printf("share %.2f  mean %5.2f  variance %.2f\n", part.share, part.mean[0],
                part.covariance[0]);

  const std::vector<double> sample(rows.begin(), rows.begin() + 10);
  const StudentDistribution next = NormalGamma{}.posterior(sample).predictive();
  std::printf("entropy of the next number: %.3f nats\n", next.entropy());
  return K == 3 ? 0 : 1;
}
