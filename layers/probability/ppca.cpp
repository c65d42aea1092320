#include <bochner/autodiff/compute/math.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/openblas.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/layers/probability/distributions.hpp>
#include <bochner/layers/probability/ppca.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// a^T b. a (n, p), b (n, q) -> (p, q)
std::vector<double> gram_product(const std::vector<double>& a, std::size_t p,
                                 const std::vector<double>& b, std::size_t q) {
  std::vector<double> product(p * q);
  multiply(p, q, a.size() / p, a.data(), true, b.data(), 0, product.data());
  return product;
}

/// a b. a (n, p), b (p, q) -> (n, q)
std::vector<double> plain_product(const std::vector<double>& a, std::size_t p,
                                  const std::vector<double>& b, std::size_t q) {
  std::vector<double> product(a.size() / p * q);
  multiply(a.size() / p, q, p, a.data(), false, b.data(), 0, product.data());
  return product;
}

/// M = W^T W + noise I. -> (q, q)
std::vector<double> latent_precision(const std::vector<double>& loadings, std::size_t q,
                                     double noise) {
  std::vector<double> M = gram_product(loadings, q, loadings, q);
  for (std::size_t i = 0; i < q; ++i) M[i * q + i] += noise;
  return M;
}

std::vector<double> centred_rows(const std::vector<double>& rows, const std::vector<double>& mean) {
  std::vector<double> centred = rows;
  for (std::size_t i = 0; i < rows.size(); ++i) centred[i] -= mean[i % mean.size()];
  return centred;
}

std::vector<double> mean_of_rows(const std::vector<double>& rows, std::size_t d) {
  std::vector<double> mean(d);
  for (std::size_t i = 0; i < rows.size(); ++i) mean[i % d] += rows[i];
  for (double& x : mean) x /= double(rows.size() / d);
  return mean;
}

void require_rows(const std::vector<double>& rows, std::size_t d, std::size_t factors) {
  require(factors >= 1 && factors < d && rows.size() >= 2 * d && rows.size() % d == 0, "ppca",
          factors, " factors of ", rows.size(), " values in rows of ", d,
          "; needs two rows and fewer factors than dimensions, at least 1");
}

/// W with columns turned to orthogonal ones, longest first.
std::vector<double> turned_to_axes(const std::vector<double>& loadings, std::size_t q) {
  const SymmetricEigen eigen = symmetric_eigen(gram_product(loadings, q, loadings, q), q);
  std::vector<double> turn(q * q);
  for (std::size_t i = 0; i < q; ++i)
    for (std::size_t f = 0; f < q; ++f) turn[i * q + f] = eigen.vectors[i * q + q - 1 - f];
  return plain_product(loadings, q, turn, q);
}

/// One round from centred rows with mean square `spread` (the trace of their covariance S).
class EmRound {
 public:
  EmRound(const std::vector<double>& centred, double spread, const ProbabilisticPca& model)
      : d_(model.mean.size()), q_(model.factors()), spread_(spread), model_(model) {
    const double n = double(centred.size() / d_);
    inverse_ = inverse_of(latent_precision(model.loadings, q_, model.noise), q_);
    const std::vector<double> projected = plain_product(centred, d_, model.loadings, q_);
    SW_ = gram_product(centred, d_, projected, q_);
    for (double& x : SW_) x /= n;
    WSW_ = gram_product(model.loadings, q_, SW_, q_);
  }

  /// ln p in nats a row: ln |C| and tr(C^-1 S) by the matrix determinant and inversion lemmas.
  double log_likelihood() const {
    std::vector<double> factor = latent_precision(model_.loadings, q_, model_.noise);
    cholesky(q_, factor.data());
    double trace = spread_;
    for (std::size_t i = 0; i < q_ * q_; ++i) trace -= inverse_[i] * WSW_[i];
    return -(double(d_) * log_two_pi + double(d_ - q_) * std::log(model_.noise) +
             log_determinant_of_factor(q_, factor.data()) + trace / model_.noise) /
           2;
  }

