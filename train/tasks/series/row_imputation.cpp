#include <algorithm>
#include <array>
#include <bit>
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

/// Returns a weight of each origin: the inverse of the mean square of changes of its errors from
/// lead to lead, so that a few wild stretches do not decide. (n)
std::vector<double> origin_weights(const RowErrors& held, std::size_t H) {
  constexpr double least = 0.1;  // of the median
  std::vector<double> squares;
  for (std::size_t i = 0; i < held.count(H); ++i) {
    double sum = 0;
    for (std::size_t h = 0; h < H; ++h) {
      const float* error = held.errors.data() + i * H + h;
      sum += std::pow(double(error[0]) - (h > 0 ? double(error[-1]) : 0), 2);
    }
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

/// Returns a row on the line between the rows before and after a gap.
double on_line(double before, double after, std::size_t row, std::size_t length) {
  return before + (after - before) * double(row + 1) / double(length + 1);
}

class Imputer {
 public:
  Imputer(const KnownRows& known, const Calibration& calibration, const MakeRowForecasts& forecasts)
      : known_(known),
        calibration_(calibration),
        H_(calibration.leads),
        filled_(known.series),
        forecasts_(forecasts(filled_)) {}

  void fill(const Gap& gap) {
    std::size_t row = gap.begin;
    while (row < gap.end) {
      if (row < forecasts_->first_origin() || !forecasts_->is_usable(row)) return by_line(gap, row);
      const std::size_t rest = gap.end - row;
      const std::size_t count = rest < H_ ? rest : std::min(rest, (H_ + 1) / 2);
      by_forecast(gap, row, count);
      row += count;
    }
  }

  Imputed result() const { return {filled_.values, by_lines_}; }

 private:
  const RowErrors& held(std::size_t v) const {
    return calibration_.channels[known_.number * filled_.variates() + v];
  }
  const std::vector<double>& weights_of(std::size_t v) {
    if (weights_[v].empty()) weights_[v] = origin_weights(held(v), H_);
    return weights_[v];
  }

  /// Fills the rest of a gap without a forecast: on a line, or with the only neighbour.
  void by_line(const Gap& gap, std::size_t from) {
    auto& values = filled_.values;
    const std::size_t v = gap.variate, n = filled_.rows();
    const double after = values(v, std::min(gap.end, n - 1)),
                 before = from > 0 ? values(v, from - 1) : after;
    for (std::size_t row = from; row < gap.end; ++row, ++by_lines_)
      values(v, row) = gap.end == n ? before : on_line(before, after, row - from, gap.end - from);
  }

  /// Returns the leads of known rows that correct a forecast from `row`, after the gap's end.
  std::vector<std::size_t> known_leads(std::size_t v, std::size_t row, std::size_t end) const {
    const std::size_t most = std::min(most_known_leads, held(v).count(H_) / errors_a_lead);
    std::vector<std::size_t> leads;
    for (std::size_t lead = end - row;
         lead < H_ && row + lead < filled_.rows() && leads.size() < most; ++lead)
      if (!known_.missing[v][row + lead]) leads.push_back(lead);
    return leads;
  }

  /// Returns `count` rows from `row` on: their forecasts, corrected by the errors of known leads.
  std::vector<double> corrected(std::size_t v, std::size_t row, const real* forecast,
                                const std::vector<std::size_t>& leads,
                                const std::vector<double>& regression, std::size_t count) const {
    std::vector<double> values(forecast, forecast + count);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t a = 0; a < leads.size(); ++a)
        values[i] += regression[i * leads.size() + a] *
                     (filled_.values(v, row + leads[a]) - double(forecast[leads[a]]));
    return values;
  }

  /// Fills `count` rows from `row` on.
  void by_forecast(const Gap& gap, std::size_t row, std::size_t count) {
    const std::size_t v = gap.variate;
    const bool reaches_end = row + count == gap.end && gap.end < filled_.rows() && row > 0;
    const double share = reaches_end ? share_of_forecast(v, count) : 1;
    const Tensor all = forecasts_->at({row});
    const std::vector<std::size_t> leads = known_leads(v, row, gap.end);
    const std::vector<double> values =
        corrected(v, row, all.data() + v * H_, leads,
                  error_regression(held(v), H_, weights_of(v), leads, count), count);
    const double before = filled_.values(v, row > 0 ? row - 1 : 0),
                 after = filled_.values(v, std::min(gap.end, filled_.rows() - 1));
    for (std::size_t i = 0; i < count; ++i)
      filled_.values(v, row + i) =
          share * values[i] + (1 - share) * on_line(before, after, i, count);
  }

  /// Returns the share of the corrected forecast, beside a line between neighbours, of least
  /// absolute error in gaps made of known rows, of the largest power of two up to the length.
  double share_of_forecast(std::size_t v, std::size_t length) {
    const std::size_t probed = std::bit_floor(length);
    const auto [found, is_new] = shares_.try_emplace({v, probed}, 1);
    if (is_new) found->second = best_share(v, probed);
    return found->second;
  }
  double best_share(std::size_t v, std::size_t length);
  /// Returns origins whose rows before, within and after a gap of this length are known.
  std::vector<std::size_t> probes(std::size_t v, std::size_t length) const;

  const KnownRows& known_;
  const Calibration& calibration_;
  std::size_t H_;
  std::map<std::size_t, std::vector<double>> weights_;  // of origins, by variate
  std::map<std::pair<std::size_t, std::size_t>, double> shares_;
  TimeSeries filled_;
  std::unique_ptr<RowForecasts> forecasts_;
  std::size_t by_lines_ = 0;
};

std::vector<std::size_t> Imputer::probes(std::size_t v, std::size_t length) const {
  constexpr std::size_t most = 96;
  const std::size_t after = std::max(length + 1, std::min(H_, length + most_known_leads)),
                    n = filled_.rows();
  std::vector<std::size_t> all, some;
  std::size_t known = 0;  // rows in a row, up to `end`
  for (std::size_t end = 0; end < n; ++end) {
    known = known_.missing[v][end] ? 0 : known + 1;
    if (known < after + 1) continue;
    const std::size_t row = end + 1 - after;
    if (row >= forecasts_->first_origin() && forecasts_->is_usable(row)) all.push_back(row);
  }
  for (const std::size_t i : evenly_spaced(all.size(), most)) some.push_back(all[i]);
  return some;
}

double Imputer::best_share(std::size_t v, std::size_t length) {
  constexpr std::array shares = {1.0, 0.75, 0.5, 0.25, 0.0};
  const std::vector<std::size_t> origins = probes(v, length);
  if (origins.empty()) return 1;
  const std::size_t V = filled_.variates();
  const Tensor all = forecasts_->at(origins);
  const std::vector<std::size_t> leads = known_leads(v, origins[0], origins[0] + length);
  const std::vector<double> regression =
      error_regression(held(v), H_, weights_of(v), leads, length);
  std::array<double, shares.size()> errors{};
  for (std::size_t i = 0; i < origins.size(); ++i) {
    const std::size_t row = origins[i];
    const std::vector<double> values =
        corrected(v, row, all.data() + (i * V + v) * H_, leads, regression, length);
    for (std::size_t j = 0; j < length; ++j) {
      const double line =
          on_line(filled_.values(v, row - 1), filled_.values(v, row + length), j, length);
      for (std::size_t s = 0; s < shares.size(); ++s)
        errors[s] +=
            std::abs(filled_.values(v, row + j) - shares[s] * values[j] - (1 - shares[s]) * line);
    }
  }
  return shares[std::size_t(std::ranges::min_element(errors) - errors.begin())];
}

}  // namespace

Imputed impute_rows(const KnownRows& known, const Calibration& calibration,
                    const MakeRowForecasts& forecasts) {
  Imputer imputer(known, calibration, forecasts);
  for (const Gap& gap : gaps_of(known)) imputer.fill(gap);
  return imputer.result();
}

}  // namespace bochner
