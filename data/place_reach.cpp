#include <algorithm>
#include <bochner/data/place_reach.hpp>

namespace bochner {

PlaceReach reach_of(const std::vector<double>& places, std::size_t dimensions) {
  PlaceReach reach;
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
