#include <bochner/autodiff/ops/likelihood/conjugate_likelihood.hpp>
#include <cmath>
#include <numbers>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_conjugate_likelihood_test {

using namespace op_check;

/// Row i is p_f sin(i + f) for the elements p of a parameter.
class Waves : public FeatureRows {
 public:
  Waves(std::size_t n, const Var& p) : n_(n), p_(p.value().begin(), p.value().end()) {}
  std::size_t size() const override { return n_; }
  std::size_t features() const override { return p_.size(); }
  std::size_t slopes() const override { return p_.size(); }
  void rows(std::size_t begin, std::size_t end, double* features) const override {
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t f = 0; f < p_.size(); ++f) *features++ = p_[f] * wave(i, f);
  }
  void pull_back(std::size_t begin, std::size_t end, const double* weights,
                 double* slopes) const override {
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t f = 0; f < p_.size(); ++f) slopes[f] += *weights++ * wave(i, f);
  }

 private:
  static double wave(std::size_t i, std::size_t f) { return std::sin(double(i + f)); }
  std::size_t n_;
  std::vector<double> p_;
};

std::vector<double> values(std::size_t n) {
  std::vector<double> y;
  for (std::size_t i = 0; i < n; ++i) y.push_back(std::cos(0.7 * double(i)));
  return y;
}

Op likelihood(std::size_t n, double shape = 1.5) {
  return [=](Tape&, const std::vector<Var>& x) {
    return conjugate_log_likelihood({x[0]}, x[1], std::make_shared<Waves>(n, x[0]), values(n),
                                    shape);
  };
}

std::vector<OpRow> rows() {
  std::vector<OpRow> all;
  for (const auto& [name, n] : std::vector<std::pair<const char*, std::size_t>>{
           {"", 30}, {"SeveralBlocks", 2200}, {"NoRow", 0}})
    all.push_back(
        {"conjugate_log_likelihood", name, likelihood(n), {{{3}, {1}}, {{1}, {1}}}, {0.3, 0.9}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Conjugate, OpTest, ::testing::ValuesIn(rows()), test_name);

/// Returns ln of the density of Student's t.
double log_student(double error, double degrees, double square_scale) {
  return std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2) -
         std::log(degrees * std::numbers::pi * square_scale) / 2 -
         (degrees + 1) / 2 * std::log1p(error * error / square_scale / degrees);
}

/// The likelihood is a product of posterior predictive t distributions.
TEST(ConjugateLogLikelihood, IsTheProductOfPredictions) {
  const double noise = 0.4, shape = 1.5;
  Tensor p = filled({2}, real(0.75));
  double sum = 0;
  for (std::size_t n = 0; n < 12; ++n) {
    const Waves features(n, Var(p)), next(n + 1, Var(p));
    std::vector<double> y = values(n + 1);
    const double observed = y.back();
    y.pop_back();
    const ConjugatePosterior posterior = conjugate_posterior(features, y, noise, shape);
    std::vector<double> row(2);
    next.rows(n, n + 1, row.data());
    const ConjugatePrediction said = predict(posterior, 1, row.data())[0];
    sum += log_student(observed - said.mean, 2 * posterior.shape, said.scale * said.scale);
    const ConjugatePosterior whole = conjugate_posterior(next, values(n + 1), noise, shape);
    EXPECT_NEAR(whole.log_likelihood, sum, 1e-11) << n;
  }
}

/// Prior: scale^2 = noise^2 + |features|^2, with 2 shape degrees of freedom.
TEST(ConjugatePosterior, OfNothingIsThePrior) {
  Tensor p = filled({2}, real(0.5));
  const Waves features(0, Var(p)), next(1, Var(p));
  const ConjugatePosterior posterior = conjugate_posterior(features, {}, 0.5, 3);
  EXPECT_EQ(posterior.shape, 3);
  EXPECT_NEAR(posterior.log_likelihood, 0, 1e-14);
  std::vector<double> row(2);
  next.rows(0, 1, row.data());
  const double squares = row[0] * row[0] + row[1] * row[1];
  const ConjugatePrediction said = predict(posterior, 1, row.data())[0];
  EXPECT_EQ(said.mean, 0);
  EXPECT_NEAR(said.scale * said.scale, 0.25 + squares, 1e-14);
}

TEST(ConjugateLogLikelihood, RefusesWhatDoesNotFit) {
  const Tensor p = filled({2}, 1);
  EXPECT_EQ(error_of([&] { conjugate_posterior(Waves(3, Var(p)), {1}, 1, 1); }),
            "[conjugate_log_likelihood] features of 3 rows and 1 values");
  EXPECT_EQ(error_of([&] { conjugate_posterior(Waves(1, Var(p)), {1}, 0, 1); }),
            "[conjugate_log_likelihood] noise and shape must be above 0: 0, 1");
  EXPECT_EQ(error_of([&] {
              conjugate_log_likelihood({Var(p)}, Var(p), std::make_shared<Waves>(1, Var(p)), {1},
                                       1);
            }),
            "[conjugate_log_likelihood] log_noise must have one element, not (2)");
}

}  // namespace ops_conjugate_likelihood_test
}  // namespace bochner::inline BOCHNER_PRECISION