  ProbabilisticPca maximised() const {
    std::vector<double> inner = plain_product(inverse_, q_, WSW_, q_);
    for (std::size_t i = 0; i < q_; ++i) inner[i * q_ + i] += model_.noise;
    // inner = noise I + M^-1 W^T S W is M^-1 times the symmetric E z z^T of all rows.
    const std::vector<double> moment = plain_product(inner, q_, inverse_, q_);
    const std::vector<double> cross = plain_product(SW_, q_, inverse_, q_);  // E x z^T
    ProbabilisticPca after = model_;
    after.loadings = plain_product(cross, q_, inverse_of(moment, q_), q_);
    double trace = spread_;
    for (std::size_t i = 0; i < d_ * q_; ++i) trace -= cross[i] * after.loadings[i];
    after.noise = trace / double(d_);
    return after;
  }

 private:
  std::size_t d_, q_;
  double spread_;
  const ProbabilisticPca& model_;
  std::vector<double> inverse_, SW_, WSW_;  // M^-1 (q, q), S W (d, q), W^T S W (q, q)
};

}  // namespace

std::vector<double> ProbabilisticPca::covariance() const {
  const std::size_t d = mean.size(), q = factors();
  std::vector<double> all(d * d);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j)
      for (std::size_t f = 0; f < q; ++f)
        all[i * d + j] += loadings[i * q + f] * loadings[j * q + f];
    all[i * d + i] += noise;
  }
  return all;
}

std::vector<double> ProbabilisticPca::log_densities(const std::vector<double>& rows) const {
  const std::size_t d = mean.size(), q = factors();
  const std::vector<double> centred = centred_rows(rows, mean),
                            projected = plain_product(centred, d, loadings, q), z = latents(rows);
  std::vector<double> factor = latent_precision(loadings, q, noise), logs;
  cholesky(q, factor.data());
  const double log_determinant =
      double(d - q) * std::log(noise) + log_determinant_of_factor(q, factor.data());
  for (std::size_t i = 0; i < rows.size() / d; ++i) {
    double square = squared_length(centred.data() + i * d, d);
    for (std::size_t f = 0; f < q; ++f) square -= projected[i * q + f] * z[i * q + f];
    logs.push_back(log_normal_density(d, square / noise) - log_determinant / 2);
  }
  return logs;
}

std::vector<double> ProbabilisticPca::latents(const std::vector<double>& rows) const {
  const std::size_t q = factors();
  return plain_product(plain_product(centred_rows(rows, mean), mean.size(), loadings, q), q,
                       inverse_of(latent_precision(loadings, q, noise), q), q);
}

ProbabilisticPca fit_ppca(const std::vector<double>& rows, std::size_t d, std::size_t factors) {
  require_rows(rows, d, factors);
  ProbabilisticPca model{mean_of_rows(rows, d), {}};
  const std::vector<double> centred = centred_rows(rows, model.mean);
  GaussianComponent all{1, model.mean, gram_product(centred, d, centred, d)};
  double trace = 0;
  for (double& x : all.covariance) x /= double(rows.size() / d);
  for (std::size_t i = 0; i < d; ++i) trace += all.covariance[i * d + i];
  const SymmetricEigen eigen = symmetric_eigen(all.covariance, d);
  for (std::size_t f = 0; f < factors; ++f) trace -= eigen.values[d - 1 - f];
  model.noise = trace / double(d - factors);
  model.loadings = loadings(all, factors);
  return model;
}

PcaByEm fit_ppca_by_em(const std::vector<double>& rows, std::size_t d, std::size_t factors,
                       const RandomFunction& random, std::size_t rounds, double tolerance) {
  require_rows(rows, d, factors);
  PcaByEm fit{{mean_of_rows(rows, d), {}}, {}};
  const std::vector<double> centred = centred_rows(rows, fit.model.mean);
  const double spread = squared_length(centred.data(), centred.size()) / double(rows.size() / d);
  fit.model.noise = spread / double(d);
  for (std::size_t i = 0; i < d * factors; ++i)
    fit.model.loadings.push_back(std::sqrt(fit.model.noise) * random.normal(i));
  for (std::size_t round = 0;; ++round) {
    const EmRound em(centred, spread, fit.model);
    std::vector<double>& path = fit.log_likelihood;
    path.push_back(em.log_likelihood());
    if (round == rounds || (round > 0 && path[round] - path[round - 1] < tolerance)) break;
    fit.model = em.maximised();
  }
  fit.model.loadings = turned_to_axes(fit.model.loadings, factors);
  return fit;
}

}  // namespace bochner::inline BOCHNER_PRECISION
