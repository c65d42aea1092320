#pragma once
/// Expectations over the noise by the midpoint rule on its normal score.

#include <cstddef>
#include <vector>

namespace bochner {

struct WeightedPoint {
  double value, weight;
};

/// Points and weights of N(0, 1); the weights' sum is 1.
std::vector<WeightedPoint> normal_quadrature();
/// The same of chi_d, the length of a standard normal vector.
std::vector<WeightedPoint> chi_quadrature(std::size_t d);

}  // namespace bochner
