#include <algorithm>
#include <bochner/autodiff/compute/eigen.hpp>
#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/moments.hpp>
#include <bochner/layers/features/optimal.hpp>
#include <cmath>

/// The optima of generalised exponential features for samples of queries and keys.

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr double smallest = 1e-9;  // of second moments: a coordinate that is always 0

double positive_part(double x) { return std::max(x, smallest); }

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

void store(const Matrix& from, std::size_t head, Tensor& to) {
  for (std::size_t i = 0; i < from.size(); ++i) to.data()[head * from.size() + i] = real(from[i]);
}

/// diag(scale) a
Matrix scaled_rows(const std::vector<double>& scale, Matrix a) {
  const std::size_t n = scale.size();
  for (std::size_t i = 0; i < n * n; ++i) a[i] *= scale[i / n];
  return a;
}

std::vector<double> power(std::vector<double> values, double exponent) {
  for (double& value : values) value = std::pow(positive_part(value), exponent);
  return values;
}

/// log Psi_l = ln(E y_l^2 / E x_l^2) / 4, which minimises E |Psi x|^2 + |Psi^-1 y|^2.
std::vector<double> balanced_log_psi(const SampleMoments& q, const SampleMoments& k) {
  std::vector<double> log_psi(q.d);
  for (std::size_t l = 0; l < q.d; ++l) {
    log_psi[l] =
        std::log(positive_part(k.second[l * q.d + l]) / positive_part(q.second[l * q.d + l])) / 4;
  }
  return log_psi;
}

/// Q of E (x + y)(x + y)^T = Q L Q^T for independent x and y, and L.
SymmetricEigen joint_axes(const SampleMoments& q, const SampleMoments& k) {
  Matrix joint(q.second);
  for (std::size_t i = 0; i < q.d * q.d; ++i) {
    const std::size_t row = i / q.d, column = i % q.d;
    joint[i] += k.second[i] + q.mean[row] * k.mean[column] + k.mean[row] * q.mean[column];
  }
  return symmetric_eigen(joint, q.d);
}

struct MatrixPair {
  Matrix query, key;
  double trace;  ///< E |M_q x|^2 = E |M_k y|^2
};

/// M_q^T M_k = I with the least E |M_q x|^2 + |M_k y|^2: with E x x^T = Q L Q^T and L^(1/2) Q^T (E
/// y y^T) Q L^(1/2) = U S^2 U^T, M_q = S^(1/2) U^T L^(-1/2) Q^T, M_k = S^(-1/2) U^T L^(1/2) Q^T.
MatrixPair balanced_matrices(const SampleMoments& q, const SampleMoments& k) {
  const std::size_t d = q.d;
  const SymmetricEigen first = symmetric_eigen(q.second, d);
  const Matrix axes = transposed(first.vectors, d);
  const Matrix root = scaled_rows(power(first.values, 0.5), axes);
  const Matrix inverse = scaled_rows(power(first.values, -0.5), axes);
  const SymmetricEigen second =
      symmetric_eigen(square_product(square_product(root, k.second, d), transposed(root, d), d), d);
  const Matrix left = transposed(second.vectors, d);
  const std::vector<double> singular = power(second.values, 0.5);
  MatrixPair pair{scaled_rows(power(singular, 0.5), square_product(left, inverse, d)),
                  scaled_rows(power(singular, -0.5), square_product(left, root, d)), 0};
  for (double s : singular) pair.trace += s;
  return pair;
}

}  // namespace

void OptimalFeatures::calibrate(const Tensor& queries, const Tensor& keys) {
  const double d = double(d_);
  real* log_rho = log_rho_.value().data();
  for (std::size_t h = 0; h < log_rho_.shape()[0]; ++h) {
    const SampleMoments q(scaled_samples(queries, h, d_), d_), k(scaled_samples(keys, h, d_), d_);
    double phi = q.square() + k.square();
    if (is(Variant::scaled)) {
      const std::vector<double> log_psi = balanced_log_psi(q, k);
      phi = 0;
      for (std::size_t l = 0; l < d_; ++l) {
        log_psi_.value().data()[h * d_ + l] = real(log_psi[l]);
        phi += q.second[l * d_ + l] * std::exp(2 * log_psi[l]) +
               k.second[l * d_ + l] * std::exp(-2 * log_psi[l]);
      }
    }
    if (is(Variant::paired)) {
      const MatrixPair pair = balanced_matrices(q, k);
      store(pair.query, h, query_matrix_);
      store(pair.key, h, key_matrix_);
      phi = 2 * pair.trace;
    }
    if (!is(Variant::rotated)) log_rho[h] = real(optimal_log_rho(d, phi + 2 * dot(q.mean, k.mean)));
    if (!is(Variant::rotated)) continue;
    const SymmetricEigen axes = joint_axes(q, k);
    store(transposed(axes.vectors, d_), h, query_matrix_);
    for (std::size_t l = 0; l < d_; ++l)
      log_rho[h * d_ + l] = real(optimal_log_rho(1, axes.values[l]));
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
