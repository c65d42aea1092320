#include <algorithm>
#include <bochner/data/fields/bounding_box.hpp>

namespace bochner {

BoundingBox bounding_box_of(const std::vector<double>& places, std::size_t dimensions) {
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
