#include <bochner/base/numeric/quantile.hpp>
#include <bochner/layers/encodings/scales.hpp>

namespace bochner::inline BOCHNER_PRECISION {

TimeScale::TimeScale() : origin_(zeros({1})), unit_(filled({1}, 1)) {}

void TimeScale::fit(const Times& times) {
  require(times.dimension() == 2 && times.size() > 0, "time_scale", "times must be (B, T)");
  const std::size_t T = times.shape()[1];
  std::vector<double> gaps;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double gap = i % T == 0 ? 0 : times.data()[i] - times.data()[i - 1];
    require(gap >= 0, "time_scale", "times must ascend within a sequence");
    if (gap > 0) gaps.push_back(gap);
  }
  origin_.data()[0] = real(*std::min_element(times.begin(), times.end()));
  if (!gaps.empty()) unit_.data()[0] = real(median(std::move(gaps)));
}

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
