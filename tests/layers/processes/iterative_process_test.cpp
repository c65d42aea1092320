#include <gtest/gtest.h>

#include <bochner/layers/processes/gaussian_process.hpp>
#include <cmath>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace iterative_process_test {

/// Conjugate gradients say what the Cholesky factor says, but for the entries' rounding and the
/// draws of the log determinant.
TEST(IterativeProcess, AgreesWithTheExactOne) {
  const RandomFunction random{7, Purpose::test, 1};
  std::vector<std::vector<double>> inputs(2);
  std::vector<double> targets;
  for (std::size_t i = 0; i < 200; ++i) {
    for (std::size_t j = 0; j < 2; ++j) inputs[j].push_back(random.normal(4 * i + j));
    targets.push_back(std::sin(2 * inputs[0][i]) + inputs[1][i] + 0.2 * random.normal(4 * i + 3));
  }
  const ProcessRows rows{inputs, targets};
  std::vector<double> likelihoods;
  std::vector<ProcessPrediction> said;
  for (const char* method : {"exact", "cg"}) {
    GaussianProcessSpec spec{.inputs = 2, .method = method, .noise = 0.2};
    spec.cg.probes = 1000;
    GaussianProcess process(spec);
    initialize(process, 1);
    process.start(rows);
    Tape tape;
    tape.recording = false;
    likelihoods.push_back(double(process.log_likelihood(tape, rows).value().data()[0]));
    said.push_back(process.condition(rows)->predict({{0.5, 3}, {-0.5, 3}}));
  }
  EXPECT_NEAR(likelihoods[1], likelihoods[0], 1e-3 * std::abs(likelihoods[0]));
  for (const std::size_t i : {0u, 1u}) {
    EXPECT_NEAR(said[1].mean[i], said[0].mean[i], 1e-4);
    EXPECT_NEAR(said[1].scale[i], said[0].scale[i], 1e-4);
  }
}

struct Wave {
  std::vector<std::vector<double>> inputs{1};
  std::vector<double> targets;
  explicit Wave(std::size_t times) {
    for (std::size_t i = 0; i < 200; ++i)
      for (std::size_t k = 0; k < times; ++k) {
        inputs[0].push_back((double(i) - 100) / 57);
        targets.push_back(1.4 * std::sin(0.05 * double(i)));
      }
  }
};

double likelihood_of(const Wave& wave, const char* method, double noise) {
  GaussianProcess process(GaussianProcessSpec{
      .method = method, .noise = noise, .density = {.kind = "gaussian", .start = "data"}});
  initialize(process, 1);
  process.start({wave.inputs, wave.targets});
  Tape tape;
  tape.recording = false;
  return double(process.log_likelihood(tape, {wave.inputs, wave.targets}).value().data()[0]);
}

/// Of smooth rows without noise, as small as the assumed noise may be.
TEST(IterativeProcess, IsTheExactOneWhileNoiseIsAboveRounding) {
  const Wave wave(1);
  for (const double noise : {3e-2, 1e-2, 3e-3}) {
    const double exact = likelihood_of(wave, "exact", noise);
    EXPECT_NEAR(likelihood_of(wave, "cg", noise), exact, 0.01 * std::abs(exact)) << noise;
  }
}

/// Entries in float lose such noise; those in double do not.
TEST(IterativeProcess, RefusesNoiseBelowRounding) {
  if (sizeof(real) == sizeof(double)) GTEST_SKIP();
  for (const double noise : {1e-3, 1e-4, 1e-5}) {
    const std::string error =
        op_check::error_of<std::domain_error>([&] { likelihood_of(Wave(2), "cg", noise); });
    EXPECT_NE(error.find("start with more model.gp.noise"), std::string::npos) << error;
    EXPECT_NE(error.find("model.gp.method = \"exact\""), std::string::npos) << error;
  }
}

}  // namespace iterative_process_test
}  // namespace bochner::inline BOCHNER_PRECISION
