#include <algorithm>
#include <bochner/base/numeric/conformal.hpp>
#include <bochner/train/tasks/conformal/calibration.hpp>
#include <cmath>

namespace bochner {

void Calibration::check() const {
  const auto is_whole = [&](const RowErrors& channel) {
    return leads > 0 && channel.errors.size() % leads == 0;
  };
  if (!std::ranges::all_of(channels, is_whole))
    throw DataError("a calibration whose errors do not fit ", leads, " rows");
  if (!ends.empty() && (channels.empty() || channels.size() % ends.size() != 0))
    throw DataError("a calibration of ", channels.size(), " variates with the ends of ",
                    ends.size(), " series");
  const auto is_finite = [](double x) { return std::isfinite(x); };
  for (const RowErrors& channel : channels)
    if (!std::ranges::all_of(channel.errors, is_finite) || !(channel.independent >= 0))
      throw DataError("a calibration with errors that are not finite");
  for (const std::vector<double>& some : scores)
    if (!std::ranges::all_of(some, is_finite))
      throw DataError("a calibration with scores that are not finite");
  if (!classes.empty() && classes.size() != scores.size())
    throw DataError("a calibration of ", classes.size(), " classes with the scores of ",
                    scores.size());
}

std::vector<double> class_bounds(const Calibration& calibration, double level) {
  std::vector<double> bounds;
  for (const std::vector<double>& scores : calibration.scores)
    bounds.push_back(conformal_quantile(scores, level));
  return bounds;
}

}  // namespace bochner
