#pragma once
/// Discrete Fourier transforms X_k = sum_t x_t e^(-2 pi i k t / n) of many rows at once, one row
/// per lane, of any length: radices up to 13, and Bluestein's chirp (1970) if a larger prime
/// divides n. Angles are computed in double. A row's bits depend on that row only.

#include <bochner/autodiff/compute/row_lanes.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

class Fft {
 public:
  explicit Fft(std::size_t n);
  std::size_t size() const { return n_; }
  std::size_t scratch() const;
  /// Transforms x (n), elements `stride` apart, to y (n); not in place.
  void transform(const ComplexLanes* x, std::size_t stride, ComplexLanes* y,
                 ComplexLanes* scratch) const;

 private:
  /// Combines `radix` transforms of m elements into one.
  struct Pass {
    std::size_t radix, m;
    std::vector<real> twiddles;  ///< e^(-2 pi i j k / (radix m)) for k < m and 1 <= j < radix
    std::vector<real> turns;     ///< cos and sin of 2 pi j / radix for odd radices
  };
  /// Bluestein's algorithm: 2 t k = t t + k k - (t - k)^2 turns a transform into a convolution.
  struct Chirp;
  void add_pass(std::size_t radix, std::size_t n);
  void recurse(const Pass* pass, const ComplexLanes* x, std::size_t stride, ComplexLanes* y) const;

  std::size_t n_;
  std::vector<Pass> passes_;
  std::shared_ptr<const Chirp> chirp_;
};

/// Transform of n >= 1 real elements to the n / 2 + 1 bins of their half spectrum.
class RealFft {
 public:
  explicit RealFft(std::size_t n);
  /// Returns the plan for length n; the last sixteen lengths are cached.
  static std::shared_ptr<const RealFft> of(std::size_t n);
  std::size_t size() const { return n_; }
  std::size_t bins() const { return n_ / 2 + 1; }
  std::size_t scratch() const { return own_scratch() + fft_.scratch(); }
  /// Transforms x (n) to y (bins).
  void forward(const RowLanes* x, ComplexLanes* y, ComplexLanes* scratch) const;
  /// Computes n times the inverse; ignores imaginary parts of self-conjugate bins. (bins) -> (n)
  void backward(const ComplexLanes* x, RowLanes* y, ComplexLanes* scratch) const;

 private:
  /// Odd lengths also need a row of complex elements.
  std::size_t own_scratch() const { return (n_ % 2 == 1 ? 2 : 1) * fft_.size(); }

  std::size_t n_;
  Fft fft_;                  ///< of n / 2 for even n: pairs of reals form complex elements
  std::vector<real> turns_;  ///< e^(-2 pi i k / n) for k <= n / 4
};

/// Weights of self-conjugate bins and of the other bins.
struct BinWeights {
  real own = 1, paired = 1;
};

/// Computes weighted half spectra, real parts first. (rows, n) -> (rows, 2, n / 2 + 1)
void fft_rows(std::size_t rows, std::size_t n, const real* x, real* y, BinWeights weights);
/// Computes RealFft::backward() of weighted half spectra. (rows, 2, n / 2 + 1) -> (rows, n)
void backward_fft_rows(std::size_t rows, std::size_t n, const real* x, real* y, BinWeights weights);

}  // namespace bochner::inline BOCHNER_PRECISION
