#include <bochner/layers/features/frequencies.hpp>
#include <cmath>

#include "layers/features/features_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace projection_test {

using namespace features_check;

Tensor rows_of(Projection& projection) {
  Tape tape({.recording = false});
  return projection.rows(tape).value();
}

std::vector<double> values_of(Module& module, const std::string& name) {
  for (const NamedParameter& named : parameters_of(module)) {
    if (named.name == name)
      return {named.parameter->value().begin(), named.parameter->value().end()};
  }
  throw std::invalid_argument("no parameter " + name);
}

using Square = std::vector<double>;  // (p, p)

Square times(const Square& a, const Square& b, std::size_t p) {
  Square c(p * p);
  for (std::size_t i = 0; i < p * p; ++i) {
    for (std::size_t k = 0; k < p; ++k) c[i] += a[i / p * p + k] * b[k * p + i % p];
  }
  return c;
}

Square hadamard_matrix(std::size_t p) {
  Square H(p * p);
  for (std::size_t i = 0; i < p * p; ++i)
    H[i] = (__builtin_popcountll(i / p & i % p) % 2 ? -1 : 1) / std::sqrt(double(p));
  return H;
}

Square diagonal(const std::vector<double>& values, std::size_t block, std::size_t p) {
  Square D(p * p);
  for (std::size_t i = 0; i < p; ++i) D[i * p + i] = values[block * p + i];
  return D;
}

/// Blocks of p = d = 4 rows, dense: S H D1 H D2 H D3 with learned diagonals.
TEST(SorfProjection, IsTheDenseProduct) {
  const std::size_t p = 4, m = 7;
  const auto made = projections().make("sorf", {1, m, p, 1});
  Projection& projection = *made;
  randomize(projection);
  const Tensor rows = rows_of(projection);
  const Square H = hadamard_matrix(p);
  for (std::size_t block = 0; block < 2; ++block) {
    Square dense = diagonal(values_of(projection, "lengths"), block, p);
    for (const char* name : {"first", "second", "third"})
      dense = times(times(dense, H, p), diagonal(values_of(projection, name), block, p), p);
    for (std::size_t i = 0; i < p && block * p + i < m; ++i) {
      for (std::size_t j = 0; j < p; ++j)
        EXPECT_NEAR(rows.data()[(block * p + i) * p + j], dense[i * p + j], 1e-6);
    }
  }
}

/// S H G P H B with the permutation read from the buffer P H.
TEST(FastfoodProjection, IsTheDenseProduct) {
  const std::size_t p = 8, m = 8;
  const auto made = projections().make("fastfood", {1, m, p, 1});
  Projection& projection = *made;
  randomize(projection);
  const Tensor& columns = *buffers_of(projection)[0].tensor;  // (d, p): (P H)^T
  const Square H = hadamard_matrix(p);
  Square permuted(p * p);
  for (std::size_t i = 0; i < p * p; ++i) permuted[i] = double(columns.data()[i % p * p + i / p]);
  std::vector<bool> used(p);
  for (std::size_t i = 0; i < p; ++i) {  // each row of P H is a row of H
    for (std::size_t r = 0; r < p; ++r) {
      double difference = 0;
      for (std::size_t j = 0; j < p; ++j)
        difference += std::abs(permuted[i * p + j] - H[r * p + j]);
      if (difference < 1e-5) used[r] = true;
    }
  }
  for (std::size_t r = 0; r < p; ++r) EXPECT_TRUE(used[r]) << r;
  Square dense = times(diagonal(values_of(projection, "lengths"), 0, p), H, p);
  dense = times(dense, diagonal(values_of(projection, "gaussian"), 0, p), p);
  dense = times(dense, permuted, p);
  dense = times(dense, diagonal(values_of(projection, "signs"), 0, p), p);
  const Tensor rows = rows_of(projection);
  for (std::size_t i = 0; i < p * p; ++i) EXPECT_NEAR(rows.data()[i], dense[i], 1e-5);
}

