#include <bochner/autodiff/compute/math.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/layers/probability/distributions.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>
#include <limits>
#include <numbers>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

/// ln of the normalising integral of a Dirichlet distribution.
double log_dirichlet_integral(const DirichletDistribution& p) {
  double sum = -std::lgamma(p.total());
  for (const double a : p.a) sum += std::lgamma(a);
  return sum;
}

/// The lower triangle L of a = L L^T. (d, d)
std::vector<double> factor_of(std::vector<double> a, std::size_t d) {
  cholesky(d, a.data());
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = i + 1; j < d; ++j) a[i * d + j] = 0;
  return a;
}

/// |L^-1 b|^2 for L (d, d), b (d, columns).
double whitened_square(const std::vector<double>& factor, std::vector<double> b, std::size_t d) {
  solve_lower(d, factor.data(), b.size() / d, b.data());
  return squared_length(b.data(), b.size());
}

/// x += L z for z standard normal.
void add_normal(const std::vector<double>& factor, Draws& draws, double stretch,
                std::vector<double>& x) {
  const std::size_t d = x.size();
  std::vector<double> z(d);
  for (double& one : z) one = draws.normal();
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j <= i; ++j) x[i] += stretch * factor[i * d + j] * z[j];
}

/// ln of the normalising integral of a Wishart distribution.
double log_wishart_integral(const WishartDistribution& p) {
  const std::size_t d = p.dim();
  return p.degrees / 2 *
             (double(d) * std::numbers::ln2 +
              log_determinant_of_factor(d, factor_of(p.scale, d).data())) +
         log_multivariate_gamma(d, p.degrees / 2);
}

double log_student_integral(const StudentDistribution& p, const std::vector<double>& factor) {
  const std::size_t d = p.mean.size();
  return std::lgamma(p.degrees / 2) - std::lgamma((p.degrees + double(d)) / 2) +
         double(d) / 2 * std::log(p.degrees * std::numbers::pi) +
         log_determinant_of_factor(d, factor.data()) / 2;
}

}  // namespace

double log_multivariate_gamma(std::size_t d, double x) {
  double sum = double(d) * double(d - 1) / 4 * std::log(std::numbers::pi);
  for (std::size_t i = 0; i < d; ++i) sum += std::lgamma(x - double(i) / 2);
  return sum;
}

double squared_mahalanobis(const std::vector<double>& factor, const std::vector<double>& mean,
                           const double* x) {
  const std::size_t d = mean.size();
  std::vector<double> white(d);
  for (std::size_t i = 0; i < d; ++i) {
    white[i] = x[i] - mean[i];
    for (std::size_t j = 0; j < i; ++j) white[i] -= factor[i * d + j] * white[j];
    white[i] /= factor[i * d + i];
  }
  return squared_length(white.data(), d);
}

std::vector<double> inverse_of(std::vector<double> a, std::size_t d) {
  cholesky(d, a.data());
  invert_from_factor(d, a.data());
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j < i; ++j) a[j * d + i] = a[i * d + j];
  return a;
}

double NormalDistribution::log_density(double x) const {
  const double score = (x - mean) / deviation;
  return -(score * score + log_two_pi) / 2 - std::log(deviation);
}
double NormalDistribution::entropy() const { return (1 + log_two_pi) / 2 + std::log(deviation); }
double GammaDistribution::log_density(double x) const {
  if (!(x > 0)) return -std::numeric_limits<double>::infinity();
  return shape * std::log(rate) + (shape - 1) * std::log(x) - rate * x - std::lgamma(shape);
}
double GammaDistribution::entropy() const {
  return shape - std::log(rate) + std::lgamma(shape) + (1 - shape) * special::digamma(shape);
}
double GammaDistribution::draw(Draws& draws) const {
  return std::exp(quantile::log_gamma(shape, draws.normal())) / rate;
}

double BetaDistribution::log_density(double x) const {
  if (!(x > 0 && x < 1)) return -std::numeric_limits<double>::infinity();
  return (a - 1) * std::log(x) + (b - 1) * std::log1p(-x) - log_beta(a, b);
}
double BetaDistribution::entropy() const {
  return log_beta(a, b) - (a - 1) * special::digamma(a) - (b - 1) * special::digamma(b) +
         (a + b - 2) * special::digamma(a + b);
}
double BetaDistribution::draw(Draws& draws) const {
  const double x = quantile::log_gamma(a, draws.normal()),
               y = quantile::log_gamma(b, draws.normal());
  return 1 / (1 + std::exp(y - x));
}

