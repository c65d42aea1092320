#include <algorithm>
#include <array>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/layers/convolutions/filter_bank.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t G = FilterBankSpec::group;
constexpr std::size_t lanes = 32, most_channels_of_group = 8;

/// Returns dilations 1, 2, 4, ... whose filters are no longer than the series.
std::vector<FilterBank::Scale> scales_of(const FilterBankSpec& spec) {
  std::vector<FilterBank::Scale> scales;
  for (std::size_t d = 1; d == 1 || (spec.taps - 1) * d < spec.length; d *= 2) {
    scales.push_back({d, false});
    if (spec.differences) scales.push_back({d, true});
  }
  return scales;
}

/// Returns a random half of the channels, at most eight.
std::vector<std::size_t> random_channels(std::size_t channels, Draws draws) {
  std::vector<std::size_t> all = draws.shuffled(channels);
  all.resize(std::clamp<std::size_t>(channels / 2, 1, most_channels_of_group));
  std::ranges::sort(all);
  return all;
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

/// Computes responses (8, rows) of a group to a padded signal (rows + (taps - 1) dilation), `width`
/// rows from t on.
template <std::size_t width>
void respond_at(const real* signal, std::size_t dilation, const real* filters, std::size_t taps,
                std::size_t rows, std::size_t t, real* responses) {
  constexpr std::size_t together = 4;  // filters whose sums stay in registers
  for (std::size_t f = 0; f < G; f += together) {
    real sums[together][width] = {};
    for (std::size_t j = 0; j < taps; ++j) {
      const real* x = signal + t + j * dilation;
      for (std::size_t k = 0; k < together; ++k) {
        const real w = filters[(f + k) * taps + j];
        for (std::size_t i = 0; i < width; ++i) sums[k][i] += w * x[i];
      }
    }
    for (std::size_t k = 0; k < together; ++k)
      std::copy_n(sums[k], width, responses + (f + k) * rows + t);
  }
}

/// Sums of a group over the rows, by lane.
struct GroupSums {
  real wins[G][lanes] = {}, least[G][lanes] = {}, above[G][lanes] = {}, total[G][lanes] = {},
       largest[G][lanes];

  GroupSums() {
    for (auto& each : largest) std::fill_n(each, lanes, -std::numeric_limits<real>::infinity());
  }

  template <std::size_t width>
  void add(const real* responses, std::size_t rows, std::size_t t, const real* quantiles) {
    real top[width], low[width], top_at[width] = {}, low_at[width] = {};
    std::copy_n(responses + t, width, top);
    std::copy_n(responses + t, width, low);
    for (std::size_t f = 0; f < G; ++f) {
      const real* y = responses + f * rows + t;
      for (std::size_t i = 0; i < width; ++i) {
        top_at[i] = y[i] > top[i] ? real(f) : top_at[i];
        top[i] = y[i] > top[i] ? y[i] : top[i];
        low_at[i] = y[i] < low[i] ? real(f) : low_at[i];
        low[i] = y[i] < low[i] ? y[i] : low[i];
        above[f][i] += y[i] > quantiles[f] ? real(1) : real(0);
        total[f][i] += y[i];
        largest[f][i] = y[i] > largest[f][i] ? y[i] : largest[f][i];
      }
    }
    for (std::size_t f = 0; f < G; ++f)
      for (std::size_t i = 0; i < width; ++i) {
        wins[f][i] += top_at[i] == real(f) ? top[i] : real(0);
        least[f][i] += low_at[i] == real(f) ? real(1) : real(0);
      }
  }
};

double sum_of(const real (&each)[lanes]) {
  return std::accumulate(std::begin(each), std::end(each), 0.0);
}

/// The features of a filter that a pool has.
std::size_t pool_size(const std::string& pool) { return pool == "winners" ? 2 : 1; }

/// Writes the features of a pool for filter f of a group, `stride` apart.
void write_pool(const std::string& pool, const GroupSums& sums, std::size_t f, std::size_t rows,
                std::size_t stride, real* out) {
  const double n = double(rows);
  if (pool == "winners") {
    out[0] = real(std::sqrt(std::max(0.0, sum_of(sums.wins[f]) / n)));
    out[stride] = real(std::sqrt(sum_of(sums.least[f]) / n));
  } else if (pool == "positive") {
    out[0] = real(sum_of(sums.above[f]) / n);
  } else if (pool == "mean") {
    out[0] = real(sum_of(sums.total[f]) / n);
  } else {
    out[0] = *std::max_element(std::begin(sums.largest[f]), std::end(sums.largest[f]));
  }
}

DensitySpec completed(const FilterBankSpec& spec, std::size_t scales) {
  DensitySpec density = spec.density;
  density.heads = 1;
  density.m = scales * spec.filters();
  density.dim = spec.taps;
  return density;
}

}  // namespace

FilterBank::FilterBank(const FilterBankSpec& spec)
    : spec_(spec),
      scales_(scales_of(spec)),
      density_(make_density(completed(spec, scales_.size()))),
      units_(filled({spec.channels, 2}, 1)),
      quantiles_(filled({scales_.size(), spec.filters()}, 0)) {
  for (std::size_t c = 0; c < spec.channels; ++c) units_(c, 0) = 0;
  const std::uint64_t channels = bochner::stream_of("filter_bank.channels");
  for (std::size_t g = 0; g < scales_.size() * spec.groups; ++g)
    channels_.push_back(
        random_channels(spec.channels, Draws({spec.seed, Purpose::initialization, channels + g})));
}

