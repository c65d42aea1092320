#include <gtest/gtest.h>

#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/layers/spectral/initial.hpp>
#include <cmath>

namespace bochner {
namespace wave_powers_test {

constexpr double step = 0.37;

std::vector<double> places(std::size_t n) {
  std::vector<double> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(20 * RandomFunction{7}.uniform(i));
  return x;
}

double square(const std::vector<double>& y) {
  double sum = 0;
  for (const double one : y) sum += one * one;
  return sum;
}

/// Returns the squares before less those after a least-squares fit by Gram-Schmidt.
double explained(const std::vector<double>& x, std::vector<double> y, double frequency) {
  std::vector<double> a, b;
  for (const double at : x)
    a.push_back(std::cos(frequency * at)), b.push_back(std::sin(frequency * at));
  const auto remove = [&](std::vector<double>& from, const std::vector<double>& what) {
    double product = 0;
    for (std::size_t i = 0; i < from.size(); ++i) product += from[i] * what[i];
    for (std::size_t i = 0; i < from.size(); ++i) from[i] -= product / square(what) * what[i];
  };
  const double before = square(y);
  remove(b, a);
  remove(y, a);
  remove(y, b);
  return before - square(y);
}

TEST(WavePowers, AreTheSquaresThatLeastSquaresExplain) {
  const std::vector<double> x = places(80);
  std::vector<double> y;
  for (std::size_t i = 0; i < 80; ++i)
    y.push_back(std::cos(5 * step * x[i] + 1) + RandomFunction{8}.normal(i));
  const std::vector<double> powers = wave_powers(x, y, step, 300);
  for (const std::size_t k : {1u, 5u, 64u, 65u, 299u, 300u})
    EXPECT_NEAR(powers[k - 1], explained(x, y, double(k) * step), 1e-9) << k;
}

/// At the Nyquist frequency of even places only cosines are left.
TEST(WavePowers, OfEvenPlacesEndAtNyquist) {
  std::vector<double> x, y;
  for (int i = 0; i < 16; ++i) x.push_back(i), y.push_back(i % 2 == 0 ? 1 : -1);
  const std::vector<double> powers = wave_powers(x, y, std::acos(-1.0) / 8, 8);
  EXPECT_NEAR(powers[7], 16, 1e-9);
  EXPECT_NEAR(powers[3], 0, 1e-9);
}

TEST(WavePowers, BitsDoNotDependOnThreads) {
  const std::vector<double> x = places(100), y = places(100);
  std::vector<std::vector<double>> results;
  for (const std::size_t threads : {1, 3}) {
    set_thread_count(threads);
    results.push_back(wave_powers(x, y, step, 500));
  }
  set_thread_count(0);
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace wave_powers_test
}  // namespace bochner
