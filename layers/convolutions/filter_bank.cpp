#include <algorithm>
#include <array>
#include <bochner/autodiff/ops.hpp>
#include <bochner/autodiff/ops/filter_pools.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/layers/convolutions/filter_bank.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t G = FilterBankSpec::group;
constexpr std::size_t lanes = response_lanes, most_channels_of_group = 8;

/// Returns dilations 1, 2, 4, ... whose filters are no longer than the series.
std::vector<FilterBank::Scale> scales_of(const FilterBankSpec& spec) {
  std::vector<FilterBank::Scale> scales;
  for (std::size_t d = 1; d == 1 || (spec.taps - 1) * d < spec.length; d *= 2) {
    scales.push_back({d, false});
    if (spec.differences) scales.push_back({d, true});
  }
  return scales;
}

/// Returns normal weights for at most eight channels, and 0 for the others; 1 for a single channel.
void draw_weights(std::span<real> weights, Draws draws) {
  std::ranges::fill(weights, real(0));
  const std::size_t C = weights.size(), most = std::min(C, most_channels_of_group),
                    count = 1 + std::min(most - 1, std::size_t(draws.uniform() * double(most)));
  const std::vector<std::size_t> order = draws.shuffled(C);
  for (std::size_t k = 0; k < count; ++k)
    weights[order[k]] = C == 1 ? real(1) : real(draws.normal());
}

/// Returns the shape of the weights of channels; throws std::invalid_argument for too many.
Shape shape_of_weights(const FilterBankSpec& spec, std::size_t scales) {
  constexpr std::size_t most = std::size_t(1) << 28;
  require(spec.channels <= most / (scales * spec.groups), "filter bank", spec.channels,
          " channels are too many for ", scales * spec.groups, " groups; lower groups");
  return {scales, spec.groups, spec.channels};
}

/// Puts values on lines between those that are not NaN; 0 if there are none.
void interpolate(std::span<real> values) {
  const std::size_t n = values.size();
  std::size_t last = n;  // index of the last value that is there
  for (std::size_t i = 0; i <= n; ++i) {
    if (i < n && std::isnan(values[i])) continue;
    const std::size_t first = last == n ? 0 : last + 1;
    for (std::size_t j = first; j < i && j < n; ++j) {
      if (i == n)
        values[j] = last == n ? real(0) : values[last];
      else
        values[j] =
            last == n ? values[i]
                      : values[last] + (values[i] - values[last]) * real(j - last) / real(i - last);
    }
    last = i;
  }
}

void standardize(std::span<real> values) {
  double sum = 0, squares = 0;
  for (const real x : values) sum += double(x);
  const double mean = sum / double(values.size());
  for (const real x : values) squares += (double(x) - mean) * (double(x) - mean);
  const double deviation = std::sqrt(squares / double(values.size()));
  for (real& x : values) x = real((double(x) - mean) / (deviation > 0 ? deviation : 1));
}

/// Sums of a group over the rows, by lane. `more`: for "maximum" and "mean" too.
struct GroupSums {
  real wins[G][lanes] = {}, least[G][lanes] = {}, above[G][lanes] = {}, total[G][lanes] = {},
       largest[G][lanes];

  GroupSums() {
    for (auto& each : largest) std::fill_n(each, lanes, -std::numeric_limits<real>::infinity());
  }

  template <std::size_t width, bool more>
  void add(const real* responses, std::size_t rows, std::size_t t, const real* quantiles) {
    real top[width], low[width];
    std::copy_n(responses + t, width, top);
    std::copy_n(responses + t, width, low);
    for (std::size_t f = 0; f < G; ++f) {
      const real* y = responses + f * rows + t;
      for (std::size_t i = 0; i < width; ++i) {
        top[i] = y[i] > top[i] ? y[i] : top[i];
        low[i] = y[i] < low[i] ? y[i] : low[i];
        above[f][i] += y[i] > quantiles[f] ? real(1) : real(0);
      }
      for (std::size_t i = 0; i < width && more; ++i) {
        total[f][i] += y[i];
        largest[f][i] = y[i] > largest[f][i] ? y[i] : largest[f][i];
      }
    }
    for (std::size_t f = 0; f < G; ++f) {
      const real* y = responses + f * rows + t;
      for (std::size_t i = 0; i < width; ++i) {
        wins[f][i] += y[i] == top[i] ? y[i] : real(0);
        least[f][i] += y[i] == low[i] ? real(1) : real(0);
      }
    }
  }
};

