#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/phase.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/fourier/fourier_features.hpp>
#include <bochner/autodiff/ops/gradient_sums.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t gradient_chunk = 256;

void require_frequencies(const char* op, const Var& w, std::size_t dimensions) {
  require(w.rank() == 2 && w.dim(1) == dimensions, op,
          "w must be (m, d) for places of d = ", dimensions, " coordinates: w ", w.shape());
}

/// Returns rows [sines, cosines] of one coordinate for its column of w. -> (n, 2m)
Tensor axis_table(const std::vector<double>& axis, const Tensor& w, std::size_t column) {
  const std::size_t m = w.shape()[0], d = w.shape()[1];
  Tensor table = uninitialized({axis.size(), 2 * m});
  for (std::size_t n = 0; n < axis.size(); ++n) {
    real* row = table.data() + n * 2 * m;
    for (std::size_t f = 0; f < m; ++f) {
      const double phase = reduced_phase(double(w.data()[f * d + column]), axis[n]);
      math::sincos(real(phase), row + f, row + m + f);
    }
  }
  return table;
}

/// Computes sin(a + b) and cos(a + b) of all pairs of rows. (N, 2m), (n, 2m) -> (N n, 2m)
Tensor join(const Tensor& a, const Tensor& b) {
  const std::size_t m = a.shape()[1] / 2, n = b.shape()[0], rows = a.shape()[0] * n;
  Tensor y = uninitialized({rows, 2 * m});
  parallel_rows(rows, 2 * m, [&](std::size_t row) {
    const real *p = a.data() + row / n * 2 * m, *q = b.data() + row % n * 2 * m;
    real* to = y.data() + row * 2 * m;
    for (std::size_t f = 0; f < m; ++f) {
      to[f] = p[f] * q[m + f] + p[m + f] * q[f];
      to[m + f] = p[m + f] * q[m + f] - p[f] * q[f];
    }
  });
  return y;
}

/// Adds to sum[j * m + f] the derivative by w[f, j] over these points.
void add_slopes(const Places& places, std::size_t begin, std::size_t end, std::size_t m,
                const Tensor& y, const Tensor& g, double* sum) {
  const std::size_t d = places.dimensions;
  std::vector<double> slope(m);
  for (std::size_t n = begin; n < end; ++n) {
    const real *sine = y.data() + n * 2 * m, *cosine = sine + m, *up = g.data() + n * 2 * m;
    for (std::size_t f = 0; f < m; ++f) slope[f] = double(up[f] * cosine[f] - up[m + f] * sine[f]);
    for (std::size_t j = 0; j < d; ++j) {
      const double x = places.coordinates[n * d + j];
      for (std::size_t f = 0; f < m; ++f) sum[j * m + f] += x * slope[f];
    }
  }
}

/// Returns the gradient of w (m, d) from y and its gradient, (N, 2m).
Tensor frequency_gradient(const Places& places, std::size_t m, const Tensor& y, const Tensor& g) {
  const std::size_t d = places.dimensions;
  const std::vector<double> sums = parallel_sums(
      m * d, places.count(), gradient_chunk, [&](std::size_t begin, std::size_t end, double* sum) {
        add_slopes(places, begin, end, m, y, g, sum);
      });
  Tensor gradient = uninitialized({m, d});
  for (std::size_t i = 0; i < m * d; ++i) gradient.data()[i] = real(sums[i % d * m + i / d]);
  return gradient;
}

Var record_fourier_features(const char* op, Tensor value, const Var& w, const Places& places) {
  const auto tangent = [&](const Var& d, const Var& y) {
    const std::size_t m = w.dim(0);
    Tensor points = uninitialized({y.dim(0), w.dim(1)});
    std::copy_n(places.coordinates.begin(), points.size(), points.data());
    const Var phase = matmul_nt(Var(std::move(points)), d);
    return concat({slice(y, 1, m, 2 * m) * phase, -slice(y, 1, 0, m) * phase}, 1);
  };
  return record(op, std::move(value), {w},
                [w = w.gradient_only(), m = w.dim(0), places](const Tensor& y, Tensor& g) {
                  w.add_gradient(frequency_gradient(places, m, y, g));
                },
                {{w, tangent}});
}

}  // namespace

Places nodes_of(const GridAxes& axes) {
  std::size_t count = 1, d = axes.size();
  for (const auto& axis : axes) count *= axis.size();
  Places nodes{d, std::vector<double>(count * d)};
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t j = d, rest = n; j-- > 0; rest /= axes[j].size())
      nodes.coordinates[n * d + j] = axes[j][rest % axes[j].size()];
  }
  return nodes;
}

Var fourier_features_at(const Places& places, const Var& w) {
  require_frequencies("fourier_features_at", w, places.dimensions);
  const std::size_t m = w.dim(0), d = places.dimensions, N = places.count();
  Tensor y = uninitialized({N, 2 * m});
  parallel_rows(N, 16 * m, [&](std::size_t n) {
    real* row = y.data() + n * 2 * m;
    for (std::size_t f = 0; f < m; ++f) {
      double phase = 0;
      for (std::size_t j = 0; j < d; ++j)
        phase += reduced_phase(double(w.data()[f * d + j]), places.coordinates[n * d + j]);
      math::sincos(real(phase), row + f, row + m + f);
    }
  });
  return record_fourier_features("fourier_features_at", std::move(y), w, places);
}

