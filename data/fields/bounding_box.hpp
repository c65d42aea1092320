#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace bochner {

/// Smallest coordinates of a set of places, and their range. (d) each
struct BoundingBox {
  std::vector<double> origin, extent;
};
/// Returns the bounding box of places (n, d); an extent of 0 becomes 1.
inline BoundingBox bounding_box_of(const std::vector<double>& places, std::size_t dimensions) {
  BoundingBox reach;
  for (std::size_t j = 0; j < dimensions; ++j) {
    double lowest = places[j], highest = lowest;
    for (std::size_t i = j; i < places.size(); i += dimensions)
      lowest = std::min(lowest, places[i]), highest = std::max(highest, places[i]);
    reach.origin.push_back(lowest);
    reach.extent.push_back(highest > lowest ? highest - lowest : 1);
  }
  return reach;
}

}  // namespace bochner
