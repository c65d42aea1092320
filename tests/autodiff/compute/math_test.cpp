#include <gtest/gtest.h>

#include <bit>
#include <bochner/autodiff/compute/math.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace math_test {

constexpr bool is_float = std::is_same_v<real, float>;
using Wide = std::conditional_t<is_float, double, long double>;
using Bits = std::conditional_t<is_float, std::uint32_t, std::uint64_t>;
constexpr real infinity = std::numeric_limits<real>::infinity();
constexpr real not_a_number = std::numeric_limits<real>::quiet_NaN();

real sine_of_pair(real x) {
  real sine, cosine;
  math::sincos(x, &sine, &cosine);
  return sine;
}

real cosine_of_pair(real x) {
  real sine, cosine;
  math::sincos(x, &sine, &cosine);
  return cosine;
}

real slope_of_gelu(real x) {
  real value, slope;
  math::gelu(x, &value, &slope);
  return slope;
}

Wide wide_sigmoid(Wide x) {
  const Wide e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

Wide wide_softplus(Wide x) { return (x > 0 ? x : Wide(0)) + std::log1p(std::exp(-std::fabs(x))); }

Wide wide_normal_cdf(Wide x) { return std::erfc(-x / std::numbers::sqrt2_v<Wide>) / 2; }

Wide wide_gelu(Wide x) { return x * wide_normal_cdf(x); }

Wide wide_slope_of_gelu(Wide x) {
  return wide_normal_cdf(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi_v<Wide>);
}

/// One function in its three forms, and its error bound in units of the last place.
struct Row {
  const char* name;
  real (*one)(real);
  void (*loop)(const real*, real*, std::size_t);
  Wide (*reference)(Wide);
  double bound;         ///< of the float version
  double double_bound;  ///< of the double version: std:: and a formula around it
  real low, high;       ///< where it is defined and the bound holds
};

template <auto function>
[[gnu::noinline]] real one(real x) {
  return function(x);
}

template <auto function>
[[gnu::noinline]] void loop(const real* x, real* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = function(x[i]);
}

constexpr real greatest = std::numeric_limits<real>::max();
constexpr real angle_limit = real(0x1p+50 * (1 - 0x1p-24));

/// Smallest argument for which gelu is a normal number.
constexpr real least_gelu = is_float ? real(-13.14) : real(-37);

template <auto function>
Row row(const char* name, Wide (*reference)(Wide), double bound, double double_bound,
        real low = -greatest, real high = greatest) {
  return {name, one<function>, loop<function>, reference, bound, double_bound, low, high};
}

const std::vector<Row>& table() {
  static const std::vector<Row> rows = {
      row<math::exp>("exp", std::exp, 1.5, 1), row<math::log>("log", std::log, 1, 1, 0, greatest),
      row<math::exp2_nonpositive>("exp2_nonpositive", std::exp2, 2.5, 1, -126, 1),
      row<math::sin>("sin", std::sin, 2, 1, -angle_limit, angle_limit),
      row<math::cos>("cos", std::cos, 2, 1, -angle_limit, angle_limit),
      row<sine_of_pair>("sincos, sine", std::sin, 2, 1, -angle_limit, angle_limit),
      row<cosine_of_pair>("sincos, cosine", std::cos, 2, 1, -angle_limit, angle_limit),
      row<math::tanh>("tanh", std::tanh, 1.5, 3), row<math::erf>("erf", std::erf, 1.5, 2),
      row<math::sigmoid>("sigmoid", wide_sigmoid, 2.5, 3),
      row<math::softplus>("softplus", wide_softplus, 2, 3),
      // In double, the tail multiplies the rounding of the argument by up to 38^2.
      row<static_cast<real (*)(real)>(math::gelu)>("gelu", wide_gelu, 4, 1600, least_gelu),
      row<math::normal_cdf>("normal_cdf", wide_normal_cdf, 4, 1600, least_gelu)};
  return rows;
}

/// Returns the unit in the last place at y; below the normal numbers, that of denormals.
Wide last_place(Wide y) {
  using Limits = std::numeric_limits<real>;
  int exponent;
  std::frexp(y, &exponent);
  return std::ldexp(Wide(1),
                    std::max(exponent - Limits::digits, Limits::min_exponent - Limits::digits));
}

/// Returns evenly spaced bit patterns, all exponents and both signs, by increasing |x|.
std::vector<real> sweep(const Row& row, std::size_t count) {
  std::vector<real> x;
  const Bits step = Bits(std::bit_cast<Bits>(infinity) / (count / 2));
  for (Bits bits = 0; bits < std::bit_cast<Bits>(infinity); bits += step) {
    for (const real value : {std::bit_cast<real>(bits), -std::bit_cast<real>(bits)}) {
      if (value >= row.low && value <= row.high) x.push_back(value);
    }
  }
  return x;
}

/// Returns evenly spaced points of [-range, range], typical arguments of a network.
std::vector<real> grid(const Row& row, real range, int count) {
  std::vector<real> x;
  for (int i = -count; i <= count; ++i) {
    const real value = range * real(i) / real(count);
    if (value >= row.low && value <= row.high) x.push_back(value);
  }
  return x;
}

void expect_within_bound(const Row& row, const std::vector<real>& x) {
  std::vector<real> y(x.size());
  row.loop(x.data(), y.data(), x.size());
  double worst = 0;
  real where = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Wide expected = row.reference(x[i]);
    const bool overflow = !(std::fabs(expected) <= Wide(greatest));
    const double error = overflow ? (y[i] == real(expected) ? 0 : HUGE_VAL)
                                  : double(std::fabs(y[i] - expected) / last_place(expected));
    if (!(error <= worst)) worst = error, where = x[i];
    if (std::isnan(error)) break;
  }
  EXPECT_LE(worst, is_float ? row.bound : row.double_bound) << row.name << " at " << where;
}

