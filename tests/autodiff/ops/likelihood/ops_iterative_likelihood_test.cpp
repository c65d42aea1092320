#include <bochner/autodiff/ops/likelihood/iterative_likelihood.hpp>
#include <cmath>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_iterative_likelihood_test {

using namespace op_check;

/// K_ij = exp(-((i - j) s / 4)^2 / 2) + (i == j) (0.1 + q).
class Bells : public RowwiseCovariance {
 public:
  Bells(std::size_t n, const Var& s, const Var& q)
      : n_(n), s_(double(s.data()[0])), q_(double(q.data()[0])) {}
  std::size_t size() const override { return n_; }
  double variance(std::size_t) const override { return 1; }
  double noise() const override { return 0.1 + q_; }
  void full_row(std::size_t i, double* numbers) const override {
    for (std::size_t j = 0; j < n_; ++j) numbers[j] = bell(i, j);
  }
  void row(std::size_t i, double* numbers) const override {
    for (std::size_t j = 0; j <= i; ++j) numbers[j] = bell(i, j) + (i == j ? noise() : 0);
  }
  std::vector<std::vector<double>> pull_back(const LowerRow& weights) const override {
    double by_s = 0, by_q = 0;
    std::vector<double> row(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      weights(i, row.data());
      for (std::size_t j = 0; j <= i; ++j)
        by_s -= row[j] * bell(i, j) * s_ * double((i - j) * (i - j)) / 16;
      by_q += row[i];
    }
    return {{by_s}, {by_q}};
  }

 private:
  double bell(std::size_t i, std::size_t j) const {
    return std::exp(-std::pow((double(i) - double(j)) * s_ / 4, 2) / 2);
  }
  std::size_t n_;
  double s_, q_;
};

std::vector<double> values(std::size_t n) {
  std::vector<double> y;
  for (std::size_t i = 0; i < n; ++i) y.push_back(std::sin(double(i)));
  return y;
}

Op likelihood(std::size_t n, const IterativeSpec& spec) {
  return [=](Tape&, const std::vector<Var>& x) {
    return iterative_log_likelihood(x, std::make_shared<Bells>(n, x[0], x[1]), values(n), spec);
  };
}

/// With as many probes and steps as dimensions, traces and the log determinant are exact.
std::vector<OpRow> rows() {
  const IterativeSpec exact{.probes = 1000, .rank = 3, .tolerance = 1e-28};
  return {
      {"iterative_log_likelihood", "", likelihood(6, exact), {{{}, {}}, {{1}, {1}}}, {0.3, 0.9}}};
}

TEST(IterativeLogLikelihood, IsTheExactOneWithAllProbes) {
  const std::vector<Tensor> at{filled({}, real(0.5)), filled({}, real(0.25))};
  for (const std::size_t n : {6, 150}) {
    const IterativeSpec spec{.probes = 1000, .rank = 3, .tolerance = 1e-26, .max_steps = 200};
    const auto exact = [n](Tape&, const std::vector<Var>& x) {
      return gaussian_log_likelihood(x, std::make_shared<Bells>(n, x[0], x[1]), values(n));
    };
    const auto a = value_and_gradients(likelihood(n, spec), at), b = value_and_gradients(exact, at);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(double(a[i].data()[0]), double(b[i].data()[0]),
                  1e-5 * std::max(1.0, std::abs(double(b[i].data()[0]))))
          << n << ": " << i;
  }
}

/// With few probes, the log determinant and the gradients are approximate.
TEST(IterativeLogLikelihood, IsNearWithFewProbes) {
  const std::vector<Tensor> at{filled({}, real(0.5)), filled({}, real(0.25))};
  const std::size_t n = 300;
  const IterativeSpec spec{.probes = 100, .rank = 20};
  const auto exact = [n](Tape&, const std::vector<Var>& x) {
    return gaussian_log_likelihood(x, std::make_shared<Bells>(n, x[0], x[1]), values(n));
  };
  const auto a = value_and_gradients(likelihood(n, spec), at), b = value_and_gradients(exact, at);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(double(a[i].data()[0]), double(b[i].data()[0]),
                0.2 * std::abs(double(b[i].data()[0])))
        << i;
}

TEST(IterativeCovariance, TimesABlockIsTheProduct) {
  const std::size_t n = 300, columns = 2;
  const Bells bells(n, Var(filled({}, real(0.5))), Var(filled({}, real(0.25))));
  const IterativeCovariance matrix(bells, {});
  const Tensor x = random_tensor({n, columns}, 1);
  const auto y = matrix.times({x.begin(), x.end()}, columns);
  std::vector<double> row(n);
  for (const std::size_t i : {0u, 127u, 128u, 299u}) {
    bells.full_row(i, row.data());
    double sum = bells.noise() * double(x(i, 1));
    for (std::size_t j = 0; j < n; ++j) sum += row[j] * double(x(j, 1));
    EXPECT_NEAR(y[i * columns + 1], sum, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Iterative, OpTest, ::testing::ValuesIn(rows()), test_name);

}  // namespace ops_iterative_likelihood_test
}  // namespace bochner::inline BOCHNER_PRECISION
