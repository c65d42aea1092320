#include <algorithm>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/layers/forecasts/forecast_member.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_centres = 1024;

/// Inputs and outputs of n windows relative to the last input, in the unit of the inputs.
struct KernelWindows {
  std::size_t n = 0;
  double unit = 1;
  std::vector<double> inputs = {}, outputs = {};  ///< (n, L), (n, H)
};

KernelWindows kernel_windows(Rows rows, std::size_t L, std::size_t H) {
  const std::size_t all = rows.size() - L - H + 1, step = (all - 1) / most_centres + 1;
  KernelWindows windows{(all - 1) / step + 1};
  for (std::size_t i = 0; i < windows.n; ++i) {
    const Rows window = rows.subspan((all - 1) % step + i * step, L + H);
    for (std::size_t j = 0; j < L + H; ++j)
      (j < L ? windows.inputs : windows.outputs).push_back(window[j] - window[L - 1]);
  }
  const double squares =
      std::inner_product(windows.inputs.begin(), windows.inputs.end(), windows.inputs.begin(), 0.0);
  if (squares > 0) windows.unit = std::sqrt(squares / double(windows.inputs.size()));
  for (auto* values : {&windows.inputs, &windows.outputs})
    for (double& x : *values) x /= windows.unit;
  return windows;
}

double squared_distance(const double* a, const double* b, std::size_t size) {
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// Kernel ridge regression with one width and penalty, and its leave-one-out error.
struct KernelFit {
  std::vector<double> weights;  ///< (n, H)
  double error = 0;

  KernelFit(const KernelWindows& windows, const std::vector<double>& distances, std::size_t H,
            double width, double penalty)
      : weights(windows.outputs) {
    const std::size_t n = windows.n;
    std::vector<double> factor(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j)
        factor[i * n + j] = std::exp(-distances[i * n + j] / width);
      factor[i * n + i] += penalty;
    }
    cholesky(n, factor.data());
    solve_lower(n, factor.data(), H, weights.data());
    solve_lower_transposed(n, factor.data(), H, weights.data());
    invert_from_factor(n, factor.data());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t h = 0; h < H; ++h)
        error += std::abs(weights[i * H + h]) / factor[i * n + i] / double(n * H);
  }
};

/// State: unit, width, then inputs (most_centres, L) and weights (most_centres, H).
class KernelRidge : public ForecastMember {
 public:
  explicit KernelRidge(const MemberSpec& spec) : horizon_(spec.horizon), lags_(spec.lags) {}

  std::size_t size() const override { return 2 + most_centres * (lags_ + horizon_); }
  std::size_t least_rows() const override { return lags_; }

  bool fit(Rows rows, std::span<double> state) const override {
    const std::size_t L = lags_, H = horizon_;
    if (rows.size() + 1 < L + H + most_centres) return false;
    const KernelWindows windows = kernel_windows(rows, L, H);
    const std::size_t n = windows.n;
    std::vector<double> distances(n * n);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j)
        sum += distances[i * n + j] =
            squared_distance(&windows.inputs[i * L], &windows.inputs[j * L], L);
    const double mean = sum / (double(n) * double(n - 1) / 2);
    if (!(mean > 0)) return false;
    std::ranges::fill(state, 0.0);
    double least = INFINITY;
    for (const double width : {0.5, 2.0})
      for (const double penalty : {0.01, 0.1, 1.0}) {
        const KernelFit found(windows, distances, H, width * mean, penalty);
        if (!(found.error < least)) continue;
        least = found.error;
        state[1] = width * mean;
        std::ranges::copy(found.weights, state.begin() + std::ptrdiff_t(2 + most_centres * L));
      }
    state[0] = windows.unit;
    std::ranges::copy(windows.inputs, state.begin() + 2);
    return std::isfinite(least);
  }

  std::vector<double> forecast(Rows rows, std::span<const double> state) const override {
    const std::size_t L = lags_, H = horizon_;
    const double unit = state[0], last = rows.back();
    const double *centres = state.data() + 2, *weights = centres + most_centres * L;
    std::vector<double> inputs, values(H);
    for (const double x : rows.last(L)) inputs.push_back((x - last) / unit);
    for (std::size_t i = 0; i < most_centres; ++i) {
      const double kernel =
          std::exp(-squared_distance(inputs.data(), centres + i * L, L) / state[1]);
      for (std::size_t h = 0; h < H; ++h) values[h] += kernel * weights[i * H + h];
    }
    for (double& x : values) x = last + unit * x;
    return values;
  }

 private:
  std::size_t horizon_, lags_;
};

}  // namespace

MemberPtr make_kernel_ridge(const MemberSpec& spec) { return std::make_unique<KernelRidge>(spec); }

}  // namespace bochner::inline BOCHNER_PRECISION
