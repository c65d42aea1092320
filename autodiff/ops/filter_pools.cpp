#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/ops/filter_pools.hpp>
#include <bochner/autodiff/ops/group_responses.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <limits>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t K = filters_of_group, P = filter_pools;

/// One group of filters and one series.
struct GroupOfSeries {
  const real *signal, *filters, *thresholds;
  std::size_t dilation, taps, rows;
  real temperature;
};

/// Softmaxes over the group of `width` rows y / temperature, and of their negatives.
template <std::size_t width>
struct SoftRows {
  real up[K][width], down[K][width];

  SoftRows(const real* y, std::size_t stride, real factor) {
    real top[width], low[width], up_sum[width] = {}, down_sum[width] = {};
    std::copy_n(y, width, top);
    std::copy_n(y, width, low);
    for (std::size_t f = 1; f < K; ++f)
      for (std::size_t i = 0; i < width; ++i) {
        const real each = y[f * stride + i];
        top[i] = each > top[i] ? each : top[i];
        low[i] = each < low[i] ? each : low[i];
      }
    for (std::size_t f = 0; f < K; ++f)
      for (std::size_t i = 0; i < width; ++i) {
        const real each = y[f * stride + i];
        up[f][i] = math::exp((each - top[i]) * factor);
        down[f][i] = math::exp((low[i] - each) * factor);
        up_sum[i] += up[f][i];
        down_sum[i] += down[f][i];
      }
    for (std::size_t i = 0; i < width; ++i) {
      up_sum[i] = 1 / up_sum[i];
      down_sum[i] = 1 / down_sum[i];
    }
    for (std::size_t f = 0; f < K; ++f)
      for (std::size_t i = 0; i < width; ++i) {
        up[f][i] *= up_sum[i];
        down[f][i] *= down_sum[i];
      }
  }
};

/// Sums over the rows, by lane, and the largest responses.
struct PoolSums {
  real wins[K][response_lanes] = {}, least[K][response_lanes] = {}, above[K][response_lanes] = {},
       mean[K][response_lanes] = {};
  real largest[K];

  void add(const GroupOfSeries& at, const real* y) {
    const real factor = 1 / at.temperature;
    for_response_chunks(at.rows, [&]<std::size_t width>(std::size_t t) {
      const SoftRows<width> soft(y + t, at.rows, factor);
      for (std::size_t f = 0; f < K; ++f)
        for (std::size_t i = 0; i < width; ++i) {
          const real each = y[f * at.rows + t + i];
          wins[f][i] += soft.up[f][i] * each;
          least[f][i] += soft.down[f][i];
          above[f][i] += math::sigmoid((each - at.thresholds[f]) * factor);
          mean[f][i] += each;
        }
    });
    for (std::size_t f = 0; f < K; ++f)
      largest[f] = *std::max_element(y + f * at.rows, y + (f + 1) * at.rows);
  }
};

real mean_of(const real (&lanes)[response_lanes], std::size_t rows) {
  return real(std::accumulate(std::begin(lanes), std::end(lanes), 0.0) / double(rows));
}

/// Replaces responses by their gradients. `gradient` (5, filters) of the pools from this group on.
void respond_backward(const GroupOfSeries& at, const real* gradient, std::size_t filters, real* y) {
  const real factor = 1 / at.temperature, share = 1 / real(at.rows);
  real g[P][K];
  for (std::size_t p = 0; p < P; ++p)
    for (std::size_t f = 0; f < K; ++f) g[p][f] = gradient[p * filters + f] * share;
  std::size_t largest_at[K];
  for (std::size_t f = 0; f < K; ++f)
    largest_at[f] = std::size_t(std::max_element(y + f * at.rows, y + (f + 1) * at.rows) - y);
  for_response_chunks(at.rows, [&]<std::size_t width>(std::size_t t) {
    const SoftRows<width> soft(y + t, at.rows, factor);
    real up[width] = {}, down[width] = {};
    for (std::size_t f = 0; f < K; ++f)
      for (std::size_t i = 0; i < width; ++i) {
        up[i] += g[0][f] * soft.up[f][i] * y[f * at.rows + t + i];
        down[i] += g[1][f] * soft.down[f][i];
      }
    for (std::size_t f = 0; f < K; ++f)
      for (std::size_t i = 0; i < width; ++i) {
        real& each = y[f * at.rows + t + i];
        const real part = math::sigmoid((each - at.thresholds[f]) * factor);
        each = soft.up[f][i] * (g[0][f] + (g[0][f] * each - up[i]) * factor) -
               soft.down[f][i] * (g[1][f] - down[i]) * factor +
               g[2][f] * part * (1 - part) * factor + g[4][f];
      }
  });
  for (std::size_t f = 0; f < K; ++f) y[largest_at[f]] += g[3][f] * real(at.rows);
}

