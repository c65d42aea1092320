#include <algorithm>
#include <bochner/layers/encodings/place_scale.hpp>

namespace bochner::inline BOCHNER_PRECISION {

PlaceScale::PlaceScale(std::size_t dimensions)
    : origin_(zeros({dimensions})), extent_(filled({dimensions}, 1)), span_(filled({1}, 1)) {}

void PlaceScale::set(const std::vector<double>& origin, const std::vector<double>& extent,
                     double span) {
  require(origin.size() == origin_.size() && extent.size() == origin_.size(), "place_scale",
          "expected ", origin_.size(), " coordinates, got ", origin.size());
  std::copy(origin.begin(), origin.end(), origin_.data());
  std::copy(extent.begin(), extent.end(), extent_.data());
  span_.data()[0] = real(span);
}

Places PlaceScale::scaled(const std::vector<double>& places) const {
  const std::size_t d = origin_.size();
  Places scaled{d, places};
  for (std::size_t i = 0; i < places.size(); ++i)
    scaled.coordinates[i] =
        (places[i] - double(origin_.data()[i % d])) / double(extent_.data()[i % d]);
  return scaled;
}

}  // namespace bochner::inline BOCHNER_PRECISION