double DirichletDistribution::total() const { return std::accumulate(a.begin(), a.end(), 0.0); }
double DirichletDistribution::log_density(const std::vector<double>& x) const {
  double sum = -log_dirichlet_integral(*this);
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k] != 1) sum += (a[k] - 1) * std::log(x[k]);
  return sum;
}
double DirichletDistribution::entropy() const {
  const double all = total();
  double sum = log_dirichlet_integral(*this) + (all - double(a.size())) * special::digamma(all);
  for (const double one : a) sum -= (one - 1) * special::digamma(one);
  return sum;
}
std::vector<double> DirichletDistribution::draw(Draws& draws) const {
  std::vector<double> x;
  for (const double one : a) x.push_back(quantile::log_gamma(one, draws.normal()));
  const double most = *std::ranges::max_element(x);
  double sum = 0;
  for (double& one : x) sum += one = std::exp(one - most);
  for (double& one : x) one /= sum;
  return x;
}

double CategoricalDistribution::entropy() const {
  double sum = 0;
  for (const double one : p)
    if (one > 0) sum -= one * std::log(one);
  return sum;
}
std::size_t CategoricalDistribution::draw(Draws& draws) const {
  double left = draws.uniform() * std::accumulate(p.begin(), p.end(), 0.0);
  std::size_t k = 0;
  while (k + 1 < p.size() && left >= p[k]) left -= p[k++];
  return k;
}

double WishartDistribution::log_density(const std::vector<double>& x) const {
  const std::size_t d = dim();
  const std::vector<double> factor = factor_of(x, d);
  return (degrees - double(d) - 1) / 2 * log_determinant_of_factor(d, factor.data()) -
         whitened_square(factor_of(scale, d), factor, d) / 2 - log_wishart_integral(*this);
}
double WishartDistribution::entropy() const {
  const double d = double(dim());
  return log_wishart_integral(*this) - (degrees - d - 1) / 2 * expected_log_determinant() +
         degrees * d / 2;
}
double WishartDistribution::expected_log_determinant() const {
  const std::size_t d = dim();
  double sum =
      double(d) * std::numbers::ln2 + log_determinant_of_factor(d, factor_of(scale, d).data());
  for (std::size_t i = 0; i < d; ++i) sum += special::digamma((degrees - double(i)) / 2);
  return sum;
}
std::vector<double> WishartDistribution::draw(Draws& draws) const {
  const std::size_t d = dim();
  const std::vector<double> factor = factor_of(scale, d);
  std::vector<double> bartlett(d * d), root(d * d), x(d * d);
  for (std::size_t i = 0; i < d; ++i) {
    const GammaDistribution square{(degrees - double(i)) / 2, 0.5};
    bartlett[i * d + i] = std::sqrt(square.draw(draws));
    for (std::size_t j = 0; j < i; ++j) bartlett[i * d + j] = draws.normal();
  }
  multiply(d, d, d, factor.data(), false, bartlett.data(), 0, root.data());
  for (std::size_t i = 0; i < d * d; ++i)
    for (std::size_t k = 0; k < d; ++k) x[i] += root[i / d * d + k] * root[i % d * d + k];
  return x;
}

StudentDensity::StudentDensity(const StudentDistribution& p)
    : degrees_(p.degrees), at_mean_(0), mean_(p.mean), factor_(factor_of(p.scale, p.mean.size())) {
  at_mean_ = -log_student_integral(p, factor_);
}
double StudentDensity::operator()(const double* x) const {
  return at_mean_ - (degrees_ + double(mean_.size())) / 2 *
                        std::log1p(squared_mahalanobis(factor_, mean_, x) / degrees_);
}

