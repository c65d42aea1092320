#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/base/numeric/openblas.hpp>
#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <cmath>
#include <numeric>

/// Generalized exponential features of the softmax kernel, with less variance than positive ones.
/// Likhosherstov et al., "FAVOR++", 2022, and "FAVOR#", 2023.

namespace bochner::inline BOCHNER_PRECISION {
namespace {

Tensor identities(std::size_t H, std::size_t d) {
  Tensor x = zeros({H, d, d});
  for (std::size_t i = 0; i < H * d; ++i) x.data()[i * d + i % d] = 1;
  return x;
}

/// Matrix (n, n) in row-major order.
using Matrix = std::vector<double>;

struct SampleMoments {
  std::size_t d;
  Matrix second;             ///< E x x^T, (d, d)
  std::vector<double> mean;  ///< (d)

  /// Computes the moments of points (n, d).
  SampleMoments(const std::vector<double>& points, std::size_t dim)
      : d(dim), second(dim * dim), mean(dim) {
    const double n = double(points.size() / d);
    for (std::size_t s = 0; s < points.size(); s += d) {
      for (std::size_t i = 0; i < d; ++i) {
        mean[i] += points[s + i] / n;
        for (std::size_t j = 0; j < d; ++j) second[i * d + j] += points[s + i] * points[s + j] / n;
      }
    }
  }
  /// Returns E |x|^2.
  double square() const {
    double sum = 0;
    for (std::size_t i = 0; i < d; ++i) sum += second[i * d + i];
    return sum;
  }
};

Matrix transposed(const Matrix& a, std::size_t n) {
  Matrix t(n * n);
  for (std::size_t i = 0; i < n * n; ++i) t[i % n * n + i / n] = a[i];
  return t;
}

constexpr double min_moment = 1e-9;  // for coordinates that are always 0

double positive_part(double x) { return std::max(x, min_moment); }

void store(const Matrix& from, std::size_t head, Tensor& to) {
  for (std::size_t i = 0; i < from.size(); ++i) to.data()[head * from.size() + i] = real(from[i]);
}

/// Returns diag(scale) a.
Matrix scaled_rows(const std::vector<double>& scale, Matrix a) {
  const std::size_t n = scale.size();
  for (std::size_t i = 0; i < n * n; ++i) a[i] *= scale[i / n];
  return a;
}

std::vector<double> power(std::vector<double> values, double exponent) {
  for (double& value : values) value = std::pow(positive_part(value), exponent);
  return values;
}

/// Returns log Psi_l = ln(E y_l^2 / E x_l^2) / 4, which minimizes E |Psi x|^2 + |Psi^-1 y|^2.
std::vector<double> balanced_log_psi(const SampleMoments& q, const SampleMoments& k) {
  std::vector<double> log_psi(q.d);
  for (std::size_t l = 0; l < q.d; ++l) {
    log_psi[l] =
        std::log(positive_part(k.second[l * q.d + l]) / positive_part(q.second[l * q.d + l])) / 4;
  }
  return log_psi;
}

/// Returns Q and L of E (x + y)(x + y)^T = Q L Q^T for independent x and y.
SymmetricEigen sum_axes(const SampleMoments& q, const SampleMoments& k) {
  Matrix sum(q.second);
  for (std::size_t i = 0; i < q.d * q.d; ++i) {
    const std::size_t row = i / q.d, column = i % q.d;
    sum[i] += k.second[i] + q.mean[row] * k.mean[column] + k.mean[row] * q.mean[column];
  }
  return symmetric_eigen(sum, q.d);
}

struct MatrixPair {
  Matrix query, key;
  double trace;  ///< E |M_q x|^2 = E |M_k y|^2
};

/// Returns M_q^T M_k = I of least E |M_q x|^2 + |M_k y|^2: E x x^T = Q L Q^T, L^(1/2) Q^T (E y y^T)
/// Q L^(1/2) = U S^2 U^T, M_q = S^(1/2) U^T L^(-1/2) Q^T, M_k = S^(-1/2) U^T L^(1/2) Q^T.
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

/// Computes f(w, x) = prod_l (1 - 4 A_l)^(1/4) exp(sum_l A_l w_l^2 + sqrt(1 - 4 A_l) w_l u_l -
/// |u|^2 / 2) as logarithms, divided by sqrt(m); F = m. A < 1/8; u_q = Psi M_q y for queries, u_k =
/// Psi^-1 M_k y for keys, M_q^T M_k = I. A = (1 - 1/rho) / 8 is learned through rho and starts at
/// its optimum for elements from N(0, 1). It is never computed from the sequence, which would leak
/// the future. calibrate() sets all to the optimum for samples.
class OptimalFeatures : public TwoSidedMap {
 public:
  /// `oprf`: one A. `saderf`: one A and a learned diagonal Psi. `sderf`: A per dimension, one
  /// rotation for both sides. `aderf`: one A, a pair of matrices.
  explicit OptimalFeatures(const FeatureSpec& spec)
      : m_(spec.m),
        d_(spec.dim),
        scaled_(spec.kind == "saderf"),
        rotated_(spec.kind == "sderf"),
        paired_(spec.kind == "aderf"),
        frequencies_(spec),
        log_rho_(filled({spec.heads, 1, rotated_ ? d_ : 1},
                        real(optimal_log_rho(double(d_), 2 * std::sqrt(double(d_)))))),
        log_psi_(zeros({scaled_ ? spec.heads : 0, d_})) {
    if (rotated_ || paired_) query_matrix_ = identities(spec.heads, d_);
    if (paired_) key_matrix_ = query_matrix_;
  }

