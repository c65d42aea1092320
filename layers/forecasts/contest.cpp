#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/layers/forecasts/ensemble.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_contested = 2000, fewest_contested = 60, fewest_origins = 4,
                      combined = 6, fits = 3;
constexpr std::array band_levels = {0.8, 0.95};

/// Returns the rows before the first origin: as many as the members need that leave four origins;
/// the second one, the last season, may leave only one.
std::size_t rows_to_fit(const std::vector<NamedMember>& members, std::size_t n, std::size_t H) {
  const std::size_t kept =
      std::min({std::max({3 * H, 3 * n / 10, fewest_contested}), n / 2, most_contested});
  std::size_t latest = n - H - fewest_origins + 1, first = n - kept;
  if (members.size() > 1)
    latest = std::min(n - H, std::max(latest, members[1].forecast->least_rows()));
  for (const NamedMember& member : members)
    if (const std::size_t least = member.forecast->least_rows(); least <= latest)
      first = std::max(first, least);
  return std::min(first, latest);
}

/// Returns numbers of rows before each origin, equally spaced, the last one first of all.
std::vector<std::size_t> origins_of(std::size_t first, std::size_t n, std::size_t H) {
  const std::size_t all = n - H - first + 1, count = std::min(all, Ensemble::most_origins);
  std::vector<std::size_t> origins = {first};
  for (std::size_t i = 1; i < count; ++i) origins.push_back(first + i * (all - 1) / (count - 1));
  return origins;
}

/// Forecasts of a member from all origins, or their errors, one after the other; empty if it was
/// not fitted.
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

/// Returns truth minus forecasts.
Forecasts errors_of(const ForecastMember& member, Rows rows,
                    const std::vector<std::size_t>& origins, std::size_t H) {
  Forecasts errors = forecasts_of(member, rows, origins);
  for (std::size_t i = 0; i < errors.size(); ++i)
    errors[i] = rows[origins[i / H] + i % H] - errors[i];
  return errors;
}

double mean_absolute(const std::vector<double>& errors) {
  double sum = 0;
  for (const double error : errors) sum += std::abs(error);
  return sum / double(errors.size());
}

double mean_product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0) / double(a.size());
}

/// Returns the members of least mean squared error, at most `combined`, the best first.
std::vector<std::size_t> best_members(const std::vector<Forecasts>& errors) {
  std::vector<std::size_t> order;
  std::vector<double> squares(errors.size());
  for (std::size_t m = 0; m < errors.size(); ++m) {
    if (errors[m].empty()) continue;
    order.push_back(m);
    squares[m] = mean_product(errors[m], errors[m]);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t m) { return squares[m]; });
  order.resize(std::min(order.size(), combined));
  return order;
}

/// Returns the minimum of w^T A w - 2 b^T w with sum 1. A (n, n), positive definite
std::vector<double> least_squares_of_sum_one(std::vector<double> A, std::vector<double> b) {
  const std::size_t n = b.size();
  std::vector<double> ones(n, 1);
  cholesky(n, A.data());
  for (auto* x : {&b, &ones}) {
    solve_lower(n, A.data(), 1, x->data());
    solve_lower_transposed(n, A.data(), 1, x->data());
  }
  const double slack = (1 - std::accumulate(b.begin(), b.end(), 0.0)) /
                       std::accumulate(ones.begin(), ones.end(), 0.0);
  for (std::size_t i = 0; i < n; ++i) b[i] += slack * ones[i];
  return b;
}

/// Returns weights, none negative, by the errors of the members at all origins. (M)
std::vector<double> combining_weights(const std::vector<Forecasts>& errors) {
  constexpr double shrinkage = 1;  // of weights to the prior ones, in the least squared error
  std::vector<std::size_t> order = best_members(errors);
  std::vector<double> weights(errors.size());
  const double least = mean_product(errors[order[0]], errors[order[0]]);
  if (least == 0) return weights[order[0]] = 1, weights;
  while (true) {
    const std::size_t n = order.size();
    std::vector<double> products, prior;
    for (const std::size_t i : order)
      for (const std::size_t j : order)
        products.push_back(mean_product(errors[i], errors[j]) / least + (i == j) * shrinkage);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      prior.push_back(std::pow(products[i * n + i] - shrinkage, -2));
      sum += prior.back();
    }
    for (double& weight : prior) weight *= shrinkage / sum;
    const std::vector<double> found = least_squares_of_sum_one(products, prior);
    const auto worst = std::ranges::min_element(found);
    if (*worst < 0) {
      order.erase(order.begin() + (worst - found.begin()));
      continue;
    }
    for (std::size_t i = 0; i < n; ++i) weights[order[i]] = found[i];
    return weights;
  }
}

/// Fits the members with weights to all rows. Returns false if one cannot be, as for logarithms of
/// rows that are not positive at the end; it counts as not fitted then.
bool fit_weighted(const std::vector<NamedMember>& members, Rows rows, Contest& contest,
                  std::vector<Forecasts>& errors) {
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (contest.weights[m] == 0 || !contest.states[m].empty()) continue;
    contest.states[m].resize(members[m].forecast->size());
    if (members[m].forecast->fit(rows, contest.states[m])) continue;
    contest.states[m].clear();
    contest.errors[m] = -1;
    errors[m].clear();
    return false;
  }
  return true;
}

