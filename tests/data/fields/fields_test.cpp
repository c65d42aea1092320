#include <gtest/gtest.h>

#include <bochner/base/numeric/parallel.hpp>
#include <bochner/data/fields/fields.hpp>
#include <cmath>

#include "data/batches.hpp"

namespace bochner {
namespace fields_test {

FieldSpec small(const std::string& kind) {
  return {.kind = kind, .frames = 5, .height = 12, .width = 10};
}

double mean_square(const Tensor& x) {
  double sum = 0;
  for (const real value : x) sum += double(value) * double(value);
  return sum / double(x.size());
}

TEST(Fields, AreFunctionsOfTheExample) {
  for (const std::string& kind : field_kinds()) {
    const Fields fields(small(kind), {3, 20, 10});
    const FieldBatch two = training_batch(fields, 4, 2), one = training_batch(fields, 5, 1);
    EXPECT_EQ(to_string(two.frames.shape()), "(2, 5, 12, 10)");
    EXPECT_EQ(to_string(two.next.shape()), "(2, 12, 10)");
    for (std::size_t i = 0; i < one.frames.size(); ++i)
      ASSERT_EQ(two.frames.data()[one.frames.size() + i], one.frames.data()[i]);
    EXPECT_NE(two.frames.data()[0], one.frames.data()[0]);
    EXPECT_NE(held_out_batch(fields, 0, 1).frames.data()[0],
              training_batch(fields, 0, 1).frames.data()[0]);
    set_thread_count(3);
    EXPECT_EQ(training_batch(fields, 4, 2).frames, two.frames);
    set_thread_count(0);
  }
}

TEST(Fields, StartWithMeanZeroAndVarianceOne) {
  for (const std::string& kind : field_kinds()) {
    FieldSpec spec = small(kind);
    spec.frames = 1;
    const FieldBatch batch = training_batch(Fields(spec, {1, 4000, 0}), 0, 4000);
    double sum = 0;
    for (const real value : batch.frames) sum += double(value);
    EXPECT_NEAR(sum / double(batch.frames.size()), 0, 0.05) << kind;
    EXPECT_NEAR(mean_square(batch.frames), 1, 0.1) << kind;
  }
}

TEST(Fields, HaveOneToThreeDimensions) {
  for (const std::string& kind : field_kinds()) {
    FieldSpec spec = small(kind);
    spec.dimensions = 1;
    const FieldBatch line = training_batch(Fields(spec, {}), 0, 2);
    EXPECT_EQ(to_string(line.frames.shape()), "(2, 5, 10)");
    EXPECT_EQ(to_string(line.next.shape()), "(2, 10)");
    spec.dimensions = 3, spec.planes = 8, spec.frames = 1;
    const Fields space(spec, {1, 2000, 0});
    EXPECT_EQ(space.words(),
              kind + ", 1 frames of 8 x 12 x 10  ·  2000 examples to train, 0 to validate");
    const FieldBatch solid = training_batch(space, 0, 2000);
    EXPECT_EQ(to_string(solid.frames.shape()), "(2000, 1, 8, 12, 10)");
    EXPECT_NEAR(mean_square(solid.frames), 1, 0.15) << kind;
    EXPECT_NE(space.fingerprint(), Fields(small(kind), {1, 2000, 0}).fingerprint());
  }
}

/// A mode in three dimensions obeys u(t + 1) + u(t - 1) = 2 cos(w) u(t) at every pixel.
TEST(Fields, WavesTravelThroughThreeDimensions) {
  FieldSpec spec = small("advection_diffusion");
  spec.components = 1, spec.diffusivity = 0, spec.dimensions = 3, spec.planes = 6;
  const FieldBatch batch = training_batch(Fields(spec, {}), 0, 5);
  const std::size_t n = 6 * 12 * 10;
  for (std::size_t b = 0; b < 5; ++b) {
    const real* u = batch.frames.data() + b * 5 * n;
    double above = 0, below = 0, apart = 0;
    for (std::size_t i = 0; i < n; ++i) {
      above += double(u[n + i]) * (double(u[i]) + double(u[2 * n + i]));
      below += double(u[n + i]) * double(u[n + i]);
      apart = std::max(apart, std::abs(double(u[n + i]) - double(u[i])));
    }
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_NEAR(double(u[2 * n + i]) + double(u[i]), above / below * double(u[n + i]), 1e-4);
    EXPECT_GT(apart, 1e-3);
  }
}

/// The next frame is the frame after the last input frame of a longer film.
TEST(Fields, TheNextFrameContinuesTheFilm) {
  for (const std::string& kind : field_kinds()) {
    FieldSpec spec = small(kind), longer = spec;
    ++longer.frames;
    const FieldBatch film = training_batch(Fields(spec, {}), 0, 1),
                     more = training_batch(Fields(longer, {}), 0, 1);
    for (std::size_t i = 0; i < 120; ++i)
      ASSERT_EQ(film.next.data()[i], more.frames.data()[5 * 120 + i]);
  }
}

/// Returns the residual of u_t + v . grad u = kappa laplace u by central differences in time and
/// the spectral identity in space: a single mode obeys u(t + 1) + u(t - 1) = 2 cos(w) u(t) without
/// diffusion.
TEST(Fields, WithoutDiffusionTheFieldIsCarriedAlong) {
  FieldSpec spec = small("advection_diffusion");
  spec.components = 1, spec.diffusivity = 0;
  const FieldBatch batch = training_batch(Fields(spec, {}), 0, 20);
  for (std::size_t b = 0; b < 20; ++b) {
    const real* u = batch.frames.data() + b * 600;
    double above = 0, below = 0;  // least squares of u(2) + u(0) = c u(1)
    for (std::size_t i = 0; i < 120; ++i) {
      above += double(u[120 + i]) * (double(u[i]) + double(u[240 + i]));
      below += double(u[120 + i]) * double(u[120 + i]);
    }
    const double c = above / below;
    EXPECT_LE(std::abs(c), 2.001);
    for (std::size_t i = 0; i < 120; ++i)
      EXPECT_NEAR(double(u[240 + i]) + double(u[i]), c * double(u[120 + i]), 1e-4);
    for (std::size_t t = 1; t < 5; ++t) {
      double energy = 0, first = 0;
      for (std::size_t i = 0; i < 120; ++i) {
        energy += std::pow(double(u[t * 120 + i]), 2);
        first += std::pow(double(u[i]), 2);
      }
      EXPECT_NEAR(energy, first, 1e-4 * first);
    }
  }
}

/// Without velocity every mode decays by the same factor per frame: ratios of neighbouring frames
/// are constant, and at most 1.
TEST(Fields, DiffusionAloneDecaysAtTheRateOfTheMode) {
  FieldSpec spec = small("advection_diffusion");
  spec.components = 1, spec.speed = 0, spec.diffusivity = 0.5;
  const FieldBatch batch = training_batch(Fields(spec, {}), 0, 20);
  for (std::size_t b = 0; b < 20; ++b) {
    const real* u = batch.frames.data() + b * 600;
    double factor = 0, whole = 0;
    for (std::size_t i = 0; i < 120; ++i) {
      factor += double(u[120 + i]) * double(u[i]);
      whole += double(u[i]) * double(u[i]);
    }
    factor /= whole;
    EXPECT_LT(factor, 1);
    for (std::size_t i = 0; i < 4 * 120; ++i)
      EXPECT_NEAR(double(u[120 + i]), factor * double(u[i]), 1e-5);
  }
}

/// A velocity of whole pixels per frame shifts a single Gaussian exactly.
TEST(Fields, PatternsMoveWithoutChange) {
  FieldSpec spec = small("moving_pattern");
  spec.components = 1, spec.frames = 24;
  const FieldBatch batch = training_batch(Fields(spec, {}), 0, 5);
  const std::size_t frame = 120;
  for (std::size_t b = 0; b < 5; ++b) {
    const real* u = batch.frames.data() + b * 24 * frame;
    for (std::size_t t = 1; t < 24; ++t) {
      double sum = 0, first = 0;
      for (std::size_t i = 0; i < frame; ++i) {
        sum += double(u[t * frame + i]);
        first += double(u[i]);
      }
      EXPECT_NEAR(sum, first, 0.02 * std::abs(first) + 1e-3);  // a wrapped bump keeps its mass
    }
  }
}

TEST(Fields, NoiseIsOnWhatIsSeenOnly) {
  FieldSpec spec = small("moving_pattern"), noisy = spec;
  noisy.noise = 0.5;
  const FieldBatch clean = training_batch(Fields(spec, {}), 0, 10),
                   seen = training_batch(Fields(noisy, {}), 0, 10);
  EXPECT_EQ(clean.next, seen.next);
  const Tensor apart = clean.frames - seen.frames;
  EXPECT_NEAR(mean_square(apart), 0.25, 0.02);
}

TEST(Fields, FingerprintsTellDataApart) {
  const FieldSpec spec = small("moving_pattern");
  FieldSpec faster = spec, other = small("advection_diffusion");
  faster.speed = 2;
  const std::uint64_t print = Fields(spec, {}).fingerprint();
  EXPECT_EQ(Fields(spec, {}).fingerprint(), print);
  EXPECT_NE(Fields(faster, {}).fingerprint(), print);
  EXPECT_NE(Fields(other, {}).fingerprint(), print);
  EXPECT_NE(Fields(spec, {2}).fingerprint(), print);
}

TEST(Fields, RefuseWhatIsNoField) {
  EXPECT_THROW(Fields(small("waves"), {}), std::invalid_argument);
  FieldSpec flat = small("moving_pattern");
  flat.height = 2;
  EXPECT_THROW(Fields(flat, {}), std::invalid_argument);
  flat.dimensions = 1;  // has no height
  EXPECT_NO_THROW(Fields(flat, {}));
  flat.dimensions = 4;
  EXPECT_THROW(Fields(flat, {}), std::invalid_argument);
}

}  // namespace fields_test
}  // namespace bochner
