#include <algorithm>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/layers/probability/dirichlet_process.hpp>
#include <bochner/layers/probability/k_means.hpp>
#include <bochner/layers/probability/variational_mixture.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/studies/clustering.hpp>
#include <cmath>
#include <numeric>
#include <tuple>

namespace bochner {
namespace {

// The best of some short ascents continues: Biernacki, Celeux, Govaert, "Choosing starting values
// for the EM algorithm", 2003.
constexpr std::size_t starts = 4, short_rounds = 10, rounds = 500, sweeps = 200;
constexpr double tolerance = 1e-6;       // nats a row
constexpr double least_variance = 1e-3;  // of standardized columns: no component collapses
// Components of the Bayesian methods lie anywhere in the table and are expected to be narrower.
constexpr double base_strength = 0.1, base_variance = 0.2;

RandomFunction start_of(const ClusteringOptions& options, std::size_t start) {
  return {options.seed, Purpose::sampling, start << 32};
}

NormalWishart base_of(std::size_t d) {
  NormalWishart base{std::vector<double>(d), base_strength, double(d) + 2,
                     std::vector<double>(d * d)};
  for (std::size_t i = 0; i < d; ++i) base.squares[i * d + i] = base_variance;
  return base;
}

Clustering mixture_clustering(const WeightedRows& rows, std::size_t K,
                              const ClusteringOptions& options, MixtureOptions how) {
  how.least_variance = least_variance, how.rounds = short_rounds, how.tolerance = tolerance;
  FittedMixture best = fit_mixture(rows, initial_mixture(rows, K), how);
  for (std::size_t start = 1; start < (K > 1 ? starts : 1); ++start) {
    FittedMixture fitted =
        fit_mixture(rows, initial_mixture(rows, K, start_of(options, start)), how);
    if (fitted.log_likelihood.back() > best.log_likelihood.back()) best = std::move(fitted);
  }
  how.rounds = rounds;
  best = fit_mixture(rows, std::move(best.mixture), how);
  std::ranges::stable_sort(best.mixture.components, std::greater(), &GaussianComponent::share);
  return {best.mixture.components, [mixture = best.mixture](const WeightedRows& some) {
            return label_posterior(mixture, some);
          }};
}

/// Sorts components by share and predicts by their Student's t distributions.
Clustering student_clustering(const std::vector<double>& shares,
                              const std::vector<NormalWishart>& posteriors) {
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t k) { return shares[k]; });
  StudentMixture next;
  Clustering clustering;
  for (const std::size_t k : order) {
    next.shares.push_back(shares[k]);
    next.components.push_back(posteriors[k].predictive());
    clustering.components.push_back(
        {shares[k], posteriors[k].mean, posteriors[k].expected_covariance()});
  }
  clustering.posterior = [next](const WeightedRows& some) {
    return label_posterior(next, some.values);
  };
  return clustering;
}

Clustering fit_em(const WeightedRows& rows, std::size_t K, const ClusteringOptions& options) {
  return mixture_clustering(rows, K, options, {});
}

Clustering fit_factors(const WeightedRows& rows, std::size_t K, const ClusteringOptions& options) {
  return mixture_clustering(rows, K, options, {.factors = options.factors});
}

Clustering fit_variational(const WeightedRows& rows, std::size_t K,
                           const ClusteringOptions& options) {
  const MixturePrior prior{WeightPrior::dirichlet, options.concentration / double(K),
                           base_of(rows.d)};
  const auto ascend = [&](std::vector<double> responsibilities, std::size_t most) {
    return fit_variational_mixture(prior, rows.values, std::move(responsibilities),
                                   {.rounds = most, .tolerance = tolerance});
  };
  VariationalMixture best =
      ascend(hard_responsibilities(k_means(rows.values, rows.d, K).labels, K), short_rounds);
  for (std::size_t start = 1; start < (K > 1 ? starts : 1); ++start) {
    const Clusters clusters =
        k_means(rows.values, rows.d, {.clusters = K}, start_of(options, start));
    VariationalMixture q = ascend(hard_responsibilities(clusters.labels, K), short_rounds);
    if (q.lower_bound.back() > best.lower_bound.back()) best = std::move(q);
  }
  best = ascend(std::move(best.responsibilities), rounds);
  return student_clustering(best.shares(), best.components);
}

/// Takes the most probable partition of the later half of a chain.
Clustering fit_dirichlet(const WeightedRows& rows, std::size_t, const ClusteringOptions& options) {
  const DirichletProcess process{options.concentration, base_of(rows.d)};
  const auto sampler = collapsed_gibbs_sampler(process, rows.values, start_of(options, 0));
  std::vector<std::size_t> labels;
  double most = 0;
  for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
    sampler->sweep();
    if (sweep < sweeps / 2) continue;
    const double log = log_joint(process, sampler->labels(), rows.values);
    if (labels.empty() || log > most) labels = sampler->labels(), most = log;
  }
  const auto posteriors = component_posteriors(process, labels, rows.values);
  std::vector<double> shares(posteriors.size());
  for (const std::size_t label : labels) shares[label] += 1 / double(labels.size());
  return student_clustering(shares, posteriors);
}

