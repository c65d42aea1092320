#include <bochner/autodiff/compute/nufft.hpp>
#include <bochner/autodiff/compute/phase.hpp>
#include <cmath>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace waves_on_grid_test {

using namespace op_check;

using Axes = std::vector<RegularAxis>;

Tensor frequencies(std::size_t m, std::size_t d, double scale) {
  Tensor w = random_tensor({m, d}, 5);
  for (real& value : w) value *= real(scale);
  return w;
}

/// Returns the coordinate of node n along axis j.
double coordinate(const Axes& axes, std::size_t n, std::size_t j) {
  for (std::size_t i = axes.size() - 1; i > j; --i) n /= axes[i].count;
  return axes[j].first + axes[j].step * double(n % axes[j].count);
}

/// Returns the largest error against direct sums in double, in units of the sum of all amplitudes.
double error_of(const Axes& axes, const Tensor& w, const Tensor& a,
                const SpreadingOptions& options = {}) {
  const Tensor y = nufft(axes, w, a, options);
  const std::size_t m = w.shape()[0], d = w.shape()[1], C = a.shape()[1];
  double worst = 0, amplitudes = 0;
  for (std::size_t f = 0; f < m; ++f)
    amplitudes += std::hypot(double(a(f, 0)), double(a(m + f, 0)));
  for (std::size_t n = 0; n < y.shape()[0]; ++n) {
    std::vector<double> sums(C);
    for (std::size_t f = 0; f < m; ++f) {
      double phase = 0;
      for (std::size_t j = 0; j < d; ++j)
        phase += reduced_phase(double(w(f, j)), coordinate(axes, n, j));
      for (std::size_t c = 0; c < C; ++c)
        sums[c] += double(a(f, c)) * std::sin(phase) + double(a(m + f, c)) * std::cos(phase);
    }
    for (std::size_t c = 0; c < C; ++c)
      worst = std::max(worst, std::abs(sums[c] - double(y(n, c))));
  }
  return worst / amplitudes;
}

const std::vector<Axes> grids = {
    {{0, 1 / 64.0, 64}},
    {{-3, 0.25, 17}},
    {{0.5, 1, 1}},
    {{0, 1 / 16.0, 16}, {0, 1 / 12.0, 12}},
    {{-1, 0.1, 9}, {2, 0.3, 1}},
    {{1, 2, 1}, {0, 0.05, 21}},
    {{0, 0.1, 6}, {0, 0.2, 5}, {1, 0.3, 8}},
};

/// Holds for any frequency: 200 radians per unit exceed one turn between nodes.
TEST(WavesOnGrid, AreSumsAtEveryNode) {
  for (const Axes& axes : grids) {
    for (double scale : {0.0, 3.0, 200.0}) {
      const Tensor w = frequencies(7, axes.size(), scale), a = random_tensor({14, 19}, 6);
      EXPECT_LT(error_of(axes, w, a), is_double ? 1e-10 : 1e-6) << axes.size() << " axes " << scale;
    }
  }
}

/// Each width meets its bound, which is not loose.
TEST(WavesOnGrid, ErrLessThanTheBound) {
  const Axes axes{{0, 1 / 32.0, 32}};
  for (double oversampling : {1.25, 2.0}) {
    for (std::size_t width : {3, 4, 5, 6}) {
      const double bound = SpreadingKernel(32, width, oversampling).error_bound();
      double worst = 0;
      for (double shift : {0.0, 0.3, 0.5, 0.7}) {
        Tensor w = zeros({1, 1}), a = zeros({2, 2});
        w(0, 0) = real(40 + shift);
        a(0, 0) = a(1, 1) = 1;
        worst = std::max(worst, error_of(axes, w, a, {width, oversampling}));
      }
      EXPECT_LT(worst, bound + 1e-6) << width;
      EXPECT_GT(worst, bound / 20) << width;
    }
  }
}

TEST(WavesOnGrid, TheDefaultsKeepTheirPromise) {
  const SpreadingOptions options;
  for (std::size_t nodes : {1, 2, 3, 31, 32, 64, 100}) {
    const SpreadingKernel kernel(nodes, options.width, options.oversampling);
    EXPECT_LT(kernel.error_bound(), is_double ? 1e-10 : 1e-6) << nodes;
    EXPECT_GE(kernel.fine(), 2 * nodes);
  }
}

TEST(WavesOnGrid, BitsDoNotDependOnThreads) {
  const Tensor w = frequencies(5, 2, 10), a = random_tensor({10, 50}, 1);
  set_thread_count(1);
  const Tensor one = nufft(grids[3], w, a);
  set_thread_count(3);
  expect_equal_bits(nufft(grids[3], w, a), one);
  set_thread_count(0);
}

TEST(WavesOnGrid, NothingOfNothing) {
  EXPECT_EQ(nufft({{0, 1, 0}, {0, 1, 4}}, zeros({3, 2}), zeros({6, 2})).size(), 0u);
  const Tensor none = nufft({{0, 1, 4}}, zeros({0, 1}), zeros({0, 2}));
  for (const real value : none) EXPECT_EQ(value, real(0));
}

TEST(WavesOnGrid, SayWhatDoesNotFit) {
  EXPECT_EQ(
      op_check::error_of([] {
        nufft({{}, {}}, zeros({3, 1}), zeros({6, 2}));
      }),
      "[nufft] w and a must be (m, d) and (2m, C) on a grid of d = 2 axes: w (3, 1), a (6, 2)");
  EXPECT_EQ(op_check::error_of([] {
              regular_axis({0, 0.5, 1.25});
            }),
            "[regular_axis] node 1 of an axis, at 0.5, is not on a regular grid");
}

TEST(WavesOnGrid, AxesAreRecognised) {
  const RegularAxis axis = regular_axis({0.5, 0.75, 1.0});
  EXPECT_EQ(axis.first, 0.5);
  EXPECT_EQ(axis.step, 0.25);
  EXPECT_EQ(axis.count, 3u);
  EXPECT_EQ(regular_axis({4}).count, 1u);
}

}  // namespace waves_on_grid_test
}  // namespace bochner::inline BOCHNER_PRECISION
