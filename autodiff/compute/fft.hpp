#pragma once
/// Discrete Fourier transforms X_k = sum_t x_t e^(-2 pi i k t / n) of many rows at once, one row in
/// each lane of a vector, of any length: radices up to 13, and Bluestein's chirp (1970) where a
/// larger prime divides n. Angles are double. A row's bits depend on that row only.

#include <bochner/autodiff/compute/row_lanes.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Of n complex elements.
class Fft {
 public:
  explicit Fft(std::size_t n);
  std::size_t size() const { return n_; }
  /// Elements of scratch memory that a transform takes.
  std::size_t scratch() const;
  /// x (n), whose elements lie `stride` apart -> y (n), another place.
  void transform(const ComplexLanes* x, std::size_t stride, ComplexLanes* y,
                 ComplexLanes* scratch) const;

 private:
  /// `radix` transforms of m elements become one.
  struct Pass {
    std::size_t radix, m;
    std::vector<real> twiddles;  ///< e^(-2 pi i j k / (radix m)) for k < m and 1 <= j < radix
    std::vector<real> turns;     ///< cos and sin of 2 pi j / radix, where it is odd
  };
  /// 2 t k = t t + k k - (t - k)^2 makes a convolution of a transform.
  struct Chirp;
  void add_pass(std::size_t radix, std::size_t n);
  void recurse(const Pass* pass, const ComplexLanes* x, std::size_t stride, ComplexLanes* y) const;

  std::size_t n_;
  std::vector<Pass> passes_;
  std::shared_ptr<const Chirp> chirp_;
};

/// Of n >= 1 real elements and the n / 2 + 1 bins of their spectrum that the others mirror.
class RealFft {
 public:
  explicit RealFft(std::size_t n);
  /// Made once for each length; of the lengths asked for, the last sixteen are remembered.
  static std::shared_ptr<const RealFft> of(std::size_t n);
  std::size_t size() const { return n_; }
  std::size_t bins() const { return n_ / 2 + 1; }
  /// Complex elements of scratch memory that a transform takes.
  std::size_t scratch() const { return own_scratch() + fft_.scratch(); }
  /// x (n) -> y (bins)
  void forward(const RowLanes* x, ComplexLanes* y, ComplexLanes* scratch) const;
  /// n times the rows whose spectrum is x; imaginary parts of bins that mirror themselves are not
  /// read. x (bins) -> y (n)
  void backward(const ComplexLanes* x, RowLanes* y, ComplexLanes* scratch) const;

 private:
  /// Odd lengths have a row of complex elements made, too.
  std::size_t own_scratch() const { return (n_ % 2 == 1 ? 2 : 1) * fft_.size(); }

  std::size_t n_;
  Fft fft_;                  ///< of n / 2 where n is even: pairs of elements are complex ones
  std::vector<real> turns_;  ///< e^(-2 pi i k / n) for k <= n / 4
};

/// Factors of the bins of a spectrum: of those that mirror themselves, and of the others.
struct BinWeights {
  real own = 1, paired = 1;
};

/// Half spectra times weights, real parts before imaginary ones. (rows, n) -> (rows, 2, n / 2 + 1)
void fft_rows(std::size_t rows, std::size_t n, const real* x, real* y, BinWeights weights);
/// RealFft::backward() of half spectra times weights. (rows, 2, n / 2 + 1) -> (rows, n)
void backward_fft_rows(std::size_t rows, std::size_t n, const real* x, real* y, BinWeights weights);

}  // namespace bochner::inline BOCHNER_PRECISION