/// Returns the sum over the lanes, in pairs.
double sum_of(const real (&each)[lanes]) {
  real sums[lanes / 2];
  for (std::size_t i = 0; i < lanes / 2; ++i) sums[i] = each[i] + each[i + lanes / 2];
  for (std::size_t half = lanes / 4; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  return double(sums[0]);
}

/// Sets the sums over the lanes. `more`: of all responses, and the largest, too.
void total(const GroupSums& sums, bool more, FilterTotals (&totals)[G]) {
  for (std::size_t f = 0; f < G; ++f) {
    totals[f] = {sum_of(sums.wins[f]), sum_of(sums.least[f]), sum_of(sums.above[f])};
    if (!more) continue;
    totals[f].sum = sum_of(sums.total[f]);
    totals[f].largest =
        double(*std::max_element(std::begin(sums.largest[f]), std::end(sums.largest[f])));
  }
}

/// The features of a filter that a pool has.
std::size_t pool_size(const std::string& pool) { return pool == "winners" ? 2 : 1; }

/// Writes the features of a filter that a pool has, `stride` apart.
void write_pool(const std::string& pool, const FilterTotals& totals, double rows,
                std::size_t stride, real* out) {
  if (pool == "winners") {
    out[0] = real(std::sqrt(std::max(0.0, totals.wins / rows)));
    out[stride] = real(std::sqrt(totals.least / rows));
  } else if (pool == "positive") {
    out[0] = real(totals.above / rows);
  } else {
    out[0] = real(pool == "mean" ? totals.sum / rows : totals.largest);
  }
}

/// Returns the number in the middle between a quantile and the next larger number, so that none of
/// them equals it.
double number_between(std::vector<double> numbers, double part) {
  const auto at = numbers.begin() + std::ptrdiff_t(part * double(numbers.size() - 1));
  std::ranges::nth_element(numbers, at);
  double next = std::numeric_limits<double>::infinity();
  for (auto each = at; each != numbers.end(); ++each)
    if (*each > *at) next = std::min(next, *each);
  return std::isfinite(next) ? (*at + next) / 2 : *at;
}

DensitySpec completed(const FilterBankSpec& spec, std::size_t scales) {
  DensitySpec density = spec.density;
  density.heads = spec.each_scale ? scales : 1;
  density.m = scales * spec.filters() / density.heads;
  density.dim = spec.taps;
  return density;
}

}  // namespace

FilterBank::FilterBank(const FilterBankSpec& spec)
    : spec_(spec),
      scales_(scales_of(spec)),
      density_(make_density(completed(spec, scales_.size()))),
      units_(filled({spec.channels, 2}, 1)),
      weights_(shape_of_weights(spec, scales_.size())),
      quantiles_(filled({scales_.size(), spec.filters()}, 0)),
      deviations_(filled({scales_.size(), spec.groups}, 1)) {
  for (std::size_t c = 0; c < spec.channels; ++c) units_(c, 0) = 0;
  const std::uint64_t channels = bochner::stream_of("filter_bank.channels");
  for (std::size_t g = 0; g < scales_.size() * spec.groups; ++g)
    draw_weights({weights_.value().data() + g * spec.channels, spec.channels},
                 Draws({spec.seed, Purpose::initialization, channels + g}));
  mask_ = weights_.value();
  for (real& each : mask_) each = each != 0;
}

std::size_t FilterBank::size() const {
  std::size_t each = 0;
  for (const std::string& pool : spec_.pools) each += pool_size(pool);
  return each * scales_.size() * spec_.filters();
}

Var FilterBank::filters(Tape& tape) {
  const real least = std::numeric_limits<real>::min();
  const Var draws = reshape(density_->draws(tape), {scales_.size(), spec_.filters(), spec_.taps}),
            centred = draws - mean(draws, -1, keep);
  return centred / maximum(sum(abs(centred), -1, keep), Var(filled({}, least)));
}

Tensor FilterBank::filters() {
  Tape tape({.recording = false});
  return filters(tape).value();
}

