#pragma once
/// Layer norm and RMS norm row by row, for ops that include a normalisation.

#include <bochner/autodiff/kept.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Mean and rstd per row, xhat = (x - mean) * rstd; RMS norm has means of zero.
struct RowStatistics {
  Storage mean, rstd;
  explicit RowStatistics(std::size_t rows) : mean(rows), rstd(rows) {}
};

/// Computes y = xhat * gain + bias for row i and stores its statistics. (D) -> (D)
void normalize_row(const RowNorm& norm, std::size_t i, const real* x, RowStatistics& statistics,
                   real* y);
/// Computes xhat of row i from stored statistics. (D) -> (D)
void standardize_row(std::size_t D, std::size_t i, const real* x, const RowStatistics& statistics,
                     real* hat);

/// Sums over rows of the gradients of gain and bias, (D) each.
struct RowNormSums {
  real *gain, *bias;
};
/// Turns y's gradient g into x's; adds g * xhat and g to the sums. `scaled` is scratch. (D)
void normalize_row_backward(const RowNorm& norm, const real* hat, real rstd, real* g, real* scaled,
                            const RowNormSums& sums);

/// Normalised rows of x (rows, D), computed a few at a time.
class NormalizedRows {
 public:
  NormalizedRows(const Var& x, const RowNorm& norm)
      : x_(x), norm_(norm), D_(norm.gain.size()), statistics_(row_count(x.shape())) {}
  /// Keeps the input for the backward pass, see Kept; restore() makes it readable again.
  void keep_input() { kept_ = Kept(x_), x_ = Var(); }
  void restore_input() { x_ = kept_(), kept_ = Kept(); }
  const real* input(std::size_t i) const { return x_.data() + i * D_; }
  /// Computes rows from `begin` on and stores their statistics. (count, D)
  void compute(std::size_t begin, std::size_t count, real* to);
  /// Computes rows again from the stored statistics.
  void recompute(std::size_t begin, std::size_t count, real* to) const;
  /// Turns the gradient of these rows (count, D), which it overwrites, into that of x, which it
  /// adds to `to` or stores there. `scratch`: (2, D).
  void backward(std::size_t begin, std::size_t count, real* gradient, real* scratch, bool adds,
                real* to, const RowNormSums& sums) const;
  /// Adds the partial sums (parts, D) to the gradients of gain and bias.
  void flush_gradients(const Tensor& gain_sums, const Tensor& bias_sums) const;

 private:
  Var x_;
  Kept kept_;
  RowNorm norm_;
  std::size_t D_;
  RowStatistics statistics_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
