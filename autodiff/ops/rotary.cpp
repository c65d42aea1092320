#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// cos and sin of every position and pair, (T, d/2) each; phases in double until they are reduced.
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

}  // namespace

Var rotary(const Var& x, std::size_t first, double base) {
  require(x.rank() == 4 && x.dim(3) % 2 == 0, "rotary", "x must be (B, T, H, d) with even d: x ",
          x.shape());
  auto angles = std::make_shared<const Angles>(x.dim(1), x.dim(3) / 2, first, base);
  return record(
      "rotary", rotate(x.value(), *angles, 1), {x},
      [x = x.gradient_only(), angles](Tensor& g) { x.add_gradient(rotate(g, *angles, -1)); });
}

}  // namespace bochner::inline BOCHNER_PRECISION