std::size_t FilterBank::size() const {
  std::size_t each = 0;
  for (const std::string& pool : spec_.pools) each += pool_size(pool);
  return each * scales_.size() * spec_.filters();
}

Tensor FilterBank::filters() {
  Tape tape({.recording = false});
  Tensor filters = density_->draws(tape).value();
  const std::size_t L = spec_.taps;
  for (real* w = filters.data(); w < filters.data() + filters.size(); w += L) {
    const real mean = std::accumulate(w, w + L, real(0)) / real(L);
    real sum = 0;
    for (std::size_t j = 0; j < L; ++j) sum += std::abs(w[j] -= mean);
    for (std::size_t j = 0; j < L && sum > 0; ++j) w[j] /= sum;
  }
  filters.reshape(Shape{scales_.size(), spec_.filters(), L});
  return filters;
}

std::vector<real> FilterBank::standardized(SeriesValues series) const {
  const std::size_t C = spec_.channels, rows = series.size() / C;
  std::vector<real> values(series.size());
  for (std::size_t c = 0; c < C; ++c) {
    const std::span<real> channel(values.data() + c * rows, rows);
    for (std::size_t t = 0; t < rows; ++t)
      channel[t] =
          real((double(series[c * rows + t]) - double(units_(c, 0))) / double(units_(c, 1)));
    interpolate(channel);
    if (spec_.standardize == "series") standardize(channel);
  }
  return values;
}

template <class Take>
void FilterBank::respond(const std::vector<real>& series, const Tensor& filters,
                         const Take& take) const {
  const std::size_t C = spec_.channels, T = series.size() / C, L = spec_.taps;
  std::vector<real> signal, responses(G * T);
  for (std::size_t s = 0; s < scales_.size(); ++s) {
    const auto [d, differences] = scales_[s];
    const std::size_t rows = differences && T > 1 ? T - 1 : T, pad = L / 2 * d;
    for (std::size_t g = 0; g < spec_.groups; ++g) {
      signal.assign(rows + (L - 1) * d, 0);
      for (const std::size_t c : channels_of(s, g)) {
        const real* x = series.data() + c * T;
        for (std::size_t t = 0; t < rows; ++t)
          signal[pad + t] += differences && T > 1 ? x[t + 1] - x[t] : x[t];
      }
      const real* w = filters.data() + (s * spec_.groups + g) * G * L;
      std::size_t t = 0;
      for (; t + lanes <= rows; t += lanes)
        respond_at<lanes>(signal.data(), d, w, L, rows, t, responses.data());
      for (; t < rows; ++t) respond_at<1>(signal.data(), d, w, L, rows, t, responses.data());
      take(s, g, responses.data(), rows);
    }
  }
}

void FilterBank::fit(const std::vector<SeriesValues>& series) {
  constexpr std::size_t most_series = 16;
  constexpr double golden = 0.6180339887498949;
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
  const Tensor all = filters();
  const std::size_t shown = std::min(series.size(), most_series);
  std::vector<std::vector<double>> seen(scales_.size() * spec_.filters());
  for (std::size_t i = 0; i < shown; ++i)
    respond(standardized(series[i * series.size() / shown]), all,
            [&](std::size_t s, std::size_t g, const real* responses, std::size_t rows) {
              for (std::size_t f = 0; f < G; ++f) {
                auto& numbers = seen[s * spec_.filters() + g * G + f];
                numbers.insert(numbers.end(), responses + f * rows, responses + (f + 1) * rows);
              }
            });
  parallel_tasks(seen.size(), [&](std::size_t f) {
    const double part = double(f + 1) * golden;
    quantiles_.data()[f] = real(quantile_of(std::move(seen[f]), part - std::floor(part)));
  });
}

Tensor FilterBank::features(const std::vector<SeriesValues>& series) {
  const Tensor all = filters();
  const std::size_t size = this->size(), F = spec_.filters();
  Tensor features = uninitialized({series.size(), size});
  parallel_tasks(series.size(), [&](std::size_t i) {
    real* out = features.data() + i * size;
    respond(standardized(series[i]), all,
            [&](std::size_t s, std::size_t g, const real* responses, std::size_t rows) {
              const real* quantiles = quantiles_.data() + s * F + g * G;
              GroupSums sums;
              std::size_t t = 0;
              for (; t + lanes <= rows; t += lanes) sums.add<lanes>(responses, rows, t, quantiles);
              for (; t < rows; ++t) sums.add<1>(responses, rows, t, quantiles);
              std::size_t begin = s * (size / scales_.size());
              for (const std::string& pool : spec_.pools) {
                for (std::size_t f = 0; f < G; ++f)
                  write_pool(pool, sums, f, rows, F, out + begin + g * G + f);
                begin += pool_size(pool) * F;
              }
            });
  });
  return features;
}

void FilterBank::visit(Visitor& visitor) {
  visitor("density", *density_);
  visitor("units", units_);
  visitor("quantiles", quantiles_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