/// Sets gradients (8, taps) of the filters from those of the responses.
void filters_backward(const GroupOfSeries& at, const real* y, real* gradient) {
  constexpr std::size_t lanes = 16, together = 4;
  for (std::size_t j = 0; j < at.taps; ++j) {
    const real* x = at.signal + j * at.dilation;
    for (std::size_t f = 0; f < K; f += together) {
      real sums[together][lanes] = {};
      std::size_t t = 0;
      for (; t + lanes <= at.rows; t += lanes)
        for (std::size_t k = 0; k < together; ++k)
          for (std::size_t i = 0; i < lanes; ++i)
            sums[k][i] += y[(f + k) * at.rows + t + i] * x[t + i];
      for (; t < at.rows; ++t)
        for (std::size_t k = 0; k < together; ++k) sums[k][0] += y[(f + k) * at.rows + t] * x[t];
      for (std::size_t k = 0; k < together; ++k)
        gradient[(f + k) * at.taps + j] =
            real(std::accumulate(std::begin(sums[k]), std::end(sums[k]), 0.0));
    }
  }
}

/// Sets the gradient of the signal without its zeros from those of the responses. (rows)
void signal_backward(const GroupOfSeries& at, const real* y, real* gradient) {
  const std::size_t pad = at.taps / 2 * at.dilation;
  std::fill_n(gradient, at.rows, real(0));
  for (std::size_t j = 0; j < at.taps; ++j) {
    const std::ptrdiff_t shift = std::ptrdiff_t(j * at.dilation) - std::ptrdiff_t(pad);
    const std::size_t begin = shift < 0 ? std::min(at.rows, std::size_t(-shift)) : 0,
                      end = shift > 0 ? at.rows - std::min(at.rows, std::size_t(shift)) : at.rows;
    real w[K];
    for (std::size_t f = 0; f < K; ++f) w[f] = at.filters[f * at.taps + j];
    for (std::size_t t = begin; t < end; ++t) {
      real sum = 0;
      for (std::size_t f = 0; f < K; ++f) sum += w[f] * y[f * at.rows + t];
      gradient[std::size_t(std::ptrdiff_t(t) + shift)] += sum;
    }
  }
}

/// The inputs of soft_filter_pools() without the filters and weights.
struct PoolInputs {
  std::shared_ptr<const SeriesChannels> series;
  std::size_t dilation;
  Tensor thresholds, temperatures;
  std::size_t groups, taps;

  std::size_t filters() const { return groups * K; }
  std::size_t count() const { return series->values.size(); }
  /// Calls take(series, group, its inputs, its responses, room for rows) for each in parallel.
  template <class Take>
  void for_each(const real* filters, const real* weights, const Take& take) const {
    std::size_t longest = 0;
    for (std::size_t i = 0; i < count(); ++i) longest = std::max(longest, series->rows(i));
    const std::size_t C = series->channels, padded = longest + (taps - 1) * dilation;
    const Scratch<real> scratch(K * longest + padded);
    parallel_tasks(count() * groups, [&](std::size_t task) {
      const std::size_t i = task / groups, g = task % groups, rows = series->rows(i);
      real *responses = scratch.local(), *signal = responses + K * longest;
      mix_channels(series->values[i].data(), C, rows, weights + g * C, taps, dilation, signal);
      const GroupOfSeries at{
          signal, filters + g * K * taps, thresholds.data() + g * K, dilation, taps,
          rows,   temperatures.data()[g]};
      respond(signal, dilation, at.filters, taps, rows, responses);
      take(i, g, at, responses, signal);
    });
  }
};

