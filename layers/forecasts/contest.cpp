#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/layers/forecasts/ensemble.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_origins = 40, most_contested = 2000, fewest_origins = 4, combined = 3,
                      fits = 3;

/// Returns the rows before the first origin.
std::size_t rows_to_fit(std::size_t n, std::size_t H) {
  const std::size_t kept = std::min({std::max(3 * H, 3 * n / 10), n / 2, most_contested});
  return std::min(n - kept, n - H - fewest_origins + 1);
}

/// Returns numbers of rows before each origin, equally spaced, the last one first of all.
std::vector<std::size_t> origins_of(std::size_t first, std::size_t n, std::size_t H) {
  const std::size_t all = n - H - first + 1, count = std::min(all, most_origins);
  std::vector<std::size_t> origins;
  for (std::size_t i = 0; i < count; ++i) origins.push_back(first + i * (all - 1) / (count - 1));
  return origins;
}

/// Forecasts of a member from all origins, one after the other; empty if it was not fitted.
using Forecasts = std::vector<double>;

/// Fits the member again for each part of the origins.
Forecasts forecasts_of(const ForecastMember& member, Rows rows,
                       const std::vector<std::size_t>& origins) {
  const std::size_t part = (origins.size() - 1) / fits + 1;
  std::vector<double> state(member.size());
  Forecasts forecasts;
  if (member.least_rows() > origins[0]) return {};
  for (std::size_t i = 0; i < origins.size(); ++i) {
    if (i % part == 0 && !member.fit(rows.first(origins[i]), state)) return {};
    const std::vector<double> values = member.forecast(rows.first(origins[i]), state);
    forecasts.insert(forecasts.end(), values.begin(), values.end());
  }
  const bool finite = std::ranges::all_of(forecasts, [](double x) { return std::isfinite(x); });
  return finite ? forecasts : Forecasts();
}

double mean_absolute_error(const Forecasts& forecasts, const std::vector<double>& truth) {
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) sum += std::abs(forecasts[i] - truth[i]);
  return sum / double(truth.size());
}

/// Returns weights inverse to the squares of the least errors.
std::vector<double> combining_weights(const std::vector<double>& errors) {
  std::vector<std::size_t> order;
  for (std::size_t m = 0; m < errors.size(); ++m)
    if (errors[m] >= 0) order.push_back(m);
  std::ranges::stable_sort(order, {}, [&](std::size_t m) { return errors[m]; });
  order.resize(std::min(order.size(), combined));
  std::vector<double> weights(errors.size());
  if (errors[order[0]] == 0) return weights[order[0]] = 1, weights;
  double sum = 0;
  for (const std::size_t m : order) sum += weights[m] = std::pow(errors[order[0]] / errors[m], 2);
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// Fits the members with weights to all rows. Returns false if one cannot be, as for logarithms of
/// rows that are not positive at the end; it counts as not fitted then.
bool fit_weighted(const std::vector<NamedMember>& members, Rows rows, Contest& contest) {
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (contest.weights[m] == 0 || !contest.states[m].empty()) continue;
    contest.states[m].resize(members[m].forecast->size());
    if (members[m].forecast->fit(rows, contest.states[m])) continue;
    contest.states[m].clear();
    contest.errors[m] = -1;
    return false;
  }
  return true;
}

/// Returns the mean absolute error of each row of the horizon, over an eighth of it around. (H)
std::vector<double> spread_of(const std::vector<double>& residuals, std::size_t H) {
  std::vector<double> by_row(H), spread;
  for (std::size_t i = 0; i < residuals.size(); ++i) by_row[i % H] += std::abs(residuals[i]);
  const double origins = double(residuals.size() / H);
  const std::size_t around = H / 8;
  for (std::size_t h = 0; h < H; ++h) {
    const std::size_t first = h < around ? 0 : h - around, end = std::min(H, h + around + 1);
    const double sum = std::accumulate(by_row.begin() + std::ptrdiff_t(first),
                                       by_row.begin() + std::ptrdiff_t(end), 0.0);
    spread.push_back(sum / origins / double(end - first));
  }
  return spread;
}

/// Returns the conformal quantile of the absolute errors in spreads.
double band_of(const std::vector<double>& residuals, const std::vector<double>& spread,
               double level) {
  const std::size_t H = spread.size();
  const double origins = double(residuals.size() / H);
  std::vector<double> scaled;
  for (std::size_t i = 0; i < residuals.size(); ++i)
    if (spread[i % H] > 0) scaled.push_back(std::abs(residuals[i]) / spread[i % H]);
  return quantile_of(std::move(scaled), std::min(1.0, level * (1 + 1 / origins)));
}

}  // namespace

Contest compete(const std::vector<NamedMember>& members, Rows rows, std::size_t horizon) {
  const std::size_t n = rows.size(), H = horizon;
  require(n >= H + fewest_origins, "ensemble", "needs at least ", H + fewest_origins,
          " rows to forecast ", H, ", not ", n);
  const std::vector<std::size_t> origins = origins_of(rows_to_fit(n, H), n, H);
  std::vector<double> truth;
  for (const std::size_t origin : origins)
    truth.insert(truth.end(), rows.begin() + std::ptrdiff_t(origin),
                 rows.begin() + std::ptrdiff_t(origin + H));
  std::vector<Forecasts> forecasts(members.size());
  Contest contest{};
  contest.errors.assign(members.size(), -1);
  parallel_tasks(members.size(), [&](std::size_t m) {
    forecasts[m] = forecasts_of(*members[m].forecast, rows, origins);
    if (!forecasts[m].empty()) contest.errors[m] = mean_absolute_error(forecasts[m], truth);
  });
  contest.states.resize(members.size());
  do contest.weights = combining_weights(contest.errors);
  while (!fit_weighted(members, rows, contest));
  Forecasts mixed(truth.size());
  for (std::size_t m = 0; m < members.size(); ++m)
    for (std::size_t i = 0; contest.weights[m] > 0 && i < mixed.size(); ++i)
      mixed[i] += contest.weights[m] * forecasts[m][i];
  contest.error = mean_absolute_error(mixed, truth);
  for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] = truth[i] - mixed[i];
  contest.spread = spread_of(mixed, H);
  contest.bands = {band_of(mixed, contest.spread, 0.8), band_of(mixed, contest.spread, 0.95)};
  return contest;
}

}  // namespace bochner::inline BOCHNER_PRECISION
