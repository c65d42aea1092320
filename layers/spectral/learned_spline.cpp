#include <bochner/autodiff/compute/spline_bin.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/layers/spectral/learned_spline.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Smallest bin, relative to equal bins.
constexpr double min_share = 0.01;

/// Returns logits whose positions() are these bins, repeated for (H, n).
Tensor logits_of(std::size_t H, std::size_t n, const std::vector<double>& bins) {
  require(bins.size() >= 2, "spline", "expected at least 2 bins, got ", bins.size());
  Tensor logits = uninitialized({H, 1, n, bins.size()});
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double share = bins[i % bins.size()] - min_share / double(bins.size());
    logits.data()[i] = real(std::log(std::max(share, 1e-6)));
  }
  return logits;
}

/// Returns the matrix (K, K + 1) that turns fractions into knots.
Tensor cumulative_sum_matrix(std::size_t K) {
  Tensor ones = zeros({K, K + 1});
  for (std::size_t i = 0; i < K; ++i) {
    for (std::size_t j = i + 1; j <= K; ++j) ones(i, j) = 1;
  }
  return ones;
}

/// Returns the u in [0, 1] with a u^2 + b u + c = 0, c <= 0, as SplineBin does: a > 0 where b < 0.
Var positive_root(const Var& a, const Var& b, const Var& c) {
  const Var least(filled({}, std::numeric_limits<real>::min()));
  const Var root = sqrt(maximum(square(b) - a * c * 4, least));
  const Tensor is_negative = map(
      b.shape(), [](real slope) { return real(slope < 0); }, b.value());
  return where(is_negative, root - b, c * -2) / where(is_negative, a * 2, b + root);
}

/// Selects the bin of knots (H, 1, n, K + 1) for numbers (H, m, n), the first if outside.
class BinSelection {
 public:
  Tensor inside;  // (H, m, n)

  BinSelection(const Tensor& knots, const Tensor& numbers) : inside(zeros(numbers.shape())) {
    const std::size_t H = numbers.shape()[0], m = numbers.shape()[1], n = numbers.shape()[2];
    const std::size_t count = knots.shape().back();
    for (Tensor& end : ends_) end = zeros({H, m, n, count});
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const real* row = knots.data() + (i / (m * n) * n + i % n) * count;
      const std::size_t bin = bin_of(row, count, double(numbers.data()[i]));
      const bool found = bin + 1 < count;
      inside.data()[i] = real(found);
      for (std::size_t end : {0, 1}) ends_[end].data()[i * count + (found ? bin : 0) + end] = 1;
    }
  }

  /// Returns the values at both ends of the bins. (H, 1, n, K + 1) -> (H, m, n) each
  std::pair<Var, Var> ends(const Var& at_knots) const {
    return {sum(at_knots * Var(ends_[0]), -1), sum(at_knots * Var(ends_[1]), -1)};
  }

 private:
  std::array<Tensor, 2> ends_;
};

}  // namespace

LearnedSpline::LearnedSpline(std::size_t H, std::size_t n, double low, double high,
                             const std::vector<double>& bins)
    : low_(low),
      high_(high),
      widths_(logits_of(H, n, bins)),
      heights_(logits_of(H, n, bins)),
      log_slopes_({H, 1, n, bins.size() - 1}) {}

Var LearnedSpline::positions(Tape& tape, Parameter& logits) {
  const std::size_t K = logits.shape().back();
  const Var share = softmax(tape(logits)) * (1 - min_share) + min_share / double(K);
  return matmul(share, tape.constant(cumulative_sum_matrix(K))) * (high_ - low_) + low_;
}

LearnedSpline::Knots LearnedSpline::knots(Tape& tape) {
  return {positions(tape, widths_), positions(tape, heights_),
          pad(exp(tape(log_slopes_)), -1, 1, 1, 1)};
}

Var LearnedSpline::forward(Tape& tape, const Var& x) {
  const Knots at = knots(tape);
  return monotone_spline(x, at.x, at.y, at.slope);
}

LearnedSpline::Inverse LearnedSpline::inverse(Tape& tape, const Var& y) {
  const Knots at = knots(tape);
  const BinSelection bin(at.y.value(), y.value());
  const auto [x0, x1] = bin.ends(at.x);
  const auto [y0, y1] = bin.ends(at.y);
  const auto [slope0, slope1] = bin.ends(at.slope);
  const Var width = x1 - x0, height = y1 - y0, mean = height / width;  // as in SplineBin
  const Var curvature = slope0 + slope1 - mean * 2;
  const Var part = where(bin.inside, (y - y0) / height, tape.constant(filled(y.shape(), 0.5)));
  const Var a = mean - slope0 + part * curvature, b = slope0 - part * curvature;
  const Var c = -(mean * part);
  const Var u = positive_root(a, b, c), t = u * (1 - u);
  const Var along = slope1 * square(u) + mean * t * 2 + slope0 * square(1 - u);
  const Var log_slope = log(mean) * 2 + log(along) - log(mean + curvature * t) * 2;
  return {where(bin.inside, x0 + width * u, y),
          where(bin.inside, log_slope, tape.constant(zeros(y.shape())))};
}

LearnedSpline::Curve LearnedSpline::curve(std::size_t head, std::size_t index) {
  Tape tape({.recording = false});
  const Knots at = knots(tape);
  const std::size_t count = at.x.dim(-1), row = (head * at.x.dim(-2) + index) * count;
  const auto numbers = [&](const Var& v) {
    return std::vector<double>(v.data() + row, v.data() + row + count);
  };
  return {numbers(at.x), numbers(at.y), numbers(at.slope)};
}

namespace {

SplineBin bin_at(const LearnedSpline::Curve& c, std::size_t k) {
  return {c.x[k], c.x[k + 1], c.y[k], c.y[k + 1], c.slope[k], c.slope[k + 1]};
}

}  // namespace

LearnedSpline::Curve::Point LearnedSpline::Curve::at(double at) const {
  const std::size_t bin = bin_of(x.data(), x.size(), at);
  if (bin + 1 == x.size()) return {at, 1};
  const SplineBin::Point point = bin_at(*this, bin).at(at);
  return {point.y, point.slope};
}

LearnedSpline::Curve::Point LearnedSpline::Curve::inverse(double value) const {
  const std::size_t bin = bin_of(y.data(), y.size(), value);
  if (bin + 1 == y.size()) return {value, 1};
  const SplineBin inside = bin_at(*this, bin);
  const double root = inside.inverse(value);
  return {root, inside.at(root).slope};
}

}  // namespace bochner::inline BOCHNER_PRECISION
