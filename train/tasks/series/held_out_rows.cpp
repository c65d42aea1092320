#include <algorithm>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/layers/forecasts/ensemble.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/tasks/series/held_out_rows.hpp>
#include <bochner/train/tasks/series/row_forecasts.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t enough_origins = 100, most_pooled = 400;

/// Returns the factor for few independent errors.
double widening(const RowErrors& channel, double level) {
  if (channel.independent == 0) return 1;
  const double tail = (1 + level) / 2;
  return quantile::student(channel.independent, tail) / quantile::normal(tail);
}

/// Returns absolute errors of all leads in the mean of their own, ascending: at most `most_pooled`,
/// evenly spaced.
std::vector<double> pooled(const std::vector<double>& errors, const std::vector<double>& spread) {
  std::vector<double> all;
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (const double unit = spread[i % spread.size()]; unit > 0)
      all.push_back(std::abs(errors[i]) / unit);
  std::ranges::sort(all);
  std::vector<double> some;
  for (std::size_t i = 0; i < std::min(all.size(), most_pooled); ++i)
    some.push_back(all.size() <= most_pooled ? all[i]
                                             : all[(i + 1) * all.size() / most_pooled - 1]);
  return some;
}

}  // namespace

std::vector<double> HeldOutRows::scores(std::size_t channel, std::size_t lead, double level) const {
  const RowErrors& held = calibration_.channels[channel];
  const std::size_t H = calibration_.leads, n = held.count(H);
  const double factor = widening(held, level);
  std::vector<double> scores;
  if (n >= enough_origins) {
    for (std::size_t i = 0; i < n; ++i)
      scores.push_back(factor * std::abs(double(held.errors[i * H + lead])));
    return scores;
  }
  const std::vector<double> errors(held.errors.begin(), held.errors.end());
  const std::vector<double> spread = spread_of(errors, H);
  scores = pooled(errors, spread);
  for (double& score : scores) score *= factor * spread[lead];
  if (scores.empty()) scores.push_back(0);  // all forecasts were exact
  return scores;
}

std::vector<double> HeldOutRows::half_widths(std::size_t channel, double level) const {
  const std::size_t H = calibration_.leads, n = calibration_.channels[channel].count(H);
  std::vector<double> widths;
  for (std::size_t lead = 0; lead < H; ++lead) {
    widths.push_back(conformal_quantile(scores(channel, lead, level), level));
    demand(
        std::isfinite(widths.back()),
        "--coverage {}: is too high for {} held-out forecasts; ask for less, or hold out more rows",
        level, n);
  }
  return widths;
}

const ConformalRanks& HeldOutRows::ranks(std::size_t channel, std::size_t lead) {
  constexpr double usual_level = 0.9;
  const std::size_t key = channel * calibration_.leads + lead;
  const auto found = ranks_.find(key);
  if (found != ranks_.end()) return found->second;
  return ranks_.emplace(key, scores(channel, lead, usual_level)).first->second;
}

AdaptiveRows::AdaptiveRows(const HeldOutRows& held, std::size_t series, std::size_t variates,
                           double level)
    : variates_(variates), leads_(held.calibration().leads), next_(leads_) {
  for (std::size_t v = 0; v < variates; ++v)
    for (std::size_t lead = 0; lead < leads_; ++lead)
      intervals_.emplace_back(held.scores(series * variates + v, lead, level), level);
}

void AdaptiveRows::advance(std::size_t origin, const TimeSeries& series) {
  for (std::size_t lead = 0; lead < leads_; ++lead)
    for (std::size_t& i = next_[lead]; i < promises_.size() && promises_[i].origin + lead < origin;
         ++i)
      for (std::size_t v = 0; v < variates_; ++v) {
        const std::size_t at = v * leads_ + lead;
        const double truth = series.values(v, promises_[i].origin + lead);
        intervals_[at].observe(std::abs(truth - promises_[i].forecast[at]),
                               promises_[i].half_widths[at]);
      }
}

double AdaptiveRows::half_width(std::size_t variate, std::size_t lead) const {
  return intervals_[variate * leads_ + lead].bound();
}

void AdaptiveRows::add(std::size_t origin, const real* forecast) {
  Promise promise{origin, {forecast, forecast + variates_ * leads_}, {}};
  for (const AdaptiveConformal& interval : intervals_)
    promise.half_widths.push_back(interval.bound());
  promises_.push_back(std::move(promise));
}

Stillness stillness_of(const double* values, std::size_t rows) {
  constexpr double share = 0.05;
  constexpr std::size_t longest = 64;
  std::vector<double> changes;
  for (std::size_t row = 1; row < rows; ++row)
    changes.push_back(std::abs(values[row] - values[row - 1]));
  Stillness still{share * median(changes), std::vector<std::uint64_t>(longest + 1)};
  still.reached[0] = changes.size();
  std::size_t run = 0;
  for (const double change : changes) {
    run = change <= still.step ? run + 1 : 0;
    if (run > 0 && run <= longest) ++still.reached[run];
  }
  return still;
}

std::vector<std::size_t> evenly_spaced(std::size_t count, std::size_t n) {
  n = std::min(count, n);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < n; ++i) chosen.push_back(n == 1 ? 0 : i * (count - 1) / (n - 1));
  return chosen;
}

}  // namespace bochner
