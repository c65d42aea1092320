#include <algorithm>
#include <bochner/data/series/wall_clock.hpp>
#include <iterator>

namespace bochner {

WallClock::WallClock(const std::vector<double>& times, const std::vector<double>& offsets) {
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (changes_.empty() || changes_.back().second != offsets[i])
      changes_.emplace_back(times[i], offsets[i]);
}

double WallClock::offset(double time) const {
  if (changes_.empty()) return 0;
  const auto later =
      std::ranges::upper_bound(changes_, time, {}, &std::pair<double, double>::first);
  return later == changes_.begin() ? changes_.front().second : std::prev(later)->second;
}

std::vector<double> WallClock::shown(const std::vector<double>& times) const {
  std::vector<double> all;
  for (const double time : times) all.push_back(shown(time));
  return all;
}

}  // namespace bochner