std::vector<real> FilterBank::standardized(SeriesValues series) const {
  const std::size_t C = spec_.channels, rows = series.size() / C;
  std::vector<real> values(series.size());
  for (std::size_t c = 0; c < C; ++c) {
    const std::span<real> channel(values.data() + c * rows, rows);
    for (std::size_t t = 0; t < rows; ++t) channel[t] = in_unit(series[c * rows + t], c);
    interpolate(channel);
    if (spec_.standardize == "series") standardize(channel);
  }
  return values;
}

std::vector<real> FilterBank::rows_of(const std::vector<real>& series, std::size_t scale) const {
  const std::size_t C = spec_.channels, T = series.size() / C;
  const bool differences = scales_[scale].differences && T > 1;
  if (!differences) return series;
  const std::size_t rows = T - 1;
  std::vector<real> changes(C * rows);
  for (std::size_t c = 0; c < C; ++c)
    for (std::size_t t = 0; t < rows; ++t)
      changes[c * rows + t] = series[c * T + t + 1] - series[c * T + t];
  return changes;
}

template <class Take>
void FilterBank::respond(const std::vector<real>& series, const Tensor& filters,
                         const Take& take) const {
  const std::size_t C = spec_.channels, T = series.size() / C, L = spec_.taps;
  std::vector<real> signal, responses(G * T);
  for (std::size_t s = 0; s < scales_.size(); ++s) {
    const std::vector<real> channels = rows_of(series, s);
    const std::size_t d = scales_[s].dilation, rows = channels.size() / C;
    signal.resize(rows + (L - 1) * d);
    for (std::size_t g = 0; g < spec_.groups; ++g) {
      const std::size_t group = s * spec_.groups + g;
      mix_channels(channels.data(), C, rows, weights_.value().data() + group * C, L, d,
                   signal.data());
      bochner::respond(signal.data(), d, filters.data() + group * G * L, L, rows, responses.data());
      take(s, g, responses.data(), rows);
    }
  }
}

void FilterBank::fit(const std::vector<SeriesValues>& series) {
  for (std::size_t c = 0; c < spec_.channels; ++c) {
    double count = 0, sum = 0, squares = 0;
    const auto each = [&](const auto& add) {
      for (const SeriesValues& one : series) {
        const std::size_t rows = one.size() / spec_.channels;
        for (const float x : one.subspan(c * rows, rows))
          if (!std::isnan(x)) add(double(x));
      }
    };
    each([&](double x) { sum += x, ++count; });
    const double mean = count > 0 ? sum / count : 0;
    each([&](double x) { squares += (x - mean) * (x - mean); });
    const double deviation = count > 0 ? std::sqrt(squares / count) : 0;
    units_(c, 0) = real(mean);
    units_(c, 1) = real(deviation > 0 ? deviation : 1);
  }
  fit_quantiles(series);
}

void FilterBank::fit_quantiles(const std::vector<SeriesValues>& series) {
  constexpr std::size_t most_series = 16, rows_of_series = 64;
  constexpr double golden = 0.6180339887498949;
  const Tensor all = filters();
  const std::size_t F = scales_.size() * spec_.filters(),
                    shown = std::min(series.size(), most_series);
  std::vector<real> seen(F * shown * rows_of_series);  // responses at equal steps
  parallel_tasks(shown, [&](std::size_t i) {
    respond(standardized(series[i * series.size() / shown]), all,
            [&](std::size_t s, std::size_t g, const real* responses, std::size_t rows) {
              for (std::size_t f = 0; f < G; ++f)
                for (std::size_t k = 0; k < rows_of_series; ++k)
                  seen[((s * spec_.filters() + g * G + f) * shown + i) * rows_of_series + k] =
                      responses[f * rows + (2 * k + 1) * rows / (2 * rows_of_series)];
            });
  });
  const std::size_t count = shown * rows_of_series;
  parallel_tasks(F / G, [&](std::size_t group) {
    double squares = 0;
    for (std::size_t f = group * G; f < (group + 1) * G; ++f) {
      const double part = double(f + 1) * golden;
      const auto begin = seen.begin() + std::ptrdiff_t(f * count);
      std::vector<double> numbers(begin, begin + std::ptrdiff_t(count));
      for (const double y : numbers) squares += y * y;
      quantiles_.data()[f] = real(number_between(std::move(numbers), part - std::floor(part)));
    }
    const double deviation = std::sqrt(squares / double(G * count));
    deviations_.data()[group] = real(deviation > 0 ? deviation : 1);
  });
}

