#pragma once
/// k-means of many points into many clusters, and how concentrated they are.

#include <bochner/autodiff/real.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <cstddef>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// K centres (K, d) of points (n, d), the nearest of each point (n) and the squared distance to it
/// (n), and the sum of these distances after each round: it never rises.
struct Clusters {
  std::size_t d = 1;
  std::vector<double> centres;
  std::vector<std::size_t> labels;
  std::vector<double> distances;
  std::vector<double> objective;
  std::size_t size() const { return centres.size() / d; }
  /// The mean squared distance to the centres over d.
  double spread() const { return objective.back() / double(labels.size() * d); }
};

struct KMeansOptions {
  std::size_t clusters = 10;
  std::size_t rounds = 100;  ///< at most; it ends where no label changes
  std::size_t starts = 1;    ///< the best of so many is taken, the first among equals
};

/// Lloyd's k-means from k-means++ starts (Arthur and Vassilvitskii, "k-means++: the advantages of
/// careful seeding", 2007). A cluster that loses all its points begins anew at the point that is
/// farthest from its centre. Equal bits for any number of threads. Throws std::invalid_argument
/// unless 1 <= clusters <= n.
Clusters k_means(const std::vector<double>& points, std::size_t d, const KMeansOptions& options,
                 const RandomFunction& random);

/// Clusters without random numbers: starts with the point nearest to the mean, then adds the point
/// farthest from all centres.
Clusters k_means(const std::vector<double>& points, std::size_t d, std::size_t clusters);

/// Points (n, d) divided by their lengths; one of zeros stays.
std::vector<double> unit_length(std::vector<double> points, std::size_t d);

/// The nearest centre of each point, the first among equals. points (n, d), centres (K, d) -> (n)
std::vector<std::size_t> nearest_centres(const std::vector<double>& points,
                                         const std::vector<double>& centres, std::size_t d);

/// phi of each cluster: sum |v - c| / (Z ln(Z + 10)) over its Z points, of a cluster of one point
/// the largest of all; those below the tenth and above the ninetieth percentile become these, and
/// all are scaled to this mean. Li et al., "Prototypical contrastive learning", 2021, equation 12;
/// percentiles and lone points as in their code. -> (K)
std::vector<double> concentrations(const Clusters& clusters, double mean);

}  // namespace bochner::inline BOCHNER_PRECISION
