#include <gmock/gmock.h>

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/train/studies/fits.hpp>
#include <bochner/train/studies/kernel_study.hpp>
#include <cmath>

#include "data/temporary_folder.hpp"

namespace bochner {
namespace fits_test {

using testing::HasSubstr;

TEST(TargetKernel, IsOneAtZeroAndReadsFiles) {
  for (const std::string& name : target_kernels()) {
    const double origin[] = {0, 0};
    EXPECT_NEAR(target_kernel(name)(origin, 2), 1, 1e-12) << name;
  }
  const double one = 1;
  EXPECT_NEAR(target_kernel("laplace")(&one, 1), std::exp(-1), 1e-12);
  EXPECT_NEAR(target_kernel("cauchy")(&one, 1), 0.5, 1e-12);
  EXPECT_THAT(message_of<std::invalid_argument>([] { target_kernel("gauss"); }),
              HasSubstr("--target gauss: must be"));
  TemporaryFolder folder;
  std::string text = "delta,k\r\n";
  for (int i = 0; i < 8; ++i) text += std::to_string(i) + ", 0.5\r\n";
  const KernelPoints points = read_kernel(folder.write("k.csv", text).string());
  EXPECT_EQ(points.values.size(), 8u);
  EXPECT_EQ(points.delta.data()[7], 7);
  for (const char* bad : {"1,2\nx,y\n", "1,2\n3\n", "1,2\n3,nan\n", "1,2\n"})
    EXPECT_THROW(read_kernel(folder.write("bad.csv", bad).string()), DataError) << bad;
}

TEST(DensityFit, RecoversKernelsThatAreNotGaussian) {
  for (const char* kind : {"flow", "mixture"}) {
    DensitySpec spec{.kind = kind, .draws = "sobol_owen", .m = 256, .dim = 1, .redraw = 1};
    const auto density = make_density(spec);
    spec.m = 4096;
    spec.redraw = 0;
    const auto many = make_density(spec);
    initialize(*density, 1);
    const DensityFit fit = fit_density(*density, *many, sample_kernel("matern52", 256, 1, 4, 1),
                                       sample_kernel("matern52", 256, 1, 4, 2), {.steps = 1000});
    EXPECT_GT(fit.before, 0.5) << kind;
    EXPECT_LT(fit.of_density, 2e-2) << kind;
  }
}

/// Draws by the Gumbel quantile -ln(-ln Phi(z)) by erf, which is 1 from z = 5.4 on in float: at one
/// step of training.
struct InfiniteGumbel : SpectralDensity {
  using SpectralDensity::SpectralDensity;
  Var sample(Tape& tape, const Var& noise) override {
    Tensor is_far = zeros({1, 2, 1});
    is_far(0, 1, 0) = real(tape.training && tape.step == 1);
    const Var far = where(is_far, Var(filled({}, 9)), noise);
    return tape(scale) * -log(-log(0.5 + 0.5 * erf(far / std::sqrt(2.0))));
  }
  void visit(Visitor& visitor) override {
    visitor("scale", scale);
    SpectralDensity::visit(visitor);
  }
  Parameter scale{filled({1}, real(1))};
};

TEST(DensityFit, NamesTheOpAndTheDrawThatAreInfinite) {
  const DensitySpec spec{.heads = 1, .m = 2, .dim = 1};
  InfiniteGumbel density(spec), many(spec);
  initialize(density, 1);
  const KernelPoints points = sample_kernel("matern52", 16, 1, 4, 1);
  const std::string expected =
      "step 2 of the fit: a draw of the density: the value of op log (1, 2, 1) is not finite: -inf "
      "at element (0, 1, 0); bound the argument of that op, as by clamp(): a smaller --lr does not "
      "help";
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { fit_density(density, many, points, points, {.steps = 3}); }),
            expected);
}

TEST(DensityFit, AsksForASmallerRateIfThatHelps) {
  const DensitySpec spec{.m = 8, .dim = 1};
  const auto density = make_density(spec), many = make_density(spec);
  initialize(*density, 1);
  const KernelPoints points = sample_kernel("matern52", 16, 1, 4, 1);
  EXPECT_THAT(message_of<std::invalid_argument>(
                  [&] { fit_density(*density, *many, points, points, {.learning_rate = 1e30}); }),
              testing::MatchesRegex("step 2 of the fit: a draw of the density: the value of op .* "
                                    "is not finite: .*; choose a smaller --lr"));
}

/// phi(x) = x * scale: its kernel is known, and one number is wrong at the start.
struct ScaledIdentity : FeatureMap {
  ScaledIdentity() : scale(filled({1}, real(0.5))) {}
  Features features(Tape& tape, const Var& x) override { return mul(x, tape(scale)); }
  std::optional<double> kernel(Point q, Point k, std::size_t) const override {
    double dot = 0;
    for (std::size_t i = 0; i < q.size(); ++i) dot += q[i] * k[i];
    return dot;
  }
  void visit(Visitor& visitor) override { visitor("scale", scale); }
  Parameter scale;
};

TEST(MapFit, FindsTheParameterThatMakesTheKernelRight) {
  SampleBlock block{filled({16, 2}, real(0.3)), filled({16, 2}, real(0.7))};
  for (std::size_t i = 0; i < 32; ++i) block.q.data()[i] += real(0.05) * real(i % 7);
  ScaledIdentity map;
  EXPECT_NEAR(kernel_error(map, block), 0.75, 1e-4);
  EXPECT_EQ(fit_map(map, block, {.steps = 300, .learning_rate = 0.05}), 1u);
  EXPECT_LT(kernel_error(map, block), 1e-2);
  EXPECT_NEAR(map.scale.value().data()[0], 1, 1e-2);
  EXPECT_FALSE(expected_kernel_error(map, block));
}

TEST(MapFit, ExpectsTheErrorThatManyDrawsHave) {
  // Short enough that 2000 sets contain the rare draws.
  const SampleBlock block = normal_sample(12, 3, 1, 0.25).blocks.front();
  FeatureSpec spec;
  spec.density.draws = "iid", spec.density.log_scale = 0;
  for (const char* weights : {"none", "importance"}) {
    spec.weights = weights;
    double square = 0;
    for (std::uint64_t seed = 1; seed <= 2000; ++seed)
      square += std::pow(kernel_error(*study_map(spec, 3, 16, seed), block), 2) / 2000;
    const auto expected = expected_kernel_error(*study_map(spec, 3, 16, 1), block);
    ASSERT_TRUE(expected);
    EXPECT_NEAR(std::sqrt(square), *expected, 0.05 * *expected) << weights;
  }
}

}  // namespace fits_test
}  // namespace bochner
