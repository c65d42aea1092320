#pragma once
#include <bochner/autodiff/real.hpp>
#include <cstddef>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// R centres (R, d) of points (n, d) by Lloyd's k-means, started with the point nearest to the mean
/// and then always the point farthest from all centres: no random numbers. `spread` is the mean
/// squared distance to the centres over d.
struct Clusters {
  std::vector<double> centres;
  double spread = 0;
};
Clusters k_means(const std::vector<double>& points, std::size_t d, std::size_t R);

}  // namespace bochner::inline BOCHNER_PRECISION
