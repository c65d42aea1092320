#include "layers/spectral/density_check.hpp"

/// Log densities on the tape, for shapes whose large terms cancel.
namespace bochner::inline BOCHNER_PRECISION {
namespace log_densities_test {

using namespace density_check;

constexpr std::size_t d = 16;

/// At |s|^2 = 20, by mpmath with 60 digits.
TEST(LogDensities, OfStudentTHaveTheirSlopeByManyDegrees) {
  const double values[][3] = {{1000, -24.70702912558769, 0.004022455301},
                              {10000, -24.70341666385263, 0.0004002443889},
                              {1e6, -24.703020531288096, 4.000024664e-6}};
  for (const auto& [degrees, value, slope] : values) {
    const auto density = make_density(
        {.kind = "student_t", .heads = 1, .m = 1, .dim = d, .log_scale = 0, .degrees = degrees});
    initialize(*density, 1);
    Tape tape;
    const Var y =
        density->log_densities(tape, tape.constant(filled({1, 1, d}, real(std::sqrt(1.25)))));
    tape.backward(y);
    EXPECT_NEAR(y.data()[0], value, is_double ? 1e-8 : 2e-5) << degrees;
    for (const NamedParameter& named : parameters_of(*density)) {
      if (named.name != "log_degrees") continue;
      EXPECT_NEAR(double(named.parameter->gradient().data()[0]) / slope, 1, is_double ? 1e-5 : 2e-3)
          << degrees;
    }
  }
}

TEST(LogDensities, OfManyDegreesAreThoseInDouble) {
  const Tensor points = random_tensor({1, 20, d}, 3);
  for (DensitySpec spec : {DensitySpec{.kind = "student_t", .degrees = 1e7},
                           DensitySpec{.kind = "gamma", .shape = 3e4}}) {
    spec.heads = 1, spec.m = 1, spec.dim = d, spec.log_scale = 0;
    const auto density = make_density(spec);
    initialize(*density, 1);
    Tape tape({.recording = false});
    const Tensor y = density->log_densities(tape, tape.constant(points)).value();
    const PointFunction exact = density->log_density(0);
    for (std::size_t i = 0; i < 20; ++i) {
      const std::vector<double> point(points.data() + i * d, points.data() + (i + 1) * d);
      const double expected = exact(point.data());
      EXPECT_NEAR(y.data()[i], expected,
                  is_double ? 1e-7 : 3e-6 * std::abs(expected) + 2e-3 * (spec.kind == "gamma"))
          << spec.kind;
    }
  }
}

}  // namespace log_densities_test
}  // namespace bochner::inline BOCHNER_PRECISION