double StudentDistribution::log_density(const std::vector<double>& x) const {
  return StudentDensity(*this)(x.data());
}
double StudentDistribution::entropy() const {
  const std::size_t d = mean.size();
  const double half = (degrees + double(d)) / 2;
  return log_student_integral(*this, factor_of(scale, d)) +
         half * (special::digamma(half) - special::digamma(degrees / 2));
}
std::vector<double> StudentDistribution::draw(Draws& draws) const {
  const double stretch = 1 / std::sqrt(GammaDistribution{degrees / 2, degrees / 2}.draw(draws));
  std::vector<double> x = mean;
  add_normal(factor_of(scale, mean.size()), draws, stretch, x);
  return x;
}

double MultivariateNormalDistribution::log_density(const std::vector<double>& x) const {
  const std::size_t d = mean.size();
  const std::vector<double> factor = factor_of(covariance, d);
  return log_normal_density(d, squared_mahalanobis(factor, mean, x.data())) -
         log_determinant_of_factor(d, factor.data()) / 2;
}
double MultivariateNormalDistribution::entropy() const {
  const std::size_t d = mean.size();
  return normal_entropy(d) + log_determinant_of_factor(d, factor_of(covariance, d).data()) / 2;
}
std::vector<double> MultivariateNormalDistribution::draw(Draws& draws) const {
  std::vector<double> x = mean;
  add_normal(factor_of(covariance, mean.size()), draws, 1, x);
  return x;
}

double ParetoDistribution::log_density(double x) const {
  if (!(x >= scale)) return -std::numeric_limits<double>::infinity();
  return std::log(shape / scale) - (shape + 1) * std::log(x / scale);
}

double kl_divergence(const NormalDistribution& p, const NormalDistribution& q) {
  const double ratio = p.deviation / q.deviation, away = (p.mean - q.mean) / q.deviation;
  return (ratio * ratio + away * away - 1) / 2 - std::log(ratio);
}

double kl_divergence(const GammaDistribution& p, const GammaDistribution& q) {
  return (p.shape - q.shape) * special::digamma(p.shape) - std::lgamma(p.shape) +
         std::lgamma(q.shape) + q.shape * std::log(p.rate / q.rate) +
         p.shape * (q.rate - p.rate) / p.rate;
}

double kl_divergence(const BetaDistribution& p, const BetaDistribution& q) {
  return kl_divergence(DirichletDistribution{{p.a, p.b}}, DirichletDistribution{{q.a, q.b}});
}

double kl_divergence(const DirichletDistribution& p, const DirichletDistribution& q) {
  const double all = special::digamma(p.total());
  double sum = log_dirichlet_integral(q) - log_dirichlet_integral(p);
  for (std::size_t k = 0; k < p.a.size(); ++k)
    sum += (p.a[k] - q.a[k]) * (special::digamma(p.a[k]) - all);
  return sum;
}

double kl_divergence(const CategoricalDistribution& p, const CategoricalDistribution& q) {
  double sum = 0;
  for (std::size_t k = 0; k < p.p.size(); ++k)
    if (p.p[k] > 0) sum += p.p[k] * std::log(p.p[k] / q.p[k]);
  return sum;
}

double kl_divergence(const WishartDistribution& p, const WishartDistribution& q) {
  const std::size_t d = p.dim();
  const double trace = whitened_square(factor_of(q.scale, d), factor_of(p.scale, d), d);
  return log_wishart_integral(q) - log_wishart_integral(p) +
         (p.degrees - q.degrees) / 2 * p.expected_log_determinant() +
         p.degrees / 2 * (trace - double(d));
}

double kl_divergence(const MultivariateNormalDistribution& p,
                     const MultivariateNormalDistribution& q) {
  const std::size_t d = p.mean.size();
  const std::vector<double> of_p = factor_of(p.covariance, d), of_q = factor_of(q.covariance, d);
  const double log_ratio =
      log_determinant_of_factor(d, of_q.data()) - log_determinant_of_factor(d, of_p.data());
  return (whitened_square(of_q, of_p, d) + squared_mahalanobis(of_q, q.mean, p.mean.data()) -
          double(d) + log_ratio) /
         2;
}

double kl_divergence(const ParetoDistribution& p, const ParetoDistribution& q) {
  if (p.scale < q.scale) return std::numeric_limits<double>::infinity();
  const double ratio = q.shape / p.shape;
  return ratio - 1 - std::log(ratio) + q.shape * std::log(p.scale / q.scale);
}

}  // namespace bochner::inline BOCHNER_PRECISION