WeightedRows part_of_rows(const WeightedRows& rows, const std::vector<std::size_t>& chosen) {
  WeightedRows part{rows.d, {}};
  for (const std::size_t row : chosen) {
    const auto begin = rows.values.begin() + std::ptrdiff_t(row * rows.d);
    part.values.insert(part.values.end(), begin, begin + std::ptrdiff_t(rows.d));
  }
  return part;
}

constexpr std::size_t folds = 5, many_rows = 5000;

/// ln p of rows from fits without their fold; of many rows one fold suffices. -> (scored rows)
std::vector<double> held_out_log_densities(const WeightedRows& rows, std::size_t K,
                                           const ClusteringOptions& options) {
  const std::size_t n = rows.size();
  const std::vector<std::size_t> order = Draws({options.seed, Purpose::data_order, 0}).shuffled(n);
  std::vector<double> logs;
  for (std::size_t fold = 0; fold < (n > many_rows ? 1 : folds); ++fold) {
    std::vector<std::size_t> in, out;
    for (std::size_t i = 0; i < n; ++i) (i % folds == fold ? out : in).push_back(order[i]);
    const Clustering fitted =
        clustering_method(options.method).fit(part_of_rows(rows, in), K, options);
    const LabelPosterior posterior = fitted.posterior(part_of_rows(rows, out));
    logs.insert(logs.end(), posterior.log_density.begin(), posterior.log_density.end());
  }
  return logs;
}

/// The mean of a - b and its standard error; b may be empty.
std::pair<double, double> mean_difference(const std::vector<double>& a,
                                          const std::vector<double>& b = {}) {
  const double n = double(a.size());
  double mean = 0, squares = 0;
  const auto at = [&](std::size_t i) { return b.empty() ? a[i] : a[i] - b[i]; };
  for (std::size_t i = 0; i < a.size(); ++i) mean += at(i) / n;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (at(i) - mean) * (at(i) - mean);
  return {mean, std::sqrt(squares / (n - 1) / n)};
}

}  // namespace

const std::vector<ClusteringMethod>& clustering_methods() {
  static const std::vector<ClusteringMethod> methods{
      {"em", "Gaussian mixture by expectation maximisation", true, false, fit_em},
      {"variational", "Bayesian Gaussian mixture by coordinate ascent", false, false,
       fit_variational},
      {"ppca", "mixture of probabilistic PCA by expectation maximisation", true, false,
       fit_factors},
      {"dirichlet", "Dirichlet process mixture by Gibbs sampling", false, true, fit_dirichlet}};
  return methods;
}

const ClusteringMethod& clustering_method(const std::string& name) {
  std::string names;
  for (const ClusteringMethod& one : clustering_methods()) {
    if (one.name == name) return one;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  throw std::invalid_argument(fmt::format("--method {}: must be one of {}", name, names));
}

std::vector<HeldOutScore> held_out_scores(const WeightedRows& rows,
                                          const ClusteringOptions& options) {
  std::size_t first = options.components, last = options.components;
  if (first == 0 && !clustering_method(options.method).finds_number)
    first = 1, last = std::max<std::size_t>(1, std::min(options.most, rows.size() / 10));
  std::vector<std::vector<double>> logs;
  std::vector<HeldOutScore> scores;
  for (std::size_t K = first; K <= last; ++K) {
    logs.push_back(held_out_log_densities(rows, K, options));
    const auto [mean, error] = mean_difference(logs.back());
    scores.push_back({K, mean, error});
  }
  const auto best = std::ranges::max_element(scores, {}, &HeldOutScore::mean) - scores.begin();
  for (std::size_t i = 0; i < scores.size(); ++i)
    std::tie(scores[i].below_best, scores[i].below_error) =
        mean_difference(logs[std::size_t(best)], logs[i]);
  return scores;
}

std::size_t chosen_components(const std::vector<HeldOutScore>& scores) {
  return std::ranges::find_if(
             scores, [](const HeldOutScore& one) { return one.below_best <= one.below_error; })
      ->components;
}

void fit_clusters(ClusteredTable& table, const ClusteringOptions& options) {
  table.method = options.method;
  table.scores = held_out_scores(table.rows, options);
  table.clustering =
      clustering_method(options.method).fit(table.rows, chosen_components(table.scores), options);
  table.posterior = table.clustering.posterior(table.rows);
  const std::size_t K = table.clustering.components.size();
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const double* first = table.posterior.responsibilities.data() + i * K;
    table.labels.push_back(std::size_t(std::max_element(first, first + K) - first));
  }
}

std::vector<std::size_t> label_counts(const ClusteredTable& table) {
  std::vector<std::size_t> counts(table.clustering.components.size());
  for (const std::size_t label : table.labels) ++counts[label];
  return counts;
}

}  // namespace bochner