/// Returns how many independent errors there are about: half of `horizons`, for the members were
/// chosen by the same errors, times the variance of an error over that of the mean of a horizon.
double independent_errors(const std::vector<double>& residuals, std::size_t H, double horizons) {
  double of_means = 0;
  for (auto first = residuals.begin(); first < residuals.end(); first += std::ptrdiff_t(H))
    of_means += std::pow(std::accumulate(first, first + std::ptrdiff_t(H), 0.0) / double(H), 2);
  of_means /= double(residuals.size() / H);
  return of_means > 0 ? horizons / 2 * mean_product(residuals, residuals) / of_means : horizons / 2;
}

/// Returns the half width of a band in spreads: the conformal quantile of the absolute errors,
/// times that of Student's t over the normal one, whose degrees of freedom are the independent
/// errors.
double band_of(const std::vector<double>& residuals, const std::vector<double>& spread,
               double horizons, double level) {
  const std::size_t H = spread.size();
  const double origins = double(residuals.size() / H), tail = (1 + level) / 2;
  std::vector<double> scaled;
  for (std::size_t i = 0; i < residuals.size(); ++i)
    if (spread[i % H] > 0) scaled.push_back(std::abs(residuals[i]) / spread[i % H]);
  return quantile_of(std::move(scaled), std::min(1.0, level * (1 + 1 / origins))) *
         quantile::student(std::max(independent_errors(residuals, H, horizons), 2.0), tail) /
         quantile::normal(tail);
}

/// Sets the error, the bands and how many of the later errors those of the earlier ones cover.
void measure(Contest& contest, std::size_t H, double horizons) {
  const std::vector<double>& residuals = contest.residuals;
  const auto middle = residuals.begin() + std::ptrdiff_t(residuals.size() / H / 2 * H);
  const std::vector<double> late(middle, residuals.end()),
      early = middle == residuals.begin() ? late : std::vector<double>(residuals.begin(), middle);
  const std::vector<double> early_spread = spread_of(early, H);
  contest.error = mean_absolute(residuals);
  contest.spread = spread_of(residuals, H);
  for (std::size_t b = 0; b < band_levels.size(); ++b) {
    contest.bands[b] = band_of(residuals, contest.spread, horizons, band_levels[b]);
    const double width = band_of(early, early_spread, horizons / 2, band_levels[b]);
    std::size_t within = 0;
    for (std::size_t i = 0; i < late.size(); ++i)
      within += std::abs(late[i]) <= width * early_spread[i % H];
    contest.covered[b] = double(within) / double(late.size());
  }
}

}  // namespace

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

double independent_errors(const Contest& contest, std::size_t horizon) {
  const double rows = double(contest.origins.back() + horizon - contest.origins.front());
  return std::max(2.0, independent_errors(contest.residuals, horizon, rows / double(horizon)));
}

Contest compete(const std::vector<NamedMember>& members, Rows rows, std::size_t horizon,
                Rows effects) {
  const std::size_t n = rows.size(), H = horizon;
  require(n >= H + fewest_origins, "ensemble", "needs at least ", H + fewest_origins,
          " rows to forecast ", H, ", not ", n);
  const std::vector<std::size_t> origins = origins_of(rows_to_fit(members, n, H), n, H);
  std::vector<Forecasts> errors(members.size());
  Contest contest{};
  contest.errors.assign(members.size(), -1);
  parallel_tasks(members.size(), [&](std::size_t m) {
    errors[m] = errors_of(*members[m].forecast, rows, origins, H);
    if (!errors[m].empty()) contest.errors[m] = mean_absolute(errors[m]);
  });
  contest.states.resize(members.size());
  do contest.weights = combining_weights(errors);
  while (!fit_weighted(members, rows, contest, errors));
  contest.residuals.resize(origins.size() * H);
  for (std::size_t m = 0; m < members.size(); ++m)
    for (std::size_t i = 0; contest.weights[m] > 0 && i < contest.residuals.size(); ++i)
      contest.residuals[i] += contest.weights[m] * errors[m][i];
  std::vector<double> whole(rows.begin(), rows.end());
  for (std::size_t i = 0; i < effects.size(); ++i) whole[i] += effects[i];
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (effects.empty() || !members[m].is_naive() || contest.errors[m] < 0) continue;
    errors[m] = errors_of(*members[m].forecast, whole, origins, H);
    contest.errors[m] = mean_absolute(errors[m]);
  }
  contest.naive = best_naive(members, contest.errors);
  contest.naive_spread = spread_of(errors[contest.naive], H);
  contest.origins = origins;
  measure(contest, H, double(n - origins[0]) / double(H));
  return contest;
}

}  // namespace bochner::inline BOCHNER_PRECISION
