#include <algorithm>
#include <bochner/base/numeric/ridge_path.hpp>
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
  windows.input_means = remove_means(windows.inputs, L);
  windows.output_means = remove_means(windows.outputs, H);
  double squares = 0;
  for (const double x : windows.inputs) squares += x * x;
  if (squares > 0) windows.unit = std::sqrt(squares / double(windows.inputs.size()));
  for (auto* values : {&windows.inputs, &windows.outputs})
    for (double& x : *values) x /= windows.unit;
  return windows;
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
    const RidgePath path(windows.n, L, H, windows.inputs, windows.outputs);
    const std::vector<double> weights = path.weights(path.best_penalty());
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
