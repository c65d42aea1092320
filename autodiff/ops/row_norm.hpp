#pragma once
/// Layer norm and RMS norm row by row: what ops that normalise in passing are made of.

#include <bochner/autodiff/ops/normalisation.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Per row what turns x into xhat = (x - mean) * rstd; those of RMS norm have means of zero.
struct RowStatistics {
  Storage mean, rstd;
  explicit RowStatistics(std::size_t rows) : mean(rows), rstd(rows) {}
};

/// y = xhat * gain + bias for row i, whose statistics are stored. (D) -> (D)
void normalize_row(const RowNorm& norm, std::size_t i, const real* x, RowStatistics& statistics,
                   real* y);
/// xhat of row i. (D) -> (D)
void standardize_row(std::size_t D, std::size_t i, const real* x, const RowStatistics& statistics,
                     real* hat);

/// Sums over rows of the gradients of gain and bias, (D) each.
struct RowNormSums {
  real *gain, *bias;
};
/// g, the gradient of y, becomes that of x; g * xhat and g are added to the sums. `scaled`: a
/// scratch row. (D)
void normalize_row_backward(const RowNorm& norm, const real* hat, real rstd, real* g, real* scaled,
                            const RowNormSums& sums);

/// Normalised rows of x (rows, D), a few at a time and not all at once.
class NormalizedRows {
 public:
  NormalizedRows(const Var& x, const RowNorm& norm)
      : x_(x), norm_(norm), D_(norm.gain.size()), statistics_(row_count(x.shape())) {}
  const real* input(std::size_t i) const { return x_.data() + i * D_; }
  /// Rows from `begin` on, whose statistics are kept. (count, D)
  void compute(std::size_t begin, std::size_t count, real* to);
  /// The same again.
  void recompute(std::size_t begin, std::size_t count, real* to) const;
  /// From the gradient of these rows (count, D), which it uses up, to that of x, which it adds to
  /// `to` or stores there. `scratch`: (2, D).
  void backward(std::size_t begin, std::size_t count, real* gradient, real* scratch, bool adds,
                real* to, const RowNormSums& sums) const;
  /// Sums of parts (parts, D) of the gradients of gain and bias.
  void hand_over(const Tensor& gain_sums, const Tensor& bias_sums) const;

 private:
  Var x_;
  RowNorm norm_;
  std::size_t D_;
  RowStatistics statistics_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
