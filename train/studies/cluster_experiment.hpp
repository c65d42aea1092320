#pragma once
/// The cluster experiment of Choromanski et al., "Hybrid random features", 2022: how well three
/// estimators approach exp(q . k) where queries and keys fall into clusters.

#include <bochner/autodiff/tensor.hpp>
#include <string>
#include <vector>

namespace bochner {

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
  std::string features;  ///< "hybrid_cluster", "positive" or "trigonometric"
  std::size_t m = 0;
  ErrorRange repeated;   ///< independent draws, as in the publication
  ErrorRange turned;     ///< the draws of the options, turned to the centres; exponentials by w, -w
  ErrorRange published;  ///< what the authors' notebook stored
};

/// Of the ranges: how many have an upper end, a lower end, and both, at or below the published one.
/// Two sets of seeds of one estimator do so by chance in a half, a half and a quarter.
struct ClusterCounts {
  std::size_t upper = 0, lower = 0, both = 0;
};
ClusterCounts count_holding(const std::vector<ClusterResult>& results,
                            ErrorRange ClusterResult::*range);

struct ClusterOptions {
  std::string draws = "sobol_owen";
  std::size_t seeds = 20;
  std::size_t points = 1000;  ///< of each of two clusters of queries, and of keys
};

/// All 24 ranges: four settings, the library's own three maps, m = 20 and 200, in 50 dimensions.
std::vector<ClusterResult> cluster_experiment(const ClusterOptions& options);

}  // namespace bochner
