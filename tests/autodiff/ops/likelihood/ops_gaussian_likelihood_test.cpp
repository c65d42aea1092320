#include <bochner/autodiff/ops/likelihood/gaussian_likelihood.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <cmath>
#include <numbers>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_gaussian_likelihood_test {

using namespace op_check;

/// K_ij = exp(-((i - j) s)^2 / 2) + (i == j) (0.1 + q), s and q the first elements of two
/// parameters; other elements have no effect.
class Chain : public Covariance {
 public:
  Chain(std::size_t n, const Var& s, const Var& q)
      : n_(n), sizes_{s.size(), q.size()}, s_(double(s.data()[0])), q_(double(q.data()[0])) {}
  std::size_t size() const override { return n_; }
  void row(std::size_t i, double* numbers) const override {
    for (std::size_t j = 0; j <= i; ++j) numbers[j] = bell(i, j) + (i == j ? 0.1 + q_ : 0);
  }
  std::vector<std::vector<double>> pull_back(const LowerRow& weights) const override {
    std::vector<std::vector<double>> slopes{std::vector<double>(sizes_[0]),
                                            std::vector<double>(sizes_[1])};
    std::vector<double> row(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      weights(i, row.data());
      for (std::size_t j = 0; j <= i; ++j)
        slopes[0][0] -= row[j] * bell(i, j) * s_ * double((i - j) * (i - j));
      slopes[1][0] += row[i];
    }
    return slopes;
  }

 private:
  double bell(std::size_t i, std::size_t j) const {
    return std::exp(-std::pow(double(i - j) * s_, 2) / 2);
  }
  std::size_t n_;
  std::vector<std::size_t> sizes_;
  double s_, q_;
};

std::vector<double> chain_values(std::size_t n) {
  std::vector<double> y;
  for (std::size_t i = 0; i < n; ++i) y.push_back(std::sin(double(i)));
  return y;
}

Op chain_likelihood(std::size_t n) {
  return [n](Tape&, const std::vector<Var>& x) {
    return gaussian_log_likelihood(x, std::make_shared<Chain>(n, x[0], x[1]), chain_values(n));
  };
}

std::vector<OpRow> rows() {
  const std::vector<Shapes> shapes{{{}, {}}, {{1}, {2}}};
  std::vector<OpRow> all;
  for (const auto& [name, n] : std::vector<std::pair<const char*, std::size_t>>{
           {"", 7}, {"TwoTiles", 150}, {"OneRow", 1}, {"NoRow", 0}})
    all.push_back({"gaussian_log_likelihood", name, chain_likelihood(n), shapes, {0.3, 0.9}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Gaussian, OpTest, ::testing::ValuesIn(rows()), test_name);

double likelihood_of(std::size_t n, double s, double q) {
  return double(
      value_of(chain_likelihood(n), {filled({}, real(s)), filled({}, real(q))}).data()[0]);
}

/// One row, and two by the density of the second given the first.
TEST(GaussianLogLikelihood, AgreesWithItsFormula) {
  const double s = 0.5, q = 0.25, variance = 1.1 + q, cross = std::exp(-s * s / 2),
               y = std::sin(1.0);
  const auto normal = [](double error, double v) {
    return -(error * error / v + std::log(2 * std::numbers::pi * v)) / 2;
  };
  EXPECT_NEAR(likelihood_of(1, s, q), normal(0, variance), 10 * tolerance);
  EXPECT_NEAR(likelihood_of(2, s, q),
              normal(0, variance) + normal(y, variance - cross * cross / variance), 10 * tolerance);
}

TEST(GaussianLogLikelihood, RefusesWhatIsNoCovariance) {
  EXPECT_THROW(likelihood_of(3, 0.5, -2), NotPositiveDefinite);
  EXPECT_EQ(error_of([] { factored(Chain(3, Var(zeros({})), Var(zeros({}))), {1}); }),
            "[gaussian_log_likelihood] a covariance of 3 rows and 1 values");
}

}  // namespace ops_gaussian_likelihood_test
}  // namespace bochner::inline BOCHNER_PRECISION
