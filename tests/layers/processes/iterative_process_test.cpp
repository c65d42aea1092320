#include <gtest/gtest.h>

#include <bochner/layers/processes/gaussian_process.hpp>
#include <cmath>

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

}  // namespace iterative_process_test
}  // namespace bochner::inline BOCHNER_PRECISION
