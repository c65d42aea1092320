#include <algorithm>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/layers/encodings/time_scale.hpp>

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

Times TimeScale::scaled(const Times& times) const {
  const double origin = double(origin_.data()[0]), unit = double(unit_.data()[0]);
  Times scaled = times;
  for (double& time : scaled) time = (time - origin) / unit;
  return scaled;
}

}  // namespace bochner::inline BOCHNER_PRECISION
