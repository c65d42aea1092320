#pragma once
/// The cluster experiment of Choromanski et al., "Hybrid random features", 2022: how well three
/// estimators approach exp(q . k) where queries and keys fall into clusters.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/layers/features/k_means.hpp>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

struct ClusterSetting {
  double variance;    ///< of the points around their centre, before they are scaled to norm
  std::size_t mixed;  ///< coordinates whose signs in query and key are not opposite
};

/// Smallest and largest mean squared error over the seeds.
struct ErrorRange {
  double low = 0, high = 0;
};

struct ClusterResult {
  ClusterSetting setting;
  std::string estimator;  ///< "hybrid", "positive" or "trigonometric"
  std::size_t m = 0;
  ErrorRange repeated;  ///< independent draws and plain exponentials, as in the publication
  ErrorRange ours;      ///< the draws of the options; exponentials in pairs w, -w at equal features
  ErrorRange published;  ///< what the authors' notebook stored
  /// Inside the published range or below it.
  bool holds() const { return ours.high <= published.high; }
};

struct ClusterOptions {
  std::string draws = "sobol_owen";
  std::size_t seeds = 20;
  std::size_t points = 1000;  ///< of each of two clusters of queries, and of keys
};

/// All 24 ranges: four settings, three estimators, m = 20 and 200, in 50 dimensions.
std::vector<ClusterResult> cluster_experiment(const ClusterOptions& options);

/// Clusters of rows (n, d) by k-means on standardised columns, as means of the rows themselves.
/// Their numbers are arbitrary: the first row is in the last one.
Clusters standardized_clusters(const Tensor& rows, std::size_t count);

}  // namespace bochner::inline BOCHNER_PRECISION
