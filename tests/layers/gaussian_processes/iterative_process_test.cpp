#include <gtest/gtest.h>

#include <cmath>

#include "autodiff/op_check.hpp"
#include "layers/gaussian_processes/process_rows.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace iterative_process_test {

using namespace process_rows;

/// Agrees with Cholesky up to rounding of the entries and the draws of the log determinant.
TEST(IterativeProcess, AgreesWithTheExactOne) {
  const Rows rows = rows_of(200, 2, 0.2, 1);
  std::vector<double> likelihoods;
  std::vector<ProcessPrediction> said;
  for (const char* method : {"exact", "cg"}) {
    GaussianProcessSpec spec{.inputs = 2, .method = method, .noise = 0.2};
    spec.cg.probes = 1000;
    const auto process = process_of(spec, rows);
    likelihoods.push_back(likelihood_of(*process, rows));
    said.push_back(process->condition(rows.view())->predict({{0.5, 3}, {-0.5, 3}}));
  }
  EXPECT_NEAR(likelihoods[1], likelihoods[0], 1e-3 * std::abs(likelihoods[0]));
  for (const std::size_t i : {0u, 1u}) {
    EXPECT_NEAR(said[1].mean[i], said[0].mean[i], 1e-4);
    EXPECT_NEAR(said[1].scale[i], said[0].scale[i], 1e-4);
  }
}

/// Returns a wave at even places, each repeated `times` times.
Rows wave_of(std::size_t times) {
  Rows wave{{{}}, {}};
  for (std::size_t i = 0; i < 200; ++i)
    for (std::size_t k = 0; k < times; ++k) {
      wave.inputs[0].push_back((double(i) - 100) / 57);
      wave.targets.push_back(1.4 * std::sin(0.05 * double(i)));
    }
  return wave;
}

double likelihood_by(const char* method, const Rows& wave, double noise) {
  const auto process = process_of(
      {.method = method, .noise = noise, .density = {.kind = "gaussian", .start = "data"}}, wave);
  return likelihood_of(*process, wave);
}

/// Smooth rows without noise, with the smallest assumed noise.
TEST(IterativeProcess, IsTheExactOneWhileNoiseIsAboveRounding) {
  const Rows wave = wave_of(1);
  for (const double noise : {3e-2, 1e-2, 3e-3}) {
    const double exact = likelihood_by("exact", wave, noise);
    EXPECT_NEAR(likelihood_by("cg", wave, noise), exact, 0.01 * std::abs(exact)) << noise;
  }
}

/// Float entries lose such noise, double ones do not.
TEST(IterativeProcess, RefusesNoiseBelowRounding) {
  if (sizeof(real) == sizeof(double)) GTEST_SKIP();
  for (const double noise : {1e-3, 1e-4, 1e-5}) {
    const std::string error =
        op_check::error_of<std::domain_error>([&] { likelihood_by("cg", wave_of(2), noise); });
    EXPECT_NE(error.find("increase model.gp.noise"), std::string::npos) << error;
    EXPECT_NE(error.find("model.gp.method = \"exact\""), std::string::npos) << error;
  }
}

}  // namespace iterative_process_test
}  // namespace bochner::inline BOCHNER_PRECISION
