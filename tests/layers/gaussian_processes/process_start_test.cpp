#include <gtest/gtest.h>

#include "layers/gaussian_processes/process_rows.hpp"
#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace process_start_test {

using namespace process_rows;
using op_check::error_of;

/// A wave of many periods looks like noise to a kernel as wide as the median distance.
TEST(GaussianProcess, SearchesForAStartThatTellsWavesFromNoise) {
  Rows rows;
  rows.inputs.resize(1);
  for (std::size_t i = 0; i < 600; ++i) {
    rows.inputs[0].push_back(double(i) / 300 - 1);
    rows.targets.push_back(std::sqrt(2) * std::sin(78 * rows.inputs[0].back()));
  }
  std::vector<double> likelihood;
  for (const char* start : {"data", "search"}) {
    GaussianProcessSpec spec{.inputs = 1};
    spec.density.start = start;
    likelihood.push_back(likelihood_of(*process_of(spec, rows), rows) / 600);
  }
  EXPECT_LT(likelihood[0], -1);
  EXPECT_GT(likelihood[1], 0);
}

TEST(GaussianProcess, SearchesNoFartherThanWhatIsLikely) {
  const Rows rows = rows_of(60, 2, 0.1, 1);
  const auto starts = [&](const char* start) {
    GaussianProcessSpec spec = GaussianProcessSpec{.inputs = 2};
    spec.density.start = start;
    return likelihood_of(*process_of(spec, rows), rows);
  };
  EXPECT_GE(starts("search"), starts("data"));
}

/// Returns three inputs and a wave of variance 1 along the first, plus noise.
Rows noisy_wave(double noise, double signal, std::uint64_t stream) {
  const RandomFunction random{7, Purpose::test, stream};
  Rows rows{std::vector<std::vector<double>>(3), {}};
  for (std::size_t i = 0; i < 600; ++i) {
    for (std::size_t j = 0; j < 3; ++j) rows.inputs[j].push_back(random.normal(4 * i + j));
    const double wave = std::sqrt(2) * std::sin(3 * rows.inputs[0].back());
    rows.targets.push_back(signal * wave + noise * random.normal(4 * i + 3));
  }
  return rows;
}

GaussianProcessSpec searching() {
  GaussianProcessSpec spec{.inputs = 3};
  spec.density.start = "search";
  return spec;
}

/// The targets have variance 1, four fifths of them noise.
TEST(GaussianProcess, SearchFindsASignalBelowTheNoise) {
  const double noise = std::sqrt(0.8), signal = std::sqrt(0.2);
  const Rows rows = noisy_wave(noise, signal, 1), clean = noisy_wave(0, signal, 2);
  const auto process = process_of(searching(), rows);
  EXPECT_NEAR(process->noise_variance(), 0.8, 0.1);
  const ProcessPrediction predicted = process->condition(rows.view())->predict(clean.inputs);
  double error = 0;
  for (std::size_t i = 0; i < 600; ++i)
    error += std::pow(predicted.mean[i] - clean.targets[i], 2) / 600;
  EXPECT_LT(error, 0.15 * 0.2);
}

TEST(GaussianProcess, SearchFindsThatAllIsNoise) {
  const Rows rows = noisy_wave(1, 0, 3);
  const auto process = process_of(searching(), rows);
  EXPECT_NEAR(process->noise_variance(), 1, 0.15);
  const ProcessPrediction predicted = process->condition(rows.view())->predict(rows.inputs);
  for (const double mean : predicted.mean) ASSERT_LT(std::abs(mean), 0.5);
}

/// Density whose curve omits its scale.
class Forgetful : public SpectralDensity {
 public:
  explicit Forgetful(const DensitySpec& spec)
      : SpectralDensity(spec), log_scale_(zeros({spec.heads})) {}
  Var sample(Tape&, const Var& noise) override { return noise; }
  std::unique_ptr<KernelCurve> curve(std::size_t) const override {
    return cosine_curve({1.0, 2.0, 3.0});
  }
  void visit(Visitor& visitor) override {
    visitor("log_scale", log_scale_);
    SpectralDensity::visit(visitor);
  }

 private:
  Parameter log_scale_;
};

TEST(GaussianProcess, NeedsASlopeForEachParameter) {
  const Densities others = densities();
  densities().add("forgetful", make<Forgetful>);
  GaussianProcessSpec spec = GaussianProcessSpec{.inputs = 2};
  spec.density.kind = "forgetful";
  EXPECT_EQ(error_of([&] { GaussianProcess{spec}; }),
            "[gaussian_process] curve() of the density \"forgetful\" has slopes by 6 numbers, but "
            "visit() names 2");
  densities() = others;
}

}  // namespace process_start_test
}  // namespace bochner::inline BOCHNER_PRECISION
