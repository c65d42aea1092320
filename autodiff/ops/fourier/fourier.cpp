#include <bochner/autodiff/compute/fft.hpp>
#include <bochner/autodiff/ops/fourier/fourier.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

Shape spectrum_shape(const Shape& shape) {
  Shape result = with_last(shape, 2);
  result.push_back(shape.back() / 2 + 1);
  return result;
}

Tensor spectra_of(const Tensor& x, BinWeights weights) {
  Tensor y = uninitialized(spectrum_shape(x.shape()));
  fft_rows(row_count(x.shape()), x.shape().back(), x.data(), y.data(), weights);
  return y;
}

Tensor rows_of(const Tensor& x, std::size_t n, BinWeights weights) {
  Tensor y = uninitialized(with_last(without_last(x.shape()), n));
  backward_fft_rows(row_count(y.shape()), n, x.data(), y.data(), weights);
  return y;
}

}  // namespace

// A bin and its mirror image are one element of a half spectrum: transposed, both count.

Var fft(const Var& x) {
  require(x.rank() >= 1 && x.dim(-1) >= 1, "fft",
          "rows must have at least one element: ", x.shape());
  const std::size_t n = x.dim(-1);
  return record("fft", spectra_of(x.value(), {}), {x},
                [x = x.gradient_only(), n](Tensor& g) {
                  x.add_gradient(rows_of(g, n, {.own = 1, .paired = real(0.5)}));
                },
                {{x, [](const Var& d) { return fft(d); }, TangentRule::linear}});
}

Var ifft(const Var& x, std::size_t n) {
  require(x.rank() >= 2 && x.dim(-2) == 2 && n >= 1 && x.dim(-1) == n / 2 + 1, "ifft", "rows of ",
          n, " need x (.., 2, ", n / 2 + 1, "), n >= 1: ", x.shape());
  const real part = real(1) / real(n);
  return record("ifft", rows_of(x.value(), n, {part, part}), {x},
                [x = x.gradient_only(), part](Tensor& g) {
                  x.add_gradient(spectra_of(g, {.own = part, .paired = 2 * part}));
                },
                {{x, [&](const Var& d) { return ifft(d, n); }, TangentRule::linear}});
}

}  // namespace bochner::inline BOCHNER_PRECISION