Tensor FilterBank::features(const std::vector<SeriesValues>& series) {
  const Tensor all = filters();
  const std::size_t size = this->size(), F = spec_.filters();
  const bool more = std::ranges::any_of(
      spec_.pools, [](const std::string& pool) { return pool == "maximum" || pool == "mean"; });
  Tensor features = uninitialized({series.size(), size});
  parallel_tasks(series.size(), [&](std::size_t i) {
    real* out = features.data() + i * size;
    respond(standardized(series[i]), all,
            [&](std::size_t s, std::size_t g, const real* responses, std::size_t rows) {
              const real* quantiles = quantiles_.data() + s * F + g * G;
              GroupSums sums;
              for_response_chunks(rows, [&]<std::size_t width>(std::size_t t) {
                more ? sums.add<width, true>(responses, rows, t, quantiles)
                     : sums.add<width, false>(responses, rows, t, quantiles);
              });
              FilterTotals totals[G];
              total(sums, more, totals);
              write_features(s, g, totals, double(rows), out);
            });
  });
  return features;
}

void FilterBank::write_features(std::size_t scale, std::size_t group,
                                const FilterTotals (&totals)[G], double rows, real* out) const {
  const std::size_t F = spec_.filters();
  real* at = out + scale * (size() / scales_.size()) + group * G;
  for (const std::string& pool : spec_.pools) {
    for (std::size_t f = 0; f < G; ++f) write_pool(pool, totals[f], rows, F, at + f);
    at += pool_size(pool) * F;
  }
}

Var FilterBank::soft_features_of(const Var& filters, const Var& weights,
                                 const std::vector<std::vector<real>>& series,
                                 std::size_t scale) const {
  const std::size_t n = series.size(), F = spec_.filters();
  auto channels = std::make_shared<SeriesChannels>(SeriesChannels{spec_.channels, {}});
  for (const std::vector<real>& one : series) channels->values.push_back(rows_of(one, scale));
  Tensor thresholds = uninitialized({F}), temperatures = uninitialized({spec_.groups});
  std::copy_n(quantiles_.data() + scale * F, F, thresholds.data());
  for (std::size_t g = 0; g < spec_.groups; ++g)
    temperatures(g) = real(spec_.temperature) * deviations_(scale, g);
  const Var each = reshape(slice(filters, 0, scale, scale + 1), {spec_.groups, G, spec_.taps}),
            sums = reshape(slice(weights, 0, scale, scale + 1), {spec_.groups, spec_.channels}),
            pools = soft_filter_pools(each, sums, channels, scales_[scale].dilation, thresholds,
                                      temperatures);
  const auto pool = [&](FilterPool which) {
    return reshape(slice(pools, 1, std::size_t(which), std::size_t(which) + 1), {n, F});
  };
  const auto root = [](const Var& x) {
    constexpr double least = 1e-6;
    return sqrt(maximum(x, Var(filled({}, real(least)))));
  };
  std::vector<Var> parts;
  for (const std::string& name : spec_.pools) {
    if (name == "winners") {
      parts.push_back(root(pool(FilterPool::wins)));
      parts.push_back(root(pool(FilterPool::least)));
    } else {
      parts.push_back(pool(name == "positive" ? FilterPool::above
                           : name == "mean"   ? FilterPool::mean
                                              : FilterPool::largest));
    }
  }
  return concat(parts, 1);
}

Var FilterBank::soft_features(Tape& tape, const std::vector<SeriesValues>& series) {
  std::vector<std::vector<real>> standard;
  for (const SeriesValues& one : series) standard.push_back(standardized(one));
  const Var all = filters(tape), weights = spec_.channels > 1 ? tape(weights_) * tape.view(mask_)
                                                              : tape.view(weights_.value());
  std::vector<Var> parts;
  for (std::size_t s = 0; s < scales_.size(); ++s)
    parts.push_back(soft_features_of(all, weights, standard, s));
  return concat(parts, 1);
}

void FilterBank::visit(Visitor& visitor) {
  visitor("density", *density_);
  visitor("units", units_);
  visitor("channel_weights", weights_);
  visitor("quantiles", quantiles_);
  visitor("deviations", deviations_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
