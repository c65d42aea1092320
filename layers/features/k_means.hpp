#pragma once
#include <cstddef>
#include <vector>

namespace bochner {

/// R centres (R, d) of points (n, d) by Lloyd's k-means, started with the point nearest to the mean
/// and then always the point farthest from all centres: no random numbers. `spread` is the mean
/// squared distance to the centres over d, `labels` (n) are the nearest centres.
struct Clusters {
  std::vector<double> centres;
  std::vector<std::size_t> labels;
  double spread = 0;
};
Clusters k_means(const std::vector<double>& points, std::size_t d, std::size_t R);

}  // namespace bochner
