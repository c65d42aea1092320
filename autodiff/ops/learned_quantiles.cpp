#include <bochner/autodiff/compute/spline_bin.hpp>
#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/autodiff/ops/learned_quantiles.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/special_functions.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Quantiles per task, a few microseconds each.
constexpr std::size_t quantile_grain = 64;

constexpr std::size_t spline_grain = 1024;

/// Returns the row of knots of each element of x.
std::vector<std::size_t> rows_of(const Shape& x, const Shape& knots) {
  const Shape batch = without_last(knots);
  const BroadcastWalk walk(x, {&batch});
  std::vector<std::size_t> rows;
  rows.reserve(element_count(x));
  for (std::size_t row = 0; row < walk.rows(); ++row) {
    const std::size_t first = walk.offsets(row)[0];
    for (std::size_t i = 0; i < walk.row_size(); ++i)
      rows.push_back(first + (walk.advances(0) ? i : 0));
  }
  return rows;
}

struct Knots {
  const real *x, *y, *slope;
  std::size_t count;

  std::size_t bin(std::size_t row, double at) const { return bin_of(x + row * count, count, at); }
  SplineBin operator()(std::size_t row, std::size_t bin) const {
    const std::size_t i = row * count + bin;
    return {x[i], x[i + 1], y[i], y[i + 1], slope[i], slope[i + 1]};
  }
};

/// Gradients of all inputs; those of the knots per row, in double, in the order of the elements.
struct SplineGradients {
  Tensor x;
  std::vector<double> knot_x, knot_y, slope;
  SplineGradients(const Shape& shape, std::size_t knots)
      : x(uninitialized(shape)), knot_x(knots), knot_y(knots), slope(knots) {}

  void add(std::size_t knot, const SplineBin::Gradient& bin, double g) {
    knot_x[knot] += g * bin.x0, knot_x[knot + 1] += g * bin.x1;
    knot_y[knot] += g * bin.y0, knot_y[knot + 1] += g * bin.y1;
    slope[knot] += g * bin.slope0, slope[knot + 1] += g * bin.slope1;
  }
};

Tensor to_tensor(const std::vector<double>& values, const Shape& shape) {
  Tensor result = uninitialized(shape);
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

SplineGradients backward(const Tensor& x, const Knots& knots, std::size_t knot_elements,
                         const std::vector<std::size_t>& rows, const Tensor& g) {
  SplineGradients result(x.shape(), knot_elements);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t bin = knots.bin(rows[i], x.data()[i]);
    result.x.data()[i] = g.data()[i];
    if (bin + 1 == knots.count) continue;
    const auto gradient = knots(rows[i], bin).gradient(x.data()[i]);
    result.x.data()[i] = real(g.data()[i] * gradient.x);
    result.add(rows[i] * knots.count + bin, gradient, g.data()[i]);
  }
  return result;
}

void check_shapes(const Var& x, const Var& knot_x, const Var& knot_y, const Var& slope) {
  const Shape& knots = knot_x.shape();
  require(knots.size() >= 1 && knots.back() >= 2 && knot_y.shape() == knots &&
              slope.shape() == knots &&
              broadcast_shape("monotone_spline", without_last(knots), x.shape()) == x.shape(),
          "monotone_spline", "knots must be (.., K >= 2), alike, and (..) broadcast to x: x ",
          x.shape(), ", knot_x ", knots, ", knot_y ", knot_y.shape(), ", slope ", slope.shape());
}

}  // namespace

Var log_gamma_quantile(const Var& shape, const Tensor& score) {
  require(broadcast_shape("log_gamma_quantile", shape.shape(), score.shape()) == score.shape(),
          "log_gamma_quantile", "the shape must broadcast to the score: shape ", shape.shape(),
          ", score ", score.shape());
  const auto repeated = [](real a, real) { return a; };
  Tensor y = map(score.shape(), repeated, shape.value(), score), slope = y;
  parallel_each(y.size(), quantile_grain, [&](std::size_t i) {
    const double a = y.data()[i], z = score.data()[i];
    const double value = quantile::log_gamma(a, z);
    y.data()[i] = real(value);
    slope.data()[i] = real(quantile::log_gamma_slope(a, z, value));
  });
  return record("log_gamma_quantile", std::move(y), {shape},
                [shape = shape.gradient_only(), slope = std::move(slope)](Tensor& g) {
                  shape.add_gradient(g * slope);
                });
}

Var monotone_spline(const Var& x, const Var& knot_x, const Var& knot_y, const Var& slope) {
  check_shapes(x, knot_x, knot_y, slope);
  std::vector<std::size_t> rows = rows_of(x.shape(), knot_x.shape());
  const Knots knots{knot_x.data(), knot_y.data(), slope.data(), knot_x.dim(-1)};
  Tensor y = uninitialized(x.shape());
  parallel_each(y.size(), spline_grain, [&](std::size_t i) {
    const real at = x.data()[i];
    const std::size_t bin = knots.bin(rows[i], at);
    y.data()[i] = bin + 1 == knots.count ? at : real(knots(rows[i], bin).at(at).y);
  });
  return record("monotone_spline", std::move(y), {x, knot_x, knot_y, slope},
                [x, knot_x, knot_y, slope, knots, rows = std::move(rows)](Tensor& g) {
                  SplineGradients result = backward(x.value(), knots, knot_x.size(), rows, g);
                  x.add_gradient(std::move(result.x));
                  knot_x.add_gradient(to_tensor(result.knot_x, knot_x.shape()));
                  knot_y.add_gradient(to_tensor(result.knot_y, knot_x.shape()));
                  slope.add_gradient(to_tensor(result.slope, knot_x.shape()));
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
