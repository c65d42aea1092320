#include <bochner/layers/forecasts/forecast_member.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

double mean_of(Rows rows) {
  return std::accumulate(rows.begin(), rows.end(), 0.0) / double(rows.size());
}

class Seasonal : public ForecastMember {
 public:
  Seasonal(const MemberSpec& spec, std::size_t season, bool drift)
      : horizon_(spec.horizon), season_(season), drift_(drift) {}

  std::size_t size() const override { return 1; }
  std::size_t least_rows() const override { return season_; }

  bool fit(Rows rows, std::span<double> state) const override {
    const std::size_t n = rows.size(), m = season_;
    state[0] = 0;
    if (n < (drift_ ? 2 * m + 1 : m)) return false;
    if (drift_) state[0] = (mean_of(rows.last(m)) - mean_of(rows.first(m))) / double(n - m);
    return true;
  }

  std::vector<double> forecast(Rows rows, std::span<const double> state) const override {
    const Rows last = rows.last(season_);
    std::vector<double> values(horizon_);
    for (std::size_t h = 0; h < horizon_; ++h)
      values[h] = last[h % season_] + state[0] * double((h / season_ + 1) * season_);
    return values;
  }

 private:
  std::size_t horizon_, season_;
  bool drift_;
};

class Logarithmic : public ForecastMember {
 public:
  explicit Logarithmic(MemberPtr of) : of_(std::move(of)) {}

  std::size_t size() const override { return of_->size(); }
  std::size_t least_rows() const override { return of_->least_rows(); }

  bool fit(Rows rows, std::span<double> state) const override {
    for (const double x : rows)
      if (!(x > 0)) return false;
    return of_->fit(logarithms(rows), state);
  }

  std::vector<double> forecast(Rows rows, std::span<const double> state) const override {
    std::vector<double> values = of_->forecast(logarithms(rows), state);
    for (double& x : values) x = std::exp(x);
    return values;
  }

 private:
  /// Rows of a question that are not positive count as a very small number.
  static std::vector<double> logarithms(Rows rows) {
    constexpr double least = 1e-9;
    std::vector<double> logs;
    for (const double x : rows) logs.push_back(std::log(std::max(x, least)));
    return logs;
  }

  MemberPtr of_;
};

}  // namespace

MemberPtr make_seasonal(const MemberSpec& spec, std::size_t season, bool drift) {
  return std::make_unique<Seasonal>(spec, season, drift);
}

MemberPtr make_logarithmic(MemberPtr of) { return std::make_unique<Logarithmic>(std::move(of)); }

}  // namespace bochner::inline BOCHNER_PRECISION
