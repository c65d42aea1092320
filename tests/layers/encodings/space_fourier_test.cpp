#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/encodings/space_fourier.hpp>
#include <cmath>
#include <numbers>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace space_fourier_test {

using namespace layer_check;

FourierSpec spec_of(const std::string& kind, std::size_t dimensions, std::size_t frequencies) {
  return {.dimensions = dimensions, .frequencies = frequencies, .kind = kind, .scale = 2};
}

Tensor encode(FourierEncoding& encoding, const Places& places) {
  Tape tape;
  return encoding.at(tape, places).value();
}

double product(const Tensor& rows, std::size_t a, std::size_t b) {
  const std::size_t width = rows.shape()[1];
  double sum = 0;
  for (std::size_t i = 0; i < width; ++i)
    sum += double(rows.data()[a * width + i]) * double(rows.data()[b * width + i]);
  return sum;
}

TEST(FourierEncoding, HasTheKernelOfItsFrequencies) {
  for (const std::string& kind : fourier_kinds()) {
    for (std::size_t d : {1, 2, 3}) {
      FourierEncoding encoding(spec_of(kind, d, 12));
      const Places places{d, {0.1, 0.9, 0.4, 0.3, -0.7, 0.8}};
      const Tensor rows = encode(encoding, places);
      double expected = 0;
      for (std::size_t f = 0; f < 12; ++f) {
        double phase = 0;
        for (std::size_t j = 0; j < d; ++j)
          phase += double(encoding.frequencies().data()[f * d + j]) *
                   (places.coordinates[j] - places.coordinates[d + j]);
        expected += std::cos(phase) / 12;
      }
      EXPECT_NEAR(product(rows, 0, 0), 1, is_double ? 1e-12 : 1e-6) << kind << d;
      EXPECT_NEAR(product(rows, 0, 1), expected, is_double ? 1e-12 : 1e-5) << kind << d;
    }
  }
}

TEST(FourierEncoding, GaussianFrequenciesHaveTheirScale) {
  for (const char* kind : {"learned", "random"}) {
    const FourierEncoding encoding(spec_of(kind, 2, 4000));
    double squares = 0;
    for (const real w : encoding.frequencies()) squares += double(w) * double(w);
    const double variance = std::pow(2 * std::numbers::pi * 2, 2);
    EXPECT_NEAR(squares / 8000, variance, 5 * variance * std::sqrt(2.0 / 8000));
  }
}

TEST(FourierEncoding, GeometricFrequenciesLieOnTheAxes) {
  const FourierEncoding encoding(spec_of("geometric", 2, 6));
  const double turns[] = {0.5, 0.5, 1, 1, 2, 2};
  for (std::size_t f = 0; f < 6; ++f) {
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_NEAR(double(encoding.frequencies().data()[2 * f + j]),
                  f % 2 == j ? 2 * std::numbers::pi * turns[f] : 0, 1e-5);
  }
}

TEST(FourierEncoding, ALinearSeriesHasEqualSteps) {
  const FourierEncoding encoding(spec_of("linear", 3, 12));
  const double turns[] = {0.5, 1, 1.5, 2};
  for (std::size_t f = 0; f < 12; ++f) {
    for (std::size_t j = 0; j < 3; ++j)
      EXPECT_NEAR(double(encoding.frequencies()(f, j)),
                  f % 3 == j ? 2 * std::numbers::pi * turns[f / 3] : 0, 1e-5);
  }
}

/// Learned frequencies can start at the fixed ones; on axes they have one coordinate.
TEST(FourierEncoding, LearnedFrequenciesStartAsTheyAreTold) {
  for (const char* start : {"geometric", "linear"}) {
    const FourierEncoding fixed(spec_of(start, 2, 6));
    for (const char* kind : {"learned", "axes"}) {
      FourierSpec spec = spec_of(kind, 2, 6);
      spec.start = start;
      FourierEncoding learned(spec);
      EXPECT_TRUE(same_bits(learned.frequencies(), fixed.frequencies())) << kind << start;
      EXPECT_EQ(parameters_of(learned)[0].parameter->value().size(), kind[0] == 'a' ? 6u : 12u);
    }
  }
  FourierEncoding axes(spec_of("axes", 3, 6));
  for (std::size_t f = 0; f < 6; ++f)
    for (std::size_t j = 0; j < 3; ++j)
      EXPECT_EQ(axes.frequencies()(f, j) != 0, f % 3 == j) << f << j;
  check_layer(axes, random_tensor({8, 12}, 1), [&](Tape& tape, const Var& x) {
    return axes.grid(tape, {{0, 0.2}, {0.1, 0.8}, {0.3, 0.4}}) * x;
  });
}

TEST(FourierEncoding, LearnsOnlyWhatItIsToLearn) {
  FourierEncoding learned(spec_of("learned", 2, 6)), random(spec_of("random", 2, 6));
  EXPECT_EQ(names_of(learned), std::vector<std::string>{"frequencies"});
  EXPECT_TRUE(names_of(random).empty());
  EXPECT_EQ(buffers_of(random).size(), 1u);
  EXPECT_TRUE(same_bits(learned.frequencies(), random.frequencies()));
  const auto forward = [&](Tape& tape, const Var& x) {
    return learned.grid(tape, {{0, 0.2, 0.4}, {0.1, 0.8}}) * x;
  };
  check_layer(learned, random_tensor({6, 12}, 1), forward);
}

TEST(FourierEncoding, StreamsAndSeedsDiffer) {
  FourierSpec spec = spec_of("random", 1, 4), other_stream = spec, other_seed = spec;
  other_stream.stream = 1;
  other_seed.seed = 2;
  const FourierEncoding encoding(spec);
  for (const FourierSpec& other : {other_stream, other_seed})
    EXPECT_NE(encoding.frequencies()(0, 0), FourierEncoding(other).frequencies()(0, 0));
}

TEST(FourierEncoding, SaysWhatItCannotDo) {
  EXPECT_EQ(op_check::error_of([] { FourierEncoding(spec_of("fixed", 2, 4)); }),
            "[fourier_encoding] no frequencies are called \"fixed\"; there are: learned, axes, "
            "random, geometric, linear");
  EXPECT_EQ(op_check::error_of([] { FourierEncoding(spec_of("geometric", 3, 4)); }),
            "[fourier_encoding] the number of frequencies 4 must be a multiple of the 3 axes");
}

}  // namespace space_fourier_test
}  // namespace bochner::inline BOCHNER_PRECISION
