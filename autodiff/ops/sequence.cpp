#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// cos and sin per position and pair, (T, d/2) each; phases in double until they are reduced.
struct Angles {
  Tensor cosine, sine;
  Angles(std::size_t T, std::size_t half, std::size_t first, double base)
      : cosine(uninitialized({T, half})), sine(uninitialized({T, half})) {
    std::vector<double> frequency(half);
    for (std::size_t i = 0; i < half; ++i) frequency[i] = std::pow(base, -double(i) / double(half));
    parallel_each(T, 64, [&](std::size_t t) {
      for (std::size_t i = 0; i < half; ++i) {
        const double phase = double(first + t) * frequency[i];
        cosine.data()[t * half + i] = real(std::cos(phase));
        sine.data()[t * half + i] = real(std::sin(phase));
      }
    });
  }
};

/// Rotates forward (direction 1) or back (direction -1). (B, T, H, d)
Tensor rotate(const Tensor& x, const Angles& angles, real direction) {
  const std::size_t T = x.shape()[1], H = x.shape()[2], d = x.shape()[3], half = d / 2;
  Tensor y = uninitialized(x.shape());
  parallel_rows(x.shape()[0] * T, H * d, [&](std::size_t row) {
    const real *c = angles.cosine.data() + row % T * half, *s = angles.sine.data() + row % T * half;
    for (std::size_t h = 0; h < H; ++h) {
      const real* from = x.data() + (row * H + h) * d;
      real* to = y.data() + (row * H + h) * d;
      for (std::size_t i = 0; i < half; ++i) {
        const real sine = direction * s[i];
        to[i] = from[i] * c[i] - from[half + i] * sine;
        to[half + i] = from[i] * sine + from[half + i] * c[i];
      }
    }
  });
  return y;
}

/// Computes y_t += sum over taps j of w_j x_(t + direction j) over existing tokens. Direction -1
/// looks back, 1 is the adjoint.
void convolve(const real* x, const real* w, std::size_t rows, std::size_t T, std::size_t D,
              std::size_t taps, int direction, real* y) {
  parallel_rows(rows, taps * D, [=](std::size_t row) {
    const std::size_t t = row % T;
    real* to = y + row * D;
    for (std::size_t j = 0; j < taps; ++j) {
      if (direction < 0 ? j > t : t + j >= T) break;
      const real* from = direction < 0 ? x + (row - j) * D : x + (row + j) * D;
      const real* tap = w + j * D;
      for (std::size_t c = 0; c < D; ++c) to[c] += tap[c] * from[c];
    }
  });
}

/// Adds dw_j += sum over tokens of g_t x_(t - j), at most 256 chunks of tokens joined in order.
void accumulate_taps(const real* x, const real* g, std::size_t rows, std::size_t T, std::size_t D,
                     std::size_t taps, real* dw) {
  const std::size_t grain = std::max(row_grain(rows, taps * D), ceil_div(rows, 256));
  const auto add_tokens = [=](std::size_t begin, std::size_t end, real* sum) {
    for (std::size_t row = begin; row < end; ++row) {
      for (std::size_t j = 0; j < taps && j <= row % T; ++j) {
        const real *from = x + (row - j) * D, *gradient = g + row * D;
        for (std::size_t c = 0; c < D; ++c) sum[j * D + c] += gradient[c] * from[c];
      }
    }
  };
  accumulate_in_chunks(rows, grain, taps * D, dw, add_tokens);
}

}  // namespace

Var rotary(const Var& x, std::size_t first, double base) {
  require(x.rank() == 4 && x.dim(3) % 2 == 0, "rotary", "x must be (B, T, H, d) with even d: x ",
          x.shape());
  auto angles = std::make_shared<const Angles>(x.dim(1), x.dim(3) / 2, first, base);
  return record(
      "rotary", rotate(x.value(), *angles, 1), {x},
      [x = x.gradient_only(), angles](Tensor& g) { x.add_gradient(rotate(g, *angles, -1)); },
      {{x, [&](const Var& d) { return rotary(d, first, base); }, TangentRule::linear}});
}

Var short_convolution(const Var& x, const Var& w) {
  require(x.rank() == 3 && w.rank() == 2 && w.dim(1) == x.dim(2), "short_convolution",
          "w must be (K, D) for x (B, T, D): x ", x.shape(), ", w ", w.shape());
  const std::size_t rows = x.dim(0) * x.dim(1), T = x.dim(1), D = x.dim(2), taps = w.dim(0);
  Tensor y = zeros(x.shape());
  convolve(x.data(), w.data(), rows, T, D, taps, -1, y.data());
  return record("short_convolution", std::move(y), {x, w},
                [x, w, rows, T, D, taps](Tensor& g) {
                  if (x.needs_gradient())
                    convolve(g.data(), w.data(), rows, T, D, taps, 1, x.gradient_buffer().data());
                  if (w.needs_gradient())
                    accumulate_taps(x.data(), g.data(), rows, T, D, taps,
                                    w.gradient_buffer().data());
                },
                {{x, [&](const Var& d) { return short_convolution(d, w); }},
                 {w, [&](const Var& d) { return short_convolution(x, d); }}});
}

}  // namespace bochner::inline BOCHNER_PRECISION
