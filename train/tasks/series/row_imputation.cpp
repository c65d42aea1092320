#include <algorithm>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/train/tasks/series/row_imputation.hpp>
#include <cmath>
#include <map>

namespace bochner {
namespace {

constexpr std::size_t most_known_leads = 12, errors_a_lead = 8;

/// A run of missing rows of one variate, `end` the first row after it.
struct Gap {
  std::size_t variate, begin, end;
};

std::vector<Gap> gaps_of(const KnownRows& known) {
  std::vector<Gap> gaps;
  for (std::size_t v = 0; v < known.missing.size(); ++v)
    for (std::size_t row = 0; row < known.missing[v].size(); ++row) {
      if (!known.missing[v][row]) continue;
      if (row > 0 && known.missing[v][row - 1])
        ++gaps.back().end;
      else
        gaps.push_back({v, row, row + 1});
    }
  std::ranges::stable_sort(gaps, {}, &Gap::begin);
  return gaps;
}

/// Returns a weight of each origin: the inverse of its mean squared error, so that few large errors
/// do not decide. (n)
std::vector<double> origin_weights(const RowErrors& held, std::size_t H) {
  constexpr double least = 0.1;  // of the median
  std::vector<double> squares;
  for (std::size_t i = 0; i < held.count(H); ++i) {
    double sum = 0;
    for (std::size_t h = 0; h < H; ++h) sum += std::pow(double(held.errors[i * H + h]), 2);
    squares.push_back(sum / double(H));
  }
  const double floor = least * median(squares);
  for (double& square : squares) square = square + floor > 0 ? 1 / (square + floor) : 0;
  return squares;
}

/// Returns the coefficients of the errors of `known` leads in the error of each lead before
/// `count`, by weighted least squares with a small ridge. (count, k)
std::vector<double> error_regression(const RowErrors& held, std::size_t H,
                                     const std::vector<double>& weights,
                                     const std::vector<std::size_t>& known, std::size_t count) {
  constexpr double ridge = 1e-3;
  const std::size_t k = known.size(), n = held.count(H);
  std::vector<double> A(k * k), all(count * k);
  for (std::size_t i = 0; i < n; ++i) {
    const float* e = held.errors.data() + i * H;
    for (std::size_t a = 0; a < k; ++a) {
      const double weighted = weights[i] * double(e[known[a]]);
      for (std::size_t b = 0; b < k; ++b) A[a * k + b] += weighted * double(e[known[b]]);
      for (std::size_t lead = 0; lead < count; ++lead)
        all[lead * k + a] += weighted * double(e[lead]);
    }
  }
  double trace = 0;
  for (std::size_t a = 0; a < k; ++a) trace += A[a * k + a];
  if (trace == 0) return std::vector<double>(count * k);
  for (std::size_t a = 0; a < k; ++a) A[a * k + a] += ridge * trace / double(k);
  cholesky(k, A.data());
  for (std::size_t lead = 0; lead < count; ++lead) {
    solve_lower(k, A.data(), 1, all.data() + lead * k);
    solve_lower_transposed(k, A.data(), 1, all.data() + lead * k);
  }
  return all;
}

class Imputer {
 public:
  Imputer(const KnownRows& known, const Calibration& calibration, const MakeRowForecasts& forecasts)
      : known_(known),
        calibration_(calibration),
        filled_(known.series),
        forecasts_(forecasts(filled_)) {}

  void fill(const Gap& gap) {
    const std::size_t H = calibration_.leads;
    std::size_t row = gap.begin;
    while (row < gap.end) {
      if (row < forecasts_->first_origin() || !forecasts_->is_usable(row)) return on_line(gap, row);
      const std::size_t rest = gap.end - row;
      const std::size_t count = rest < H ? rest : std::min(rest, (H + 1) / 2);
      by_forecast(gap, row, count);
      row += count;
    }
  }

  Imputed result() const { return {filled_.values, by_lines_}; }

 private:
  bool is_missing(std::size_t v, std::size_t row) const { return known_.missing[v][row]; }

  /// Fills the rest of a gap on the line between the rows before and after it.
  void on_line(const Gap& gap, std::size_t from) {
    auto& values = filled_.values;
    const std::size_t v = gap.variate, n = filled_.rows();
    const double after = values(v, std::min(gap.end, n - 1)),
                 before = from > 0 ? values(v, from - 1) : after;
    const bool has_end = gap.end<n, has_begin = from> 0;
    const double rows = double(gap.end - from + 1);
    for (std::size_t row = from; row < gap.end; ++row, ++by_lines_)
      values(v, row) = !has_end     ? before
                       : !has_begin ? after
                                    : before + (after - before) * double(row - from + 1) / rows;
  }

  /// Fills `count` rows from `row` on.
  void by_forecast(const Gap& gap, std::size_t row, std::size_t count) {
    const std::size_t v = gap.variate, H = calibration_.leads, V = filled_.variates();
    const Tensor all = forecasts_->at({row});
    const real* forecast = all.data() + v * H;
    const RowErrors& held = calibration_.channels[known_.number * V + v];
    std::vector<std::size_t> leads;
    for (std::size_t lead = gap.end - row;
         lead < H && row + lead < filled_.rows() && leads.size() < most_known_leads &&
         leads.size() < held.count(H) / errors_a_lead;
         ++lead)
      if (!is_missing(v, row + lead)) leads.push_back(lead);
    const std::vector<double> weights =
        error_regression(held, H, weights_of(v, held), leads, count);
    for (std::size_t i = 0; i < count; ++i) {
      double value = double(forecast[i]);
      for (std::size_t a = 0; a < leads.size(); ++a)
        value += weights[i * leads.size() + a] *
                 (filled_.values(v, row + leads[a]) - double(forecast[leads[a]]));
      filled_.values(v, row + i) = value;
    }
  }

  const std::vector<double>& weights_of(std::size_t v, const RowErrors& held) {
    if (weights_[v].empty()) weights_[v] = origin_weights(held, calibration_.leads);
    return weights_[v];
  }

  const KnownRows& known_;
  const Calibration& calibration_;
  std::map<std::size_t, std::vector<double>> weights_;  // of origins, by variate
  TimeSeries filled_;
  std::unique_ptr<RowForecasts> forecasts_;
  std::size_t by_lines_ = 0;
};

}  // namespace

Imputed impute_rows(const KnownRows& known, const Calibration& calibration,
                    const MakeRowForecasts& forecasts) {
  Imputer imputer(known, calibration, forecasts);
  for (const Gap& gap : gaps_of(known)) imputer.fill(gap);
  return imputer.result();
}

}  // namespace bochner
