#pragma once
/// Cluster experiment of Choromanski et al., "Hybrid random features", 2022: how well three
/// estimators approach exp(q . k) where queries and keys fall into clusters.

#include <string>
#include <vector>

namespace bochner {

struct ClusterSetting {
  double variance;    ///< of the points around their centre, before scaling to norm
  std::size_t mixed;  ///< coordinates without opposite signs in query and key
};

/// Smallest and largest mean squared error over the seeds.
struct ErrorRange {
  double low = 0, high = 0;
};

struct ClusterResult {
  ClusterSetting setting;
  std::string features;  ///< "hybrid_cluster", "positive" or "trigonometric"
  std::size_t m = 0;
  ErrorRange repeated;   ///< independent draws, as in the publication
  ErrorRange turned;     ///< draws of the options, rotated to the centres; exponentials by w, -w
  ErrorRange published;  ///< in the authors' notebook
};

/// Counts of ranges with an upper end, a lower end, and both, at or below the published one. Two
/// sets of seeds of one estimator do so by chance in a half, a half and a quarter.
struct ClusterCounts {
  std::size_t upper = 0, lower = 0, both = 0;
};
ClusterCounts count_holding(const std::vector<ClusterResult>& results,
                            ErrorRange ClusterResult::*range);

struct ClusterOptions {
  std::string draws = "sobol_owen";
  std::size_t seeds = 20;
  std::size_t points = 1000;  ///< per cluster; two clusters of queries, two of keys
};

/// Measures 24 ranges: four settings, the library's three maps, m = 20 and 200, 50 dimensions.
std::vector<ClusterResult> cluster_experiment(const ClusterOptions& options);

}  // namespace bochner