TEST(Math, KeepsItsBoundsForEveryExponent) {
  for (const Row& row : table()) expect_within_bound(row, sweep(row, is_float ? 2000000 : 200000));
}

TEST(Math, KeepsItsBoundsWhereArgumentsAre) {
  for (const Row& row : table()) {
    for (const real range : {real(1.5), real(20), real(110)}) {
      expect_within_bound(row, grid(row, range, is_float ? 50000 : 10000));
    }
  }
}

TEST(Math, KeepsItsBoundsNextToMultiplesOfHalfPi) {
  std::vector<real> x;
  for (int quarter = 1; quarter < 100000; quarter += 7) {
    const real centre = real(quarter * (std::numbers::pi / 2));
    x.push_back(std::nextafter(centre, real(0)));
    x.push_back(centre);
    x.push_back(std::nextafter(centre, infinity));
  }
  for (const Row& row : table()) {
    if (row.high == angle_limit) expect_within_bound(row, x);
  }
}

TEST(Math, GivesTheSameBitsInLoopsAndSingleCalls) {
  constexpr std::size_t offsets = 40, lengths = 40;
  const real special[] = {0, real(-0.0), infinity, -infinity, not_a_number, 1, -1, real(1e-30)};
  for (const Row& row : table()) {
    std::vector<real> x(offsets + lengths), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = i % 9 == 4 ? special[i / 9 % 8] : real(0.37) * real(i) - real(12);
    }
    for (std::size_t begin = 0; begin < offsets; ++begin) {
      for (std::size_t n = 1; n <= lengths; ++n) {
        row.loop(x.data() + begin, y.data(), n);
        for (std::size_t i = 0; i < n; ++i) {
          const real single = row.one(x[begin + i]);
          if (std::isnan(single) && std::isnan(y[i])) continue;
          ASSERT_EQ(std::bit_cast<Bits>(single), std::bit_cast<Bits>(y[i]))
              << row.name << "(" << x[begin + i] << ") in a loop of " << n;
        }
      }
    }
  }
}

TEST(Math, GivesTheSameBitsInLoopsAndSingleCallsForEveryExponent) {
  for (const Row& row : table()) {
    const std::vector<real> x = sweep(row, 40000);
    std::vector<real> y(x.size());
    row.loop(x.data(), y.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(std::bit_cast<Bits>(row.one(x[i])), std::bit_cast<Bits>(y[i]))
          << row.name << "(" << x[i] << ")";
    }
  }
}

TEST(Math, PropagatesNaN) {
  for (const Row& row : table()) {
    EXPECT_TRUE(std::isnan(row.one(not_a_number))) << row.name;
    EXPECT_TRUE(std::isnan(row.one(-not_a_number))) << row.name;
  }
}

TEST(Math, KnowsInfinityAndZero) {
  EXPECT_EQ(math::exp(infinity), infinity);
  EXPECT_EQ(math::exp(-infinity), 0);
  EXPECT_EQ(math::exp(0), 1);
  EXPECT_EQ(math::log(0), -infinity);
  EXPECT_EQ(math::log(real(-0.0)), -infinity);
  EXPECT_EQ(math::log(infinity), infinity);
  EXPECT_EQ(math::log(1), 0);
  EXPECT_TRUE(std::isnan(math::log(-1)));
  EXPECT_TRUE(std::isnan(math::log(-infinity)));
  EXPECT_TRUE(std::isnan(math::sin(infinity)));
  EXPECT_TRUE(std::isnan(math::cos(-infinity)));
  EXPECT_EQ(math::cos(0), 1);
  EXPECT_EQ(math::tanh(infinity), 1);
  EXPECT_EQ(math::tanh(-infinity), -1);
  EXPECT_EQ(math::erf(infinity), 1);
  EXPECT_EQ(math::erf(-infinity), -1);
  EXPECT_EQ(math::sigmoid(infinity), 1);
  EXPECT_EQ(math::sigmoid(-infinity), 0);
  EXPECT_EQ(math::sigmoid(0), real(0.5));
  EXPECT_EQ(math::softplus(infinity), infinity);
  EXPECT_EQ(math::softplus(-infinity), 0);
  EXPECT_EQ(math::gelu(infinity), infinity);
  EXPECT_EQ(math::gelu(-infinity), 0);
  EXPECT_EQ(math::gelu(0), 0);
  EXPECT_EQ(math::normal_cdf(infinity), 1);
  EXPECT_EQ(math::normal_cdf(-infinity), 0);
  EXPECT_EQ(slope_of_gelu(infinity), 1);
  EXPECT_EQ(slope_of_gelu(-infinity), 0);
  EXPECT_EQ(slope_of_gelu(0), real(0.5));
}