Tensor pools_of(const PoolInputs& inputs, const real* filters, const real* weights) {
  const std::size_t F = inputs.filters();
  Tensor pools = uninitialized({inputs.count(), P, F});
  inputs.for_each(filters, weights,
                  [&](std::size_t i, std::size_t g, const GroupOfSeries& at, const real* y, real*) {
                    PoolSums sums;
                    sums.add(at, y);
                    for (std::size_t f = 0; f < K; ++f) {
                      real* out = pools.data() + i * P * F + g * K + f;
                      out[0 * F] = mean_of(sums.wins[f], at.rows);
                      out[1 * F] = mean_of(sums.least[f], at.rows);
                      out[2 * F] = mean_of(sums.above[f], at.rows);
                      out[3 * F] = sums.largest[f];
                      out[4 * F] = mean_of(sums.mean[f], at.rows);
                    }
                  });
  return pools;
}

/// Returns the sums over the series of parts (series, ..) in their order.
Tensor sum_over_series(const std::vector<real>& parts, const Shape& shape) {
  Tensor sums = uninitialized(shape);
  for (std::size_t j = 0; j < sums.size(); ++j) {
    double sum = 0;
    for (std::size_t i = j; i < parts.size(); i += sums.size()) sum += double(parts[i]);
    sums.data()[j] = real(sum);
  }
  return sums;
}

void pools_backward(const PoolInputs& inputs, const Var& filters, const Var& weights,
                    const Tensor& gradient) {
  const std::size_t F = inputs.filters(), C = inputs.series->channels, each = K * inputs.taps;
  const bool of_weights = weights.needs_gradient();
  std::vector<real> of_filters(inputs.count() * filters.size()),
      of_channels(of_weights ? inputs.count() * weights.size() : 0);
  inputs.for_each(filters.data(), weights.data(),
                  [&](std::size_t i, std::size_t g, const GroupOfSeries& at, real* y, real* room) {
                    respond_backward(at, gradient.data() + i * P * F + g * K, F, y);
                    filters_backward(at, y, of_filters.data() + i * filters.size() + g * each);
                    if (!of_weights) return;
                    signal_backward(at, y, room);  // the signal is not needed any more
                    for (std::size_t c = 0; c < C; ++c) {
                      const real* x = inputs.series->values[i].data() + c * at.rows;
                      of_channels[i * weights.size() + g * C + c] =
                          real(std::inner_product(x, x + at.rows, room, 0.0));
                    }
                  });
  if (filters.needs_gradient()) filters.add_gradient(sum_over_series(of_filters, filters.shape()));
  if (of_weights) weights.add_gradient(sum_over_series(of_channels, weights.shape()));
}

void check_shapes(const Var& filters, const Var& weights, const SeriesChannels& series,
                  std::size_t dilation, const Tensor& thresholds, const Tensor& temperatures) {
  const Shape& shape = filters.shape();
  require(shape.size() == 3 && shape[1] == K && shape[2] > 0 && dilation > 0, "soft_filter_pools",
          "filters must be (groups, ", K, ", taps) at a dilation from 1 on, not ", shape, " at ",
          dilation);
  require(weights.shape() == Shape({shape[0], series.channels}), "soft_filter_pools",
          "weights must be (groups, channels), not ", weights.shape());
  require(thresholds.size() == shape[0] * K && temperatures.size() == shape[0], "soft_filter_pools",
          "needs a threshold for each filter and a temperature for each group");
  for (const std::vector<real>& values : series.values)
    require(!values.empty() && values.size() % series.channels == 0, "soft_filter_pools",
            "a series of ", values.size(), " values has not ", series.channels, " channels");
}

}  // namespace

Var soft_filter_pools(const Var& filters, const Var& weights,
                      const std::shared_ptr<const SeriesChannels>& series, std::size_t dilation,
                      const Tensor& thresholds, const Tensor& temperatures) {
  check_shapes(filters, weights, *series, dilation, thresholds, temperatures);
  const PoolInputs inputs{series,       dilation,       thresholds,
                          temperatures, filters.dim(0), filters.dim(2)};
  return record("soft_filter_pools", pools_of(inputs, filters.data(), weights.data()),
                {filters, weights}, [filters, weights, inputs](Tensor& gradient) {
                  pools_backward(inputs, filters, weights, gradient);
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
