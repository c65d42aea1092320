#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/gaussian_processes/process_start.hpp>
#include <cmath>
#include <numbers>

#include "layers/gaussian_processes/process_rows.hpp"
#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace gaussian_process_test {

using namespace process_rows;

GaussianProcessSpec spec_of(const std::string& density, const std::string& combine,
                            std::size_t inputs) {
  GaussianProcessSpec spec{.inputs = inputs, .combine = combine};
  spec.density.kind = density;
  spec.density.m = 3;
  spec.density.components = 2;
  return spec;
}

void shake(GaussianProcess& process) {
  std::uint64_t stream = 50;
  for (const NamedParameter& named : parameters_of(process)) {
    const RandomFunction random{7, Purpose::test, stream++};
    for (std::size_t i = 0; i < named.parameter->value().size(); ++i)
      named.parameter->value().data()[i] += real(0.2 * random.normal(i));
  }
}

std::unique_ptr<GaussianProcess> shaken(const GaussianProcessSpec& spec, const Rows& rows) {
  auto process = process_of(spec, rows);
  shake(*process);
  return process;
}

/// Returns the covariance by definition, with the closed forms of the density.
double covariance_of(GaussianProcess& process, const std::vector<double>& a,
                     const std::vector<double>& b) {
  const std::vector<double> variances = process.variances(), trend = process.trend_variances();
  double sum = trend.empty() ? 0 : trend[0];
  for (std::size_t t = 0, head = 0; t < process.terms().size(); ++t) {
    double product = variances[t];
    for (const std::size_t j : process.terms()[t]) {
      const double lag = a[j] - b[j];
      product *= process.density().kernel(head++)(&lag);
    }
    sum += product;
  }
  for (std::size_t j = 0; j + 1 < trend.size(); ++j) sum += trend[j + 1] * a[j] * b[j];
  return sum;
}

std::vector<double> point(const Rows& rows, std::size_t i) {
  std::vector<double> x;
  for (const auto& column : rows.inputs) x.push_back(column[i]);
  return x;
}

using Matrix = std::vector<std::vector<double>>;

Matrix dense(GaussianProcess& process, const Rows& rows) {
  Matrix k(rows.targets.size(), std::vector<double>(rows.targets.size()));
  for (std::size_t i = 0; i < k.size(); ++i)
    for (std::size_t j = 0; j < k.size(); ++j)
      k[i][j] = covariance_of(process, point(rows, i), point(rows, j)) +
                (i == j ? process.noise_variance() : 0);
  return k;
}