TEST(Math, KeepsTheSignOfZero) {
  for (real (*odd)(real) : {one<math::sin>, one<math::tanh>, one<math::erf>}) {
    EXPECT_TRUE(std::signbit(odd(real(-0.0))));
    EXPECT_FALSE(std::signbit(odd(0)));
  }
}

TEST(Math, ExpReachesItsEndsWithoutJumps) {
  const real overflow = std::log(greatest);
  EXPECT_LT(math::exp(std::nextafter(overflow, real(0))), infinity);
  EXPECT_EQ(math::exp(overflow + 1), infinity);
  const real underflow = std::log(std::numeric_limits<real>::denorm_min());
  EXPECT_GT(math::exp(underflow + real(0.5)), 0);
  EXPECT_EQ(math::exp(underflow - 1), 0);
}

/// Points around each threshold of a formula and each power of two.
TEST(Math, IsMonotoneWhereFormulasMeet) {
  const auto expect_monotone = [](const char* name, real (*f)(real), real around, int tolerance) {
    real x = around;
    for (int i = 0; i < 1000; ++i) x = std::nextafter(x, -infinity);
    real highest = f(x);
    for (int i = 0; i < 2000; ++i) {
      x = std::nextafter(x, infinity);
      const real y = f(x);
      EXPECT_GE(y, highest - real(tolerance) * real(last_place(highest))) << name << " at " << x;
      highest = std::max(highest, y);
    }
  };
  for (const real sign : {real(1), real(-1)}) {
    expect_monotone("tanh", one<math::tanh>, sign * real(0.625), 2);
    expect_monotone("tanh", one<math::tanh>, sign * real(9), 1);
    expect_monotone("erf", one<math::erf>, sign, 2);
    expect_monotone("erf", one<math::erf>, sign * real(3.9), 1);
    expect_monotone("softplus", one<math::softplus>, sign * real(std::log(3.0)), 2);
    expect_monotone("sigmoid", one<math::sigmoid>, sign * real(17), 2);
    expect_monotone("exp", one<math::exp>, sign * real(std::numbers::ln2 / 2), 1);
  }
  expect_monotone("log", one<math::log>, real(4) / real(3), 1);
  expect_monotone("log", one<math::log>, real(2) / real(3), 1);
}

TEST(Math, StaysInTheRangeOfTheFunction) {
  for (const Row& row : table()) {
    const std::vector<real> x = sweep(row, 40000);
    std::vector<real> y(x.size());
    row.loop(x.data(), y.data(), x.size());
    real low = infinity, high = -infinity;
    for (const real value : y) low = std::min(low, value), high = std::max(high, value);
    const std::string name = row.name;
    if (name == "tanh" || name == "erf" || row.high == angle_limit) {
      EXPECT_GE(low, -1) << name;
      EXPECT_LE(high, 1) << name;
    }
    if (name == "sigmoid") {
      EXPECT_GE(low, 0) << name;
      EXPECT_LE(high, 1) << name;
    }
  }
}

TEST(Math, GeluHasItsSlope) {
  for (real x = -20; x < 20; x += real(0.0007))
    ASSERT_NEAR(slope_of_gelu(x), wide_slope_of_gelu(x), 2 * std::numeric_limits<real>::epsilon())
        << x;
}

#ifndef BOCHNER_DOUBLE
TEST(Math, RefusesAnglesWithoutMeaning) {
  EXPECT_TRUE(std::isnan(math::sin(0x1p+50f)));
  EXPECT_TRUE(std::isnan(math::cos(-0x1p+60f)));
}

TEST(Math, GeluKeepsItsRelativeAccuracyInTheLeftTail) {
  for (float x = -8; x < 0; x += 0.001f) {
    const double expected = wide_gelu(x);
    EXPECT_NEAR(math::gelu(x), expected, 3e-7 * std::fabs(expected)) << x;
  }
}

TEST(Math, GeluEndsAmongTheDenormals) {
  for (float x = -13.24f; x < least_gelu; x += 0.0001f)
    EXPECT_NEAR(math::gelu(x), wide_gelu(x), 4 * std::numeric_limits<float>::denorm_min()) << x;
  for (float x = -20; x < -13.243f; x += 0.001f) EXPECT_EQ(math::gelu(x), 0) << x;
}
#endif

}  // namespace math_test
}  // namespace bochner::inline BOCHNER_PRECISION
