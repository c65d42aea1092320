#pragma once
/// What feature maps are calibrated with: samples of queries and keys, and their second moments.

#include <bochner/autodiff/tensor.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// The samples of one head times d^(-1/4), as maps see them. (n, H, d), n > 0 -> (n, d)
std::vector<double> scaled_samples(const Tensor& samples, std::size_t head, std::size_t d);

/// A matrix (n, n) in row-major order.
using Matrix = std::vector<double>;

struct SampleMoments {
  std::size_t d;
  Matrix second;             ///< E x x^T, (d, d)
  std::vector<double> mean;  ///< (d)
  /// points (n, d)
  SampleMoments(const std::vector<double>& points, std::size_t dim);
  double square() const;  ///< E |x|^2
};

Matrix transposed(const Matrix& a, std::size_t n);

}  // namespace bochner::inline BOCHNER_PRECISION
