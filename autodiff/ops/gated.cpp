#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/ops/gated.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// A gate's factor and slope, given b and sigmoid(b).
struct SigmoidGate {
  static real open(real, real s) { return s; }
  static real slope(real, real s) { return s * (1 - s); }
};
struct SiluGate {
  static real open(real b, real s) { return b * s; }
  static real slope(real b, real s) { return s * (1 + b * (1 - s)); }
};

template <class Gate>
void gate_row(const real* __restrict x, std::size_t H, real* __restrict y) {
  for (std::size_t j = 0; j < H; ++j) y[j] = x[j] * Gate::open(x[H + j], math::sigmoid(x[H + j]));
}

template <class Gate>
void gate_row_backward(const real* __restrict x, const real* __restrict g, std::size_t H,
                       real* __restrict dx) {
  for (std::size_t j = 0; j < H; ++j) {
    const real b = x[H + j], s = math::sigmoid(b);
    dx[j] = g[j] * Gate::open(b, s);
    dx[H + j] = g[j] * x[j] * Gate::slope(b, s);
  }
}

template <class Gate>
Var gated(const char* op, const Var& x) {
  require(x.rank() >= 1 && x.dim(-1) % 2 == 0, op, "the last axis must be even: x ", x.shape());
  const std::size_t H = x.dim(-1) / 2, rows = row_count(x.shape());
  Tensor y = uninitialized(with_last(x.shape(), H));
  parallel_rows(rows, 2 * H, [&](std::size_t row) {
    gate_row<Gate>(x.data() + row * 2 * H, H, y.data() + row * H);
  });
  return record(op, std::move(y), {x}, [x, H, rows](Tensor& g) {
    Tensor dx = uninitialized(x.shape());
    parallel_rows(rows, 2 * H, [&](std::size_t row) {
      gate_row_backward<Gate>(x.data() + row * 2 * H, g.data() + row * H, H,
                              dx.data() + row * 2 * H);
    });
    x.add_gradient(std::move(dx));
  });
}

}  // namespace

Var glu(const Var& x) { return gated<SigmoidGate>("glu", x); }

Var swiglu(const Var& x) { return gated<SiluGate>("swiglu", x); }

}  // namespace bochner::inline BOCHNER_PRECISION