TEST(Projections, AreDifferentiable) {
  for (const char* name : {"fastfood", "sorf"}) {
    const auto projection = projections().make(name, {2, 5, 3, 1});
    randomize(*projection);
    check_layer(*projection, random_tensor({1}, 1),
                [&](Tape& tape, const Var&) { return projection->rows(tape); });
  }
}

/// Rows have the first moments of N(0, I) over heads, E w = 0, E w w^T = I, and independent chi
/// lengths; fastfood and sorf only if d is a power of two.
TEST(Projections, StartAsNormalRows) {
  const std::size_t H = 4000, m = 6, d = 4;
  for (const char* name : {"fastfood", "sorf", "radial"}) {
    const auto projection = projections().make(name, {H, m, d, 1});
    const Tensor w = rows_of(*projection);
    for (std::size_t i = 0; i < m; ++i) {
      double length = 0, length_square = 0;
      for (std::size_t e = 0; e < d; ++e) {
        std::vector<double> values(H), products(H);
        for (std::size_t h = 0; h < H; ++h) {
          const real* row = w.data() + (h * m + i) * d;
          values[h] = row[e], products[h] = double(row[e]) * double(row[(e + 1) % d]);
        }
        const Moments moments(values), mixed(products);
        EXPECT_NEAR(moments.mean, 0, 5 * moments.mean_error()) << name;
        EXPECT_NEAR(moments.variance, 1, 5 * moments.variance_error()) << name;
        EXPECT_NEAR(mixed.mean, 0, 5 * mixed.mean_error()) << name;
      }
      for (std::size_t h = 0; h < H; ++h) {
        double square = 0;
        for (std::size_t e = 0; e < d; ++e)
          square += std::pow(double(w.data()[(h * m + i) * d + e]), 2);
        length += square / double(H), length_square += square * square / double(H);
      }
      EXPECT_NEAR(length, double(d), 5 * std::sqrt(2 * double(d) / double(H))) << name;
      EXPECT_NEAR(length_square, double(d * (d + 2)), 0.1 * double(d * (d + 2))) << name;
    }
  }
}

TEST(Projections, OfAnyWidthHaveTheRightShape) {
  for (const char* name : {"fastfood", "sorf", "radial"}) {
    for (std::size_t d : {1, 3, 5, 8}) {
      const auto projection = projections().make(name, {2, 7, d, 1});
      EXPECT_EQ(rows_of(*projection).shape(), (Shape{2, 7, d})) << name;
    }
  }
}

/// log_head_scale goes from -spread to spread; the scale of a projection starts at the density's.
TEST(Frequencies, SpreadOverTheHeads) {
  FeatureSpec spec = spec_of("positive", 3, 4, 5);
  spec.density.log_scale = -1;
  Tape tape;
  const Tensor plain = Frequencies(spec).draws(tape).value();
  spec.spread = 0.7;
  Frequencies frequencies(spec);
  const Tensor spread = frequencies.draws(tape).value();
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const double log_scale = 0.7 * (double(i / 20) - 1);
    EXPECT_NEAR(spread.data()[i], double(plain.data()[i]) * std::exp(log_scale), 1e-6);
  }
  EXPECT_EQ(names_of(frequencies).back(), "log_head_scale");
  spec.projection = "radial";
  Frequencies radial(spec);
  EXPECT_EQ(names_of(radial), (std::vector<std::string>{"log_scale", "log_head_scale"}));
  EXPECT_NEAR(values_of(radial, "log_scale")[0], -1, 1e-9);
  spec.projection = "helix";
  EXPECT_EQ(op_check::error_of([&] { Frequencies bad(spec); }),
            "[projection] no projection is called \"helix\"; there are: fastfood, sorf, radial");
}

}  // namespace projection_test
}  // namespace bochner::inline BOCHNER_PRECISION
