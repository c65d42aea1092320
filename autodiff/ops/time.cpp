#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/compute/phase.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/harmonics.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/autodiff/ops/time.hpp>
#include <cmath>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Waves that are worth a task.
constexpr std::size_t wave_grain = 4096;

Shape with_axes(const Times& times, std::initializer_list<std::size_t> axes) {
  Shape shape(times.shape().begin(), times.shape().end());
  shape.insert(shape.end(), axes.begin(), axes.end());
  return shape;
}

void add_sums(const Var& x, const double* sums) {
  if (!x.needs_gradient()) return;
  real* gradient = x.gradient_buffer().data();
  for (std::size_t i = 0; i < x.size(); ++i) gradient[i] += real(sums[i]);
}

/// cos and sin of w t, 2 w t, .., J w t by the addition theorem. w (k) -> (J, k), (J, k)
void multiples(const real* w, std::size_t k, double time, std::size_t J, real* cosine, real* sine) {
  if (J == 0) return;
  for (std::size_t i = 0; i < k; ++i)
    math::sincos(real(reduced_phase(double(w[i]), time)), sine + i, cosine + i);
  for (std::size_t j = 0; j + 1 < J; ++j) {
    const real *c = cosine + j * k, *s = sine + j * k;
    for (std::size_t i = 0; i < k; ++i) {
      cosine[(j + 1) * k + i] = cosine[i] * c[i] - sine[i] * s[i];
      sine[(j + 1) * k + i] = sine[i] * c[i] + cosine[i] * s[i];
    }
  }
}

/// What the loops of fourier_series share.
struct Series {
  std::shared_ptr<const Times> when;
  Var w, amplitude;
  std::size_t k, terms, J;

  /// Times that are worth a task.
  std::size_t grain() const {
    return std::max<std::size_t>(1, wave_grain / std::max<std::size_t>(1, k * J));
  }

  /// y (n, k, terms) of the times begin <= t < end.
  void forward(std::size_t begin, std::size_t end, real* y) const {
    std::vector<real> wave(k * 2 * J);
    const real* a = amplitude.data();
    for (std::size_t t = begin; t < end; ++t) {
      multiples(w.data(), k, when->data()[t], J, wave.data(), wave.data() + J * k);
      for (std::size_t i = 0; i < k; ++i) {
        real* row = y + (t * k + i) * terms;
        row[0] = a[i * terms];
        for (std::size_t p = 1; p < terms; ++p) row[p] = a[i * terms + p] * wave[(p - 1) * k + i];
      }
    }
  }

  /// Adds the gradients of the amplitudes (k, terms), then of the frequencies (k), to `sum`. The
  /// waves are formed again: the output cannot be divided by amplitudes that may be 0.
  void backward(const real* g, std::size_t begin, std::size_t end, double* sum) const {
    std::vector<real> wave(k * 2 * J);
    const real *a = amplitude.data(), *cosine = wave.data(), *sine = cosine + J * k;
    for (std::size_t t = begin; t < end; ++t) {
      multiples(w.data(), k, when->data()[t], J, wave.data(), wave.data() + J * k);
      for (std::size_t i = 0; i < k; ++i) {
        const real *row = g + (t * k + i) * terms, *ai = a + i * terms;
        sum[i * terms] += double(row[0]);
        for (std::size_t p = 1; p < terms; ++p)
          sum[i * terms + p] += double(row[p] * wave[(p - 1) * k + i]);
        real slope = 0;
        for (std::size_t j = 0; j < J; ++j)
          slope += real(j + 1) * (row[1 + J + j] * ai[1 + J + j] * cosine[j * k + i] -
                                  row[1 + j] * ai[1 + j] * sine[j * k + i]);
        sum[k * terms + i] += when->data()[t] * double(slope);
      }
    }
  }
};

}  // namespace

Var fourier_time(const Times& times, const Var& w) {
  require(w.rank() == 1 && w.size() >= 1, "fourier_time", "w must be (m) with m >= 1: ", w.shape());
  const std::size_t m = w.size();
  const Var waves = harmonics({1, {times.begin(), times.end()}}, reshape(w, {m, 1}));
  const Var y = concat({slice(waves, 1, m, 2 * m), slice(waves, 1, 0, m)}, 1);
  return reshape(y * (1 / std::sqrt(double(m))), with_axes(times, {2 * m}));
}

Var fourier_series(const Times& times, const Var& w, const Var& amplitude) {
  require(w.rank() == 1 && amplitude.rank() == 2 && amplitude.dim(0) == w.size() &&
              amplitude.dim(1) % 2 == 1,
          "fourier_series", "wants w (k), amplitude (k, 1 + 2J): w ", w.shape(), ", amplitude ",
          amplitude.shape());
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