/// Returns K^-1 b by Gauss-Jordan elimination with pivots, and ln |det K|.
std::pair<std::vector<double>, double> eliminated(Matrix k, std::vector<double> b) {
  double log_determinant = 0;
  for (std::size_t c = 0; c < k.size(); ++c) {
    std::size_t pivot = c;
    for (std::size_t i = c; i < k.size(); ++i)
      if (std::abs(k[i][c]) > std::abs(k[pivot][c])) pivot = i;
    std::swap(k[c], k[pivot]);
    std::swap(b[c], b[pivot]);
    log_determinant += std::log(std::abs(k[c][c]));
    for (std::size_t i = 0; i < k.size(); ++i) {
      if (i == c) continue;
      const double factor = k[i][c] / k[c][c];
      for (std::size_t j = c; j < k.size(); ++j) k[i][j] -= factor * k[c][j];
      b[i] -= factor * b[c];
    }
  }
  for (std::size_t c = 0; c < k.size(); ++c) b[c] /= k[c][c];
  return {b, log_determinant};
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<GaussianProcessSpec> specs() {
  std::vector<GaussianProcessSpec> all;
  for (const char* density : {"gaussian", "mixture", "student_t", "laplace", "cauchy", "free"})
    all.push_back(spec_of(density, "product", 2));
  all.push_back(spec_of("gaussian", "sum", 3));
  all.push_back(spec_of("mixture", "both", 2));
  all.push_back(spec_of("gaussian", "product", 1));
  for (const char* trend : {"none", "constant"}) {
    all.push_back(all.back());
    all.back().trend = trend;
  }
  return all;
}

std::string name_of(const GaussianProcessSpec& spec) {
  return spec.density.kind + " " + spec.combine + " " + spec.trend;
}

TEST(GaussianProcess, LikelihoodIsTheDenseClosedForm) {
  for (const GaussianProcessSpec& spec : specs()) {
    SCOPED_TRACE(name_of(spec));
    const Rows rows = rows_of(40, spec.inputs, 0.1, 1);
    const auto process = shaken(spec, rows);
    const auto [alpha, log_determinant] = eliminated(dense(*process, rows), rows.targets);
    const double expected =
        -(product(alpha, rows.targets) + log_determinant + 40 * std::log(2 * std::numbers::pi)) / 2;
    EXPECT_NEAR(likelihood_of(*process, rows), expected,
                (sizeof(real) == 8 ? 1e-6 : 1e-5) * std::abs(expected));
  }
}

TEST(GaussianProcess, PredictionsAreTheDenseClosedForm) {
  for (const GaussianProcessSpec& spec : specs()) {
    SCOPED_TRACE(name_of(spec));
    const Rows rows = rows_of(40, spec.inputs, 0.1, 1), asked = rows_of(300, spec.inputs, 0.1, 2);
    const auto process = shaken(spec, rows);
    const ProcessPrediction predicted = process->condition(rows.view())->predict(asked.inputs);
    const Matrix k = dense(*process, rows);
    const std::vector<double> alpha = eliminated(k, rows.targets).first;
    for (const std::size_t a : {0u, 7u, 299u}) {
      std::vector<double> cross;
      for (std::size_t i = 0; i < 40; ++i)
        cross.push_back(covariance_of(*process, point(asked, a), point(rows, i)));
      const double variance = covariance_of(*process, point(asked, a), point(asked, a)) +
                              process->noise_variance() -
                              product(cross, eliminated(k, cross).first);
      EXPECT_NEAR(predicted.mean[a], product(cross, alpha), 1e-6);
      EXPECT_NEAR(predicted.deviation(a), std::sqrt(variance), 1e-6);
    }
  }
}

TEST(GaussianProcess, GradientsAreDifferences) {
  for (const GaussianProcessSpec& spec : specs()) {
    SCOPED_TRACE(name_of(spec));
    const Rows rows = rows_of(40, spec.inputs, 0.1, 1);
    const auto process = shaken(spec, rows);
    Tape tape;
    tape.backward(process->log_likelihood(tape, rows.view()));
    for (const NamedParameter& named : parameters_of(*process)) {
      ASSERT_TRUE(named.parameter->has_gradient()) << named.name;
      for (std::size_t i = 0; i < named.parameter->value().size(); ++i) {
        if (sizeof(real) != 8) break;  // float differences are dominated by rounding
        real& x = named.parameter->value().data()[i];
        const real before = x;
        const auto moved = [&](double steps) {
          x = before + real(steps * 1e-3);
          const double likelihood = likelihood_of(*process, rows);
          x = before;
          return likelihood;
        };
        const double difference =
            (8 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12 * 1e-3);
        EXPECT_NEAR(double(named.parameter->gradient().data()[i]), difference,
                    1e-6 * std::max(1.0, std::abs(difference)))
            << named.name << " " << i;
      }
    }
  }
}

TEST(GaussianProcess, BitsDoNotDependOnThreads) {
  const Rows rows = rows_of(150, 2, 0.1, 1);
  std::vector<std::vector<real>> results;
  for (const std::size_t threads : {1, 2, 3}) {
    set_thread_count(threads);
    const auto process = shaken(spec_of("mixture", "both", 2), rows);
    Tape tape;
    tape.backward(process->log_likelihood(tape, rows.view()));
    results.emplace_back();
    for (const NamedParameter& named : parameters_of(*process))
      results.back().insert(results.back().end(), named.parameter->gradient().begin(),
                            named.parameter->gradient().end());
    const auto predicted = process->condition(rows.view())->predict(rows.inputs);
    results.back().insert(results.back().end(), predicted.mean.begin(), predicted.mean.end());
  }
  set_thread_count(0);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

/// Returns a line and two waves, at irregular or even places.
Rows waves_of(std::size_t n, double noise, bool even = false) {
  Rows rows{{{}}, {}};
  const RandomFunction random{7, Purpose::test, 1};
  for (std::size_t i = 0; i < n; ++i) {
    const double x = 3 * (even ? double(i) / double(n) : random.uniform(i));
    rows.inputs[0].push_back(x);
    rows.targets.push_back(2 * x + std::sin(40 * x) + 0.5 * std::cos(90 * x + 1) +
                           noise * random.normal(n + i));
  }
  return rows;
}

/// Finds the frequencies of two waves next to a slow one.
TEST(GaussianProcess, StartsAtTheStrongestWaves) {
  const Rows rows = waves_of(400, 0);
  GaussianProcessSpec spec = spec_of("mixture", "product", 1);
  spec.density.components = 3;
  spec.density.start = "periodogram";
  GaussianProcess process(spec);
  initialize(process, 1);
  process.start(rows.view());
  const Tensor& mean = parameters_of(process)[0].parameter->value();
  EXPECT_EQ(parameters_of(process)[0].name, "density.mean");
  EXPECT_EQ(mean.data()[0], real(0));
  EXPECT_NEAR(double(mean.data()[1]), 40, 0.6);
  EXPECT_NEAR(double(mean.data()[2]), 90, 0.6);
}

std::vector<double> values_of(GaussianProcess& process, const char* name) {
  for (const NamedParameter& named : parameters_of(process))
    if (named.name == name)
      return {named.parameter->value().begin(), named.parameter->value().end()};
  return {};
}

/// Finds the power 1/2 and 1/8 of two waves, and the noise.
TEST(GaussianProcess, StartsWhereEmFitsThePeriodogram) {
  const Rows rows = waves_of(600, 0.3, true);
  GaussianProcessSpec spec = spec_of("mixture", "product", 1);
  spec.density.components = 3;
  spec.density.start = "em";
  GaussianProcess process(spec);
  initialize(process, 1);
  process.start(rows.view());
  const std::vector<double> mean = values_of(process, "density.mean"),
                            logits = values_of(process, "density.logits"),
                            log_scale = values_of(process, "density.log_scale");
  EXPECT_NEAR(mean[1], 40, 0.6);
  EXPECT_NEAR(mean[2], 90, 0.6);
  EXPECT_NEAR(std::exp(logits[1] - logits[2]), 4, 1);
  EXPECT_LT(std::exp(log_scale[1]), 3);
  EXPECT_NEAR(process.variances()[0], 0.625, 0.1);
  EXPECT_NEAR(process.noise_variance(), 0.09, 0.08);
  const double of_em = likelihood_of(process, rows);
  spec.density.start = "periodogram";
  GaussianProcess other(spec);
  initialize(other, 1);
  other.start(rows.view());
  EXPECT_GT(of_em, likelihood_of(other, rows));
}

/// Counts two waves and a slow component for any noise, and at least one component.
TEST(GaussianProcess, CountsTheWavesOfASpectrum) {
  for (const double noise : {0.01, 0.3})
    EXPECT_EQ(count_waves(waves_of(600, noise).view(), 32, 1), 3u);
  EXPECT_EQ(count_waves(waves_of(600, 0.3).view(), 2, 1), 2u);
  const Rows same{{std::vector<double>(20, 1)}, std::vector<double>(20, 1)};
  EXPECT_EQ(count_waves(same.view(), 32, 1), 2u);
}

/// A normal density of each log scale around its start, saved with the model.
TEST(GaussianProcess, PriorHoldsLogScalesWhereTheyStart) {
  const Rows rows = rows_of(40, 1, 0.1, 1);
  GaussianProcessSpec spec = spec_of("mixture", "product", 1);
  spec.density.start = "em";
  spec.density.prior = 0.3;
  GaussianProcess process(spec);
  initialize(process, 1);
  process.start(rows.view());
  const std::vector<double> before = values_of(process, "density.log_scale");
  shake(process);
  const std::vector<double> after = values_of(process, "density.log_scale");
  double expected = 0;
  for (std::size_t c = 0; c < before.size(); ++c)
    expected -= std::pow((after[c] - before[c]) / 0.3, 2) / 2;
  Tape tape;
  const Var prior = process.log_prior(tape);
  EXPECT_NEAR(double(prior.value().data()[0]), expected, 1e-5);
  tape.backward(prior);
  for (const NamedParameter& named : parameters_of(process))
    if (named.name == "density.log_scale") {
      EXPECT_NEAR(double(named.parameter->gradient().data()[1]), (before[1] - after[1]) / 0.09,
                  1e-4);
    }
  EXPECT_EQ(buffers_of(process).back().name, "prior_centre");
  spec.density.kind = "free";
  EXPECT_NE(op_check::error_of([&] { GaussianProcess{spec}; }).find("no log scale"),
            std::string::npos);
}

/// A wave faster than evenly thinned rows could show.
TEST(GaussianProcess, FindsFastWavesOfManyRows) {
  Rows rows{{{}}, {}};
  for (std::size_t i = 0; i < 20000; ++i) {
    rows.inputs[0].push_back(double(i) / 5000);
    rows.targets.push_back(std::sin(5000 * rows.inputs[0].back()));
  }
  GaussianProcessSpec spec = spec_of("mixture", "product", 1);
  spec.density.start = "periodogram";
  GaussianProcess process(spec);
  initialize(process, 1);
  process.start(rows.view());
  EXPECT_NEAR(values_of(process, "density.mean")[1], 5000, 1);
}

/// Errors of a tabulated kernel must stay below small noise.
TEST(GaussianProcess, SmoothRowsStayPositiveDefinite) {
  Rows rows{{{}}, {}};
  for (int i = 0; i < 180; ++i) {
    rows.inputs[0].push_back(0.02 * i);
    rows.targets.push_back(std::sin(rows.inputs[0].back()));
  }
  for (const double degrees : {3.0, 7.0, 20.0}) {
    GaussianProcessSpec spec = spec_of("student_t", "product", 1);
    spec.density.degrees = degrees;
    spec.noise = 1e-5;
    GaussianProcess process(spec);
    initialize(process, 1);
    EXPECT_TRUE(std::isfinite(likelihood_of(process, rows))) << degrees;
  }
}

TEST(GaussianProcess, SaysWhatItCannotDo) {
  EXPECT_NE(op_check::error_of([] {
              GaussianProcess(spec_of("flow", "product", 1));
            }).find("\"flow\" has no kernel in closed form"),
            std::string::npos);
  Rows same{{std::vector<double>(20, 1)}, std::vector<double>(20, 1)};
  GaussianProcess process(spec_of("gaussian", "product", 1));
  for (const NamedParameter& named : parameters_of(process))
    named.parameter->value().fill(named.name == "log_noise" ? real(-30) : real(3));
  for (const NamedParameter& named : parameters_of(process))
    if (named.name == "log_variance") named.parameter->value().fill(40);
  const std::string error =
      op_check::error_of<std::domain_error>([&] { likelihood_of(process, same); });
  EXPECT_NE(error.find("not positive definite: pivot"), std::string::npos) << error;
  EXPECT_NE(error.find("increase model.gp.noise"), std::string::npos) << error;
}

/// The order of columns and a constant column have no effect.
TEST(GaussianProcess, StartsByEmBesideAConstantInput) {
  Rows rows = rows_of(60, 1, 0.1, 9);
  GaussianProcessSpec spec = spec_of("mixture", "product", 2);
  spec.density.start = "em";
  std::vector<double> likelihoods;
  for (const bool first : {true, false}) {
    Rows both = rows;
    both.inputs.insert(first ? both.inputs.begin() : both.inputs.end(),
                       std::vector<double>(60, 1.0));
    likelihoods.push_back(likelihood_of(*process_of(spec, both), both));
    EXPECT_TRUE(std::isfinite(likelihoods.back())) << first;
  }
  EXPECT_NEAR(likelihoods[0], likelihoods[1], 1e-3 * std::abs(likelihoods[0]));
}

/// Terms share the signal found by EM.
TEST(GaussianProcess, TermsStartWithTheSignalTogether) {
  Rows rows = waves_of(600, 0.3, true);
  rows.inputs.push_back(std::vector<double>(rows.inputs[0].rbegin(), rows.inputs[0].rend()));
  std::vector<double> signal;
  for (const char* combine : {"product", "sum"}) {
    GaussianProcessSpec spec = spec_of("mixture", combine, 2);
    spec.density.start = "em";
    const auto process = process_of(spec, rows);
    process->start(rows.view());
    double sum = 0;
    for (const double variance : process->variances()) sum += variance;
    signal.push_back(sum);
  }
  EXPECT_NEAR(signal[0], signal[1], 1e-5 * signal[0]);
}

}  // namespace gaussian_process_test
}  // namespace bochner::inline BOCHNER_PRECISION
