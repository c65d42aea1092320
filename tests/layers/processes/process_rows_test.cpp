#include "layers/processes/process_rows.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace process_rows_test {

using namespace process_rows;
using op_check::error_of;

GaussianProcessSpec of_two_inputs(const std::string& method) {
  GaussianProcessSpec spec{.inputs = 2};
  spec.method = method;
  spec.density.m = 8;
  return spec;
}

TEST(ProcessRows, AreRefusedBeforeAnythingReadsThem) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Rows rows = rows_of(12, 2, 0.1, 1);
  for (const char* method : {"exact", "cg", "features"}) {
    const auto process = process_of(of_two_inputs(method), rows);
    const auto posterior = process->condition(rows.view());
    const auto problem_of = [&](const std::vector<std::vector<double>>& inputs) {
      const std::string asked = error_of([&] { posterior->predict(inputs); });
      const Rows seen{inputs, std::vector<double>(inputs[0].size(), 1)};
      EXPECT_EQ(error_of([&] { likelihood_of(*process, seen); }), asked) << method;
      EXPECT_EQ(error_of([&] { process->start(seen.view()); }), asked) << method;
      return asked;
    };
    EXPECT_EQ(problem_of({{1, 2}}), "[gaussian_process] rows of 1 inputs, not 2");
    EXPECT_EQ(problem_of({{1}, {2}, {3}}), "[gaussian_process] rows of 3 inputs, not 2");
    EXPECT_EQ(problem_of({{1, 2}, {3}}), "[gaussian_process] columns of 2 and of 1 rows");
    EXPECT_EQ(problem_of({{1, nan}, {3, 4}}), "[gaussian_process] an input is no finite number");
    EXPECT_EQ(posterior->predict({{1, 2}, {3, 4}}).mean.size(), 2u);
  }
}

TEST(ProcessRows, HaveATargetEach) {
  Rows rows = rows_of(12, 2, 0.1, 1);
  const auto process = process_of(of_two_inputs("exact"), rows);
  rows.targets[3] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error_of([&] { likelihood_of(*process, rows); }),
            "[gaussian_process] a target is no finite number");
  rows.targets.pop_back();
  EXPECT_EQ(error_of([&] { likelihood_of(*process, rows); }),
            "[gaussian_process] 11 targets of 12 rows");
}

/// A wave of many periods is noise to a kernel as wide as the median distance.
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
    GaussianProcessSpec spec = of_two_inputs("exact");
    spec.density.start = start;
    return likelihood_of(*process_of(spec, rows), rows);
  };
  EXPECT_GE(starts("search"), starts("data"));
}

TEST(ProcessPrediction, HasQuantilesBetweenZeroAndOne) {
  const ProcessPrediction normal{{1}, {2}, std::numeric_limits<double>::infinity()};
  EXPECT_NEAR(normal.quantile(0, 0.5), 1, 1e-15);
  for (const double probability : {0.0, 1.0, 1.5})
    EXPECT_THROW(normal.quantile(0, probability), std::invalid_argument);
}

/// A density whose curve forgets that it has a scale.
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
  GaussianProcessSpec spec = of_two_inputs("exact");
  spec.density.kind = "forgetful";
  EXPECT_EQ(error_of([&] { GaussianProcess{spec}; }),
            "[gaussian_process] curve() of the density \"forgetful\" has slopes by 6 numbers of "
            "all heads, its visit() names 2");
  densities() = others;
}

}  // namespace process_rows_test
}  // namespace bochner::inline BOCHNER_PRECISION
