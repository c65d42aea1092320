#include <bochner/layers/spectral/base_draws.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace base_draws_test {

using namespace layer_check;

Tensor draws_of(const std::string& kind, std::size_t H, std::size_t m, std::size_t d,
                std::uint64_t seed) {
  return base_draws(kind, H, m, d, 0, RandomFunction{seed, Purpose::test, 1});
}

double product(const Tensor& w, std::size_t i, std::size_t j) {
  const std::size_t d = w.shape()[2];
  double sum = 0;
  for (std::size_t e = 0; e < d; ++e)
    sum += double(w.data()[i * d + e]) * double(w.data()[j * d + e]);
  return sum;
}

TEST(BaseDraws, OrthogonalOnesAreOrthogonalWithinTheirBlocks) {
  const std::size_t m = 13, d = 5;  // blocks of 5, 5 and 3 rows
  const Tensor w = draws_of("orthogonal", 2, m, d, 1);
  double across = 0;
  for (std::size_t h = 0; h < 2; ++h) {
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double cosine =
            product(w, h * m + i, h * m + j) /
            std::sqrt(product(w, h * m + i, h * m + i) * product(w, h * m + j, h * m + j));
        if (i / d == j / d) {
          EXPECT_NEAR(cosine, 0, is_double ? 1e-14 : 1e-6) << i << " " << j;
        } else {
          across = std::max(across, std::abs(cosine));
        }
      }
    }
  }
  EXPECT_GT(across, 0.1);  // blocks are independent
}

/// Returns the largest |mean| of an element of a (d, d) matrix over `count` draws, in standard
/// errors.
template <class Draw>
double largest_mean(std::size_t d, std::size_t count, const Draw& draw) {
  std::vector<double> sum(d * d), square(d * d);
  for (std::size_t seed = 0; seed < count; ++seed) {
    const Tensor w = draw(seed);
    for (std::size_t i = 0; i < d * d; ++i) {
      sum[i] += double(w.data()[i]);
      square[i] += double(w.data()[i]) * double(w.data()[i]);
    }
  }
  double largest = 0;
  for (std::size_t i = 0; i < d * d; ++i)
    largest = std::max(largest, std::abs(sum[i]) / std::sqrt(square[i]));
  return largest;
}

/// Returns rows of Q by Householder reflections without sign correction: R's diagonal has the
/// opposite sign of the first element of each column.
Tensor raw_householder(std::size_t d, std::uint64_t seed) {
  Tensor a = random_tensor({d, d}, 1000 + seed), q = zeros({d, d});
  for (std::size_t i = 0; i < d; ++i) q.data()[i * d + i] = 1;
  for (std::size_t c = 0; c < d; ++c) {
    std::vector<double> v(d);
    double square = 0;
    for (std::size_t i = c; i < d; ++i) {
      v[i] = double(a.data()[i * d + c]);
      square += v[i] * v[i];
    }
    v[c] += v[c] > 0 ? std::sqrt(square) : -std::sqrt(square);
    double norm = 0;
    for (double x : v) norm += x * x;
    if (c + 1 == d) continue;
    for (std::size_t j = 0; j < d; ++j) {
      double on_a = 0, on_q = 0;
      for (std::size_t i = c; i < d; ++i) {
        on_a += v[i] * double(a.data()[i * d + j]);
        on_q += v[i] * double(q.data()[j * d + i]);
      }
      for (std::size_t i = c; i < d; ++i) {
        a.data()[i * d + j] -= real(2 * v[i] * on_a / norm);
        q.data()[j * d + i] -= real(2 * v[i] * on_q / norm);
      }
    }
  }
  return q;
}

TEST(BaseDraws, HaveMeanZeroInEveryElement) {
  const std::size_t d = 4, count = 4000;
  for (const std::string& kind : base_draw_names()) {
    EXPECT_LT(largest_mean(d, count, [&](std::size_t s) { return draws_of(kind, 1, d, d, s); }), 5)
        << kind;
  }
  EXPECT_GT(largest_mean(d, count, [&](std::size_t s) { return raw_householder(d, s); }), 20);
}

/// |w|^2 has mean d and variance 2 d, as has each coordinate's square: every row is normal.
TEST(BaseDraws, HaveTheMomentsOfTheNormalDistribution) {
  for (const std::string& kind : base_draw_names()) {
    for (std::size_t d : {2, 5, 16}) {
      const std::size_t count = 3000, m = d + d / 2;
      double length = 0, length_square = 0, second = 0, fourth = 0;
      for (std::size_t seed = 0; seed < count; ++seed) {
        const Tensor w = draws_of(kind, 1, m, d, seed);
        const std::size_t row = seed % m;
        const double square = product(w, row, row), x = double(w.data()[row * d + seed % d]);
        length += square, length_square += square * square;
        second += x * x, fourth += x * x * x * x;
      }
      const double D = double(d), n = double(count);
      EXPECT_NEAR(length / n, D, 5 * std::sqrt(2 * D / n)) << kind << d;
      // E |w|^8 = d (d + 2) (d + 4) (d + 6)
      const double fourth_length = D * (D + 2);
      EXPECT_NEAR(
          length_square / n, fourth_length,
          5 * std::sqrt((fourth_length * (D + 4) * (D + 6) - std::pow(fourth_length, 2)) / n))
          << kind << d;
      EXPECT_NEAR(second / n, 1, 5 * std::sqrt(2 / n)) << kind << d;
      EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96 / n)) << kind << d;
    }
  }
}

TEST(BaseDraws, OrthogonalOnesHaveIndependentLengths) {
  const std::size_t count = 4000, d = 4;
  double covariance = 0;
  for (std::size_t seed = 0; seed < count; ++seed) {
    const Tensor w = draws_of("orthogonal", 1, d, d, seed);
    covariance += (product(w, 0, 0) - double(d)) * (product(w, 1, 1) - double(d));
  }
  EXPECT_NEAR(covariance / double(count), 0, 5 * 2 * double(d) / std::sqrt(double(count)));
}

TEST(BaseDraws, DifferBetweenHeadsAndSeedsAndRepeat) {
  for (const std::string& kind : base_draw_names()) {
    const Tensor w = draws_of(kind, 3, 6, 4, 1);
    op_check::expect_equal_bits(w, draws_of(kind, 3, 6, 4, 1));
    EXPECT_NE(w, draws_of(kind, 3, 6, 4, 2));
    for (std::size_t h = 1; h < 3; ++h)
      EXPECT_NE(0, std::memcmp(w.data(), w.data() + h * 24, 24 * sizeof(real)));
  }
  EXPECT_EQ(op_check::error_of([] { draws_of("grid", 1, 1, 1, 1); }),
            "[draws] no base draws are called \"grid\"; there are: iid, orthogonal, sobol, "
            "sobol_owen, halton");
  for (const std::string& kind : base_draw_names())
    EXPECT_EQ(op_check::error_of([&] { draws_of(kind, 1, 1, 0, 1); }),
              "[draws] d must be at least 1");
}

}  // namespace base_draws_test
}  // namespace bochner::inline BOCHNER_PRECISION