  bool positive() const override { return true; }
  Frequencies* frequencies() override { return &frequencies_; }
  /// Matrices are not trained: without calibration `aderf` is `oprf`.
  bool needs_calibration() const override { return rotated_ || paired_; }
  std::optional<double> kernel(Point q, Point k, std::size_t) const override {
    return ScaledPair(q, k).softmax();
  }

  std::optional<double> variance(Point q, Point k, std::size_t head) const override {
    const ScaledPair pair(q, k);
    const auto x = side_of(pair.x, head, Side::query), y = side_of(pair.y, head, Side::key);
    double second = 1;
    for (std::size_t l = 0; l < d_; ++l) second *= optimal_second_moment(x[l], y[l], r_of(head, l));
    return (second - std::exp(2 * pair.xy)) / double(m_);
  }

  void calibrate(const Tensor& queries, const Tensor& keys) override {
    real* log_rho = log_rho_.value().data();
    for (std::size_t h = 0; h < log_rho_.shape()[0]; ++h) {
      const SampleMoments q(scaled_samples(queries, h, d_), d_), k(scaled_samples(keys, h, d_), d_);
      if (rotated_) {
        const SymmetricEigen axes = sum_axes(q, k);
        store(transposed(axes.vectors, d_), h, query_matrix_);
        for (std::size_t l = 0; l < d_; ++l)
          log_rho[h * d_ + l] = real(optimal_log_rho(1, axes.values[l]));
        continue;
      }
      double phi = q.square() + k.square();
      if (scaled_) {
        const std::vector<double> log_psi = balanced_log_psi(q, k);
        phi = 0;
        for (std::size_t l = 0; l < d_; ++l) {
          log_psi_.value().data()[h * d_ + l] = real(log_psi[l]);
          phi += q.second[l * d_ + l] * std::exp(2 * log_psi[l]) +
                 k.second[l * d_ + l] * std::exp(-2 * log_psi[l]);
        }
      }
      if (paired_) {
        const MatrixPair pair = balanced_matrices(q, k);
        store(pair.query, h, query_matrix_);
        store(pair.key, h, key_matrix_);
        phi = 2 * pair.trace;
      }
      phi += 2 * std::inner_product(q.mean.begin(), q.mean.end(), k.mean.begin(), 0.0);
      log_rho[h] = real(optimal_log_rho(double(d_), phi));
    }
  }

  void visit(Visitor& visitor) override {
    frequencies_.visit(visitor);
    visitor("log_rho", log_rho_);
    if (scaled_) visitor("log_psi", log_psi_);
    if (rotated_ || paired_) visitor("query_matrix", query_matrix_);
    if (paired_) visitor("key_matrix", key_matrix_);
  }

 protected:
  Features side(Tape& tape, const Var& x, Side side, std::size_t) override {
    const Var w = frequencies_.draws(tape), r = exp(-tape(log_rho_));
    const Var A = (1 - r) / 8, g = (1 + r) / 2;  // g = 1 - 4 A
    const double times = rotated_ ? 0.25 : 0.25 * double(d_);
    const Var offset = sum(A * square(w), -1) + sum(log(g), -1) * times;
    return exponential(side_of(tape, x, side), w * sqrt(g), 0.5, offset);
  }

 private:
  Var side_of(Tape& tape, const Var& x, Side side) {
    if (scaled_) return x * exp(tape(log_psi_) * (side == Side::query ? 1 : -1));
    if (rotated_) return project_heads(x, tape.view(query_matrix_));
    if (paired_)
      return project_heads(x, tape.view(side == Side::query ? query_matrix_ : key_matrix_));
    return x;
  }

  std::vector<double> side_of(const std::vector<double>& y, std::size_t head, Side side) const {
    if (!scaled_ && !rotated_ && !paired_) return y;
    std::vector<double> u(d_);
    const Tensor& matrix = paired_ && side == Side::key ? key_matrix_ : query_matrix_;
    for (std::size_t l = 0; l < d_; ++l) {
      if (scaled_) {
        const double log_psi = double(log_psi_.value().data()[head * d_ + l]);
        u[l] = y[l] * std::exp(side == Side::query ? log_psi : -log_psi);
      } else {
        for (std::size_t j = 0; j < d_; ++j)
          u[l] += double(matrix.data()[(head * d_ + l) * d_ + j]) * y[j];
      }
    }
    return u;
  }

  /// Returns 1 - 8 A_l.
  double r_of(std::size_t head, std::size_t l) const {
    const real* log_rho = log_rho_.value().data();
    return std::exp(-double(rotated_ ? log_rho[head * d_ + l] : log_rho[head]));
  }

  std::size_t m_, d_;
  bool scaled_, rotated_, paired_;
  Frequencies frequencies_;
  Parameter log_rho_;                 // (H, 1, 1), or (H, 1, d)
  Parameter log_psi_;                 // (H, d), if scaled
  Tensor query_matrix_, key_matrix_;  // (H, d, d), if rotated or paired
};

}  // namespace

void add_optimal(FeatureMaps& all) {
  for (const char* kind : {"oprf", "saderf", "sderf", "aderf"})
    all.add(kind, make<OptimalFeatures>, {.exponential = true});
}

}  // namespace bochner::inline BOCHNER_PRECISION
