#include <algorithm>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/symmetric_eigen.hpp>
#include <bochner/layers/forecasts/forecast_member.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t fewest_windows = 8;

/// Windows of L inputs and H outputs without their means, in one unit. (n, L), (n, H)
struct RidgeWindows {
  std::size_t n;
  std::vector<double> inputs, outputs;
  std::vector<double> input_means, output_means;  ///< (L), (H)
  double unit;
};

/// Removes the means of the columns of a (n, d) matrix and returns them.
std::vector<double> centre(std::vector<double>& matrix, std::size_t d) {
  std::vector<double> means(d);
  const std::size_t n = matrix.size() / d;
  for (std::size_t i = 0; i < matrix.size(); ++i) means[i % d] += matrix[i] / double(n);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] -= means[i % d];
  return means;
}

/// Returns the windows of rows, the latest of equally spaced ones if there are too many.
RidgeWindows windows_of(Rows rows, std::size_t L, std::size_t H, bool relative, std::size_t most) {
  const std::size_t all = rows.size() - L - H + 1, step = (all - 1) / most + 1,
                    n = (all - 1) / step + 1, first = (all - 1) % step;
  RidgeWindows windows{n, {}, {}, {}, {}, 1};
  for (std::size_t i = 0; i < n; ++i) {
    const Rows window = rows.subspan(first + i * step, L + H);
    const double origin = relative ? window[L - 1] : 0;
    for (std::size_t j = 0; j < L; ++j) windows.inputs.push_back(window[j] - origin);
    for (std::size_t j = L; j < L + H; ++j) windows.outputs.push_back(window[j] - origin);
  }
  windows.input_means = centre(windows.inputs, L);
  windows.output_means = centre(windows.outputs, H);
  double squares = 0;
  for (const double x : windows.inputs) squares += x * x;
  if (squares > 0) windows.unit = std::sqrt(squares / double(windows.inputs.size()));
  for (auto* values : {&windows.inputs, &windows.outputs})
    for (double& x : *values) x /= windows.unit;
  return windows;
}

/// Ridge regression in the basis of the eigenvectors of X^T X.
class RidgePath {
 public:
  RidgePath(const RidgeWindows& windows, std::size_t L, std::size_t H)
      : n_(windows.n), L_(L), H_(H), outputs_(windows.outputs), vectors_(L * L) {
    accumulate_gram(n_, L, windows.inputs.data(), vectors_.data());
    values_ = symmetric_eigen(L, vectors_.data());
    for (double& value : values_) value = std::max(value, 0.0);
    std::vector<double> columns(L * L);
    for (std::size_t i = 0; i < L * L; ++i) columns[i % L * L + i / L] = vectors_[i];
    projected_.resize(n_ * L);
    multiply(n_, L, L, windows.inputs.data(), false, columns.data(), 0, projected_.data());
    products_.resize(L * H);
    multiply(L, H, n_, projected_.data(), true, outputs_.data(), 0, products_.data());
  }

  /// Returns the coefficients in the basis. (L, H)
  std::vector<double> coefficients(double penalty) const {
    std::vector<double> scaled = products_;
    for (std::size_t i = 0; i < L_ * H_; ++i) scaled[i] /= values_[i / H_] + penalty;
    return scaled;
  }

  /// Returns the mean absolute leave-one-out error.
  double error(double penalty) const {
    constexpr double most_leverage = 0.99;
    std::vector<double> residuals = outputs_;
    const std::vector<double> scaled = coefficients(penalty);
    std::vector<double> fitted(n_ * H_);
    multiply(n_, H_, L_, projected_.data(), false, scaled.data(), 0, fitted.data());
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      double leverage = 1 / double(n_);
      for (std::size_t j = 0; j < L_; ++j) {
        const double x = projected_[i * L_ + j];
        leverage += x * x / (values_[j] + penalty);
      }
      double row = 0;
      for (std::size_t h = 0; h < H_; ++h)
        row += std::abs(outputs_[i * H_ + h] - fitted[i * H_ + h]);
      sum += row / (1 - std::min(leverage, most_leverage));
    }
    return sum / double(n_ * H_);
  }

  /// Returns the weights. (L, H)
  std::vector<double> weights(double penalty) const {
    std::vector<double> weights(L_ * H_);
    multiply(L_, H_, L_, vectors_.data(), true, coefficients(penalty).data(), 0, weights.data());
    return weights;
  }

 private:
  std::size_t n_, L_, H_;
  std::vector<double> outputs_, vectors_, values_;  // (n, H), (L, L) by rows, (L)
  std::vector<double> projected_, products_;        // (n, L), (L, H)
};

double best_penalty(const RidgePath& path, std::size_t n) {
  double best = 0, least = INFINITY;
  for (double exponent = -6; exponent <= 2; exponent += 1) {
    const double penalty = double(n) * std::pow(10.0, exponent), error = path.error(penalty);
    if (error < least) least = error, best = penalty;
  }
  return best;
}

/// State: weights (L, H), then biases (H).
class Ridge : public ForecastMember {
 public:
  Ridge(const MemberSpec& spec, bool relative)
      : horizon_(spec.horizon), lags_(spec.lags), windows_(spec.windows), relative_(relative) {}

  std::size_t size() const override { return (lags_ + 1) * horizon_; }
  std::size_t least_rows() const override { return lags_; }

  bool fit(Rows rows, std::span<double> state) const override {
    const std::size_t L = lags_, H = horizon_;
    if (rows.size() + 1 < L + H + fewest_windows) return false;
    const RidgeWindows windows = windows_of(rows, L, H, relative_, windows_);
    const RidgePath path(windows, L, H);
    const std::vector<double> weights = path.weights(best_penalty(path, windows.n));
    std::ranges::copy(weights, state.begin());
    for (std::size_t h = 0; h < H; ++h) {
      double bias = windows.output_means[h];
      for (std::size_t j = 0; j < L; ++j) bias -= windows.input_means[j] * weights[j * H + h];
      state[L * H + h] = bias;
    }
    return true;
  }

  std::vector<double> forecast(Rows rows, std::span<const double> state) const override {
    const std::size_t L = lags_, H = horizon_;
    const Rows seen = rows.last(L);
    const double origin = relative_ ? seen[L - 1] : 0;
    std::vector<double> values(state.begin() + std::ptrdiff_t(L * H), state.end());
    for (std::size_t j = 0; j < L; ++j)
      for (std::size_t h = 0; h < H; ++h) values[h] += (seen[j] - origin) * state[j * H + h];
    for (double& x : values) x += origin;
    return values;
  }

 private:
  std::size_t horizon_, lags_, windows_;
  bool relative_;
};

}  // namespace

MemberPtr make_ridge(const MemberSpec& spec, bool relative) {
  return std::make_unique<Ridge>(spec, relative);
}

}  // namespace bochner::inline BOCHNER_PRECISION
