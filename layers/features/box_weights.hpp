#pragma once
/// Fixed weights of random features. Avron et al., "Quasi-Monte Carlo feature maps", 2016; Chen et
/// al., "DiJiang", 2024.

#include <bochner/autodiff/real.hpp>
#include <cstddef>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Box discrepancy of weights xi (m): xi^T H xi - 2 v^T xi + const is the squared error of sum_j
/// xi_j exp(i w_j . z), or of cosines only if `even`, against exp(-|z|^2 / 2), integrated over
/// |z_i| <= b in units of the box.
struct BoxDiscrepancy {
  std::vector<double> H;  // (m, m), prod_i sinc(b (w_li - w_ji)); if even, its mean over +- w_ji
  std::vector<double> v;  // (m), prod_i of the mean of exp(-z^2 / 2) cos(z w_ji) over |z| <= b
};
/// Computes the box discrepancy. frequencies (m, d)
BoxDiscrepancy box_discrepancy(const std::vector<double>& frequencies, std::size_t m, std::size_t d,
                               double b, bool even = false);

/// Returns argmin over xi >= 0 of xi^T H xi - 2 v^T xi for positive definite H (m, m): active sets
/// of Lawson and Hanson, "Solving least squares problems", 1974.
std::vector<double> nonnegative_quadratic(const std::vector<double>& H,
                                          const std::vector<double>& v);

/// Returns the weights xi >= 0 (m) of least box discrepancy.
std::vector<double> box_weights(const std::vector<double>& frequencies, std::size_t m,
                                std::size_t d, double b, bool even = false);

}  // namespace bochner::inline BOCHNER_PRECISION
