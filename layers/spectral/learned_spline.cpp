#include <bochner/autodiff/compute/spline_bin.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/spectral/learned_spline.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// No bin shrinks below this part of an equal share.
constexpr double smallest_share = 0.01;

/// Logits whose positions() are these bins, repeated for (H, n).
Tensor logits_of(std::size_t H, std::size_t n, const std::vector<double>& bins) {
  require(bins.size() >= 2, "spline", "needs two bins or more: ", bins.size());
  Tensor logits = uninitialized({H, 1, n, bins.size()});
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double share = bins[i % bins.size()] - smallest_share / double(bins.size());
    logits.data()[i] = real(std::log(std::max(share, 1e-6)));
  }
  return logits;
}

/// (K, K + 1): fractions times this are the knots.
Tensor running_sum(std::size_t K) {
  Tensor ones = zeros({K, K + 1});
  for (std::size_t i = 0; i < K; ++i) {
    for (std::size_t j = i + 1; j <= K; ++j) ones(i, j) = 1;
  }
  return ones;
}

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
  const Var share = softmax(tape(logits)) * (1 - smallest_share) + smallest_share / double(K);
  return matmul(share, tape.constant(running_sum(K))) * (high_ - low_) + low_;
}

LearnedSpline::Knots LearnedSpline::knots(Tape& tape) {
  return {positions(tape, widths_), positions(tape, heights_),
          pad(exp(tape(log_slopes_)), -1, 1, 1, 1)};
}

Var LearnedSpline::forward(Tape& tape, const Var& x) {
  const Knots at = knots(tape);
  return monotone_spline(x, at.x, at.y, at.slope);
}

void LearnedSpline::visit(Visitor& visitor) {
  visitor("widths", widths_);
  visitor("heights", heights_);
  visitor("log_slopes", log_slopes_);
}

LearnedSpline::Curve LearnedSpline::curve(std::size_t head, std::size_t index) {
  Tape tape;
  tape.recording = false;
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
