#include <algorithm>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/layers/forecasts/forecast_member.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_regressed = 2000, fewest_regressed = 12, fewest_lags = 12,
                      most_lags = 30, rows_of_lag = 6;

/// Cholesky factor of the products of P lags and of the row itself, the last. The squares of its
/// last row are what each further lag explains, so that it serves the regressions on 0 to P lags.
class LagFactor {
 public:
  LagFactor(const std::vector<double>& rows, std::size_t P)
      : n_(rows.size() - P), P_(P), factor_((P + 1) * (P + 1)) {
    constexpr double ridge = 1e-6;
    const std::size_t d = P + 1;
    std::vector<double> inputs;
    for (std::size_t i = P; i < rows.size(); ++i) {
      for (std::size_t lag = 1; lag <= P; ++lag) inputs.push_back(rows[i - lag]);
      inputs.push_back(rows[i]);
    }
    accumulate_gram(n_, d, inputs.data(), factor_.data());
    double squares = 0;
    for (const double x : rows) squares += x * x;
    for (std::size_t j = 0; j < d; ++j) factor_[j * d + j] += ridge * squares + 1e-300;
    cholesky(d, factor_.data());
  }

  /// Returns the number of lags of the least corrected information criterion (Hurvich, Tsai, 1989).
  std::size_t best_order() const {
    const double n = double(n_);
    double least = INFINITY, squares = last()[P_] * last()[P_];
    std::size_t best = 0;
    for (std::size_t p = P_ + 1; p-- > 0;) {
      const double k = double(p + 2), criterion = n * std::log(squares / n) + 2 * k +
                                                  2 * k * (k + 1) / std::max(n - k - 1, 0.5);
      if (criterion <= least) least = criterion, best = p;
      if (p > 0) squares += last()[p - 1] * last()[p - 1];
    }
    return best;
  }

  /// Returns the coefficients of the first lags. (order)
  std::vector<double> coefficients(std::size_t order) const {
    std::vector<double> factor(order * order), y(last(), last() + order);
    for (std::size_t i = 0; i < order; ++i)
      std::copy_n(factor_.data() + i * (P_ + 1), i + 1, factor.data() + i * order);
    if (order > 0) solve_lower_transposed(order, factor.data(), 1, y.data());
    return y;
  }

 private:
  const double* last() const { return factor_.data() + P_ * (P_ + 1); }

  std::size_t n_, P_;
  std::vector<double> factor_;
};

/// State: mean, then the coefficients of the lags, of the last row first.
class Autoregression : public ForecastMember {
 public:
  explicit Autoregression(const MemberSpec& spec)
      : horizon_(spec.horizon), lags_(std::clamp(spec.season() + 2, fewest_lags, most_lags)) {}

  std::size_t size() const override { return lags_ + 1; }
  std::size_t least_rows() const override { return lags_; }

  bool fit(Rows rows, std::span<double> state) const override {
    if (rows.size() < lags_ + fewest_regressed) return false;
    const Rows seen = rows.last(std::min(rows.size(), most_regressed));
    std::vector<double> values(seen.begin(), seen.end());
    std::ranges::fill(state, 0.0);
    state[0] = std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
    for (double& x : values) x -= state[0];
    const LagFactor lags(values, std::min(lags_, values.size() / rows_of_lag));
    std::ranges::copy(lags.coefficients(lags.best_order()), state.begin() + 1);
    return true;
  }

  std::vector<double> forecast(Rows rows, std::span<const double> state) const override {
    const Rows seen = rows.last(lags_);
    std::vector<double> values(seen.begin(), seen.end());
    for (std::size_t h = 0; h < horizon_; ++h) {
      double next = state[0];
      for (std::size_t lag = 1; lag <= lags_; ++lag)
        next += state[lag] * (values[values.size() - lag] - state[0]);
      values.push_back(next);
    }
    return {values.begin() + std::ptrdiff_t(lags_), values.end()};
  }

 private:
  std::size_t horizon_, lags_;
};

}  // namespace

MemberPtr make_autoregression(const MemberSpec& spec) {
  return std::make_unique<Autoregression>(spec);
}

}  // namespace bochner::inline BOCHNER_PRECISION