Var grid_fourier_features(const GridAxes& axes, const Var& w) {
  require(!axes.empty(), "grid_fourier_features", "a grid needs at least one axis");
  require_frequencies("grid_fourier_features", w, axes.size());
  Tensor y = axis_table(axes[0], w.value(), 0);
  for (std::size_t j = 1; j < axes.size(); ++j) y = join(y, axis_table(axes[j], w.value(), j));
  return record_fourier_features("grid_fourier_features", std::move(y), w, nodes_of(axes));
}

namespace {

constexpr std::size_t wave_grain = 4096;

Shape with_axes(const Times& times, std::initializer_list<std::size_t> axes) {
  Shape shape(times.shape().begin(), times.shape().end());
  shape.insert(shape.end(), axes.begin(), axes.end());
  return shape;
}

/// Computes cos and sin of w t, 2 w t, .., J w t by the addition theorem, in double: errors grow
/// with the multiple. w (k) -> (J, k), (J, k)
void multiples(const real* w, std::size_t k, double time, std::size_t J, double* cosine,
               double* sine) {
  if (J == 0) return;
  for (std::size_t i = 0; i < k; ++i) {
    const double phase = reduced_phase(double(w[i]), time);
    sine[i] = std::sin(phase), cosine[i] = std::cos(phase);
  }
  for (std::size_t j = 0; j + 1 < J; ++j) {
    const double *c = cosine + j * k, *s = sine + j * k;
    for (std::size_t i = 0; i < k; ++i) {
      cosine[(j + 1) * k + i] = cosine[i] * c[i] - sine[i] * s[i];
      sine[(j + 1) * k + i] = sine[i] * c[i] + cosine[i] * s[i];
    }
  }
}

struct Series {
  std::shared_ptr<const Times> when;
  Var w, amplitude;
  std::size_t k, terms, J;

  std::size_t grain() const {
    return std::max<std::size_t>(1, wave_grain / std::max<std::size_t>(1, k * J));
  }

  /// Computes y (n, k, terms) of the times begin <= t < end.
  void forward(std::size_t begin, std::size_t end, real* y) const {
    std::vector<double> wave(k * 2 * J);
    const real* a = amplitude.data();
    for (std::size_t t = begin; t < end; ++t) {
      multiples(w.data(), k, when->data()[t], J, wave.data(), wave.data() + J * k);
      for (std::size_t i = 0; i < k; ++i) {
        real* row = y + (t * k + i) * terms;
        row[0] = a[i * terms];
        for (std::size_t p = 1; p < terms; ++p)
          row[p] = real(double(a[i * terms + p]) * wave[(p - 1) * k + i]);
      }
    }
  }

  /// Adds the gradients of amplitudes (k, terms), then of frequencies (k), to `sum`. Recomputes the
  /// waves: the output cannot be divided by amplitudes that may be 0.
  void backward(const real* g, std::size_t begin, std::size_t end, double* sum) const {
    std::vector<double> wave(k * 2 * J);
    const real* a = amplitude.data();
    const double *cosine = wave.data(), *sine = cosine + J * k;
    for (std::size_t t = begin; t < end; ++t) {
      multiples(w.data(), k, when->data()[t], J, wave.data(), wave.data() + J * k);
      for (std::size_t i = 0; i < k; ++i) {
        const real *row = g + (t * k + i) * terms, *ai = a + i * terms;
        sum[i * terms] += double(row[0]);
        for (std::size_t p = 1; p < terms; ++p)
          sum[i * terms + p] += double(row[p]) * wave[(p - 1) * k + i];
        double slope = 0;
        for (std::size_t j = 0; j < J; ++j)
          slope += double(j + 1) * (double(row[1 + J + j] * ai[1 + J + j]) * cosine[j * k + i] -
                                    double(row[1 + j] * ai[1 + j]) * sine[j * k + i]);
        sum[k * terms + i] += when->data()[t] * slope;
      }
    }
  }
};

}  // namespace

Var fourier_time(const Times& times, const Var& w) {
  require(w.rank() == 1 && w.size() >= 1, "fourier_time", "w must be (m) with m >= 1: ", w.shape());
  const std::size_t m = w.size();
  const Var waves = fourier_features_at({1, {times.begin(), times.end()}}, reshape(w, {m, 1}));
  const Var y = concat({slice(waves, 1, m, 2 * m), slice(waves, 1, 0, m)}, 1);
  return reshape(y * (1 / std::sqrt(double(m))), with_axes(times, {2 * m}));
}

Var fourier_series(const Times& times, const Var& w, const Var& amplitude) {
  require(w.rank() == 1 && amplitude.rank() == 2 && amplitude.dim(0) == w.size() &&
              amplitude.dim(1) % 2 == 1,
          "fourier_series", "w and amplitude must be (k) and (k, 1 + 2J): w ", w.shape(),
          ", amplitude ", amplitude.shape());
  const std::size_t k = w.size(), terms = amplitude.dim(1), n = times.size();
  const Series series{std::make_shared<const Times>(times), w, amplitude, k, terms, terms / 2};
  Tensor y = uninitialized(with_axes(times, {k, terms}));
  parallel_for(n, series.grain(),
               [&](std::size_t begin, std::size_t end) { series.forward(begin, end, y.data()); });
  return record("fourier_series", std::move(y), {w, amplitude}, [series, n](Tensor& g) {
    const std::size_t amplitudes = series.amplitude.size();
    const auto chunk = [&](std::size_t begin, std::size_t end, double* sum) {
      series.backward(g.data(), begin, end, sum);
    };
    const std::vector<double> sums = parallel_sums(amplitudes + series.k, n, series.grain(), chunk);
    add_sums(series.amplitude, sums.data());
    add_sums(series.w, sums.data() + amplitudes);
  });
}

}  // namespace bochner::inline BOCHNER_PRECISION
