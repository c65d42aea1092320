#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/layers/gaussian_processes/gaussian_process.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace golden_process_test {

struct GoldenParameter {
  std::string name;
  std::vector<double> values, slopes;
};
struct GoldenProcess {
  std::string name, density;
  std::size_t inputs;
  std::string trend;
  double log_likelihood;
  std::vector<GoldenParameter> parameters;
};
const std::vector<GoldenProcess> golden{
#include "golden/gp_likelihood.inc"
};

std::unique_ptr<GaussianProcess> process_of(const GoldenProcess& wanted) {
  GaussianProcessSpec spec{.inputs = wanted.inputs, .trend = wanted.trend};
  const std::size_t space = wanted.density.find(' ');
  spec.density.kind = wanted.density.substr(0, space);
  spec.density.components = 2;
  if (space != std::string::npos) spec.density.degrees = std::stod(wanted.density.substr(space));
  auto process = std::make_unique<GaussianProcess>(spec);
  initialize(*process, 1);
  for (const NamedParameter& named : parameters_of(*process))
    for (const GoldenParameter& one : wanted.parameters)
      if (named.name == one.name)
        std::ranges::transform(one.values, named.parameter->value().data(),
                               [](double x) { return real(x); });
  return process;
}

/// Compares with scikit-learn and GPyTorch, to 1e-6.
TEST(GoldenProcess, LikelihoodAndSlopesAreThoseOfOthers) {
  std::vector<std::vector<double>> inputs(2);
  std::vector<double> targets;
  for (int i = 0; i < 20; ++i) {
    inputs[0].push_back((7 * i % 20 - 9.5) / 8);
    inputs[1].push_back(((9 * i + 3) % 20 - 9.5) / 8);
    targets.push_back((3 * i % 7 - 3) / 4.0);
  }
  const bool is_double = sizeof(real) == 8;
  const double tolerance = is_double ? 1e-6 : 1e-5;
  ASSERT_EQ(golden.size(), 9u);
  for (const GoldenProcess& wanted : golden) {
    SCOPED_TRACE(wanted.name);
    const auto process = process_of(wanted);
    const std::vector<std::vector<double>> rows(inputs.begin(),
                                                inputs.begin() + std::ptrdiff_t(wanted.inputs));
    Tape tape;
    const Var likelihood = process->log_likelihood(tape, {rows, targets});
    EXPECT_NEAR(double(likelihood.value().data()[0]) / wanted.log_likelihood, 1, tolerance);
    tape.backward(likelihood);
    std::size_t compared = 0;
    for (const NamedParameter& named : parameters_of(*process))
      for (const GoldenParameter& one : wanted.parameters) {
        if (named.name != one.name) continue;
        ++compared;
        ASSERT_EQ(named.parameter->value().size(), one.slopes.size()) << one.name;
        for (std::size_t i = 0; i < one.slopes.size(); ++i) {
          const double size = std::max(std::abs(one.slopes[i]), is_double ? 0.0 : 1.0);
          EXPECT_NEAR(double(named.parameter->gradient().data()[i]), one.slopes[i],
                      tolerance * size)
              << one.name << " " << i;
        }
      }
    EXPECT_EQ(compared, wanted.parameters.size());
  }
}

}  // namespace golden_process_test
}  // namespace bochner::inline BOCHNER_PRECISION
