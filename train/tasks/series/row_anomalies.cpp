#include <algorithm>
#include <bochner/train/tasks/series/row_anomalies.hpp>
#include <cmath>
#include <limits>

namespace bochner {
namespace {

constexpr double unusual = 6, usual_again = 2.3;  // nats: one row in 400, and in ten
constexpr double away = 0.5, carried = 0.6;       // of the first error and score of a stretch
constexpr std::size_t most_ahead = 64, most_horizons = 3;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

struct Surprise {
  double score = 0, p = 1;

  void join(const Surprise& other) {
    score = std::max(score, other.score);
    p = std::min(p, other.p);
  }
};

/// Length of the present run of hardly changing values of a variate.
class StillRun {
 public:
  explicit StillRun(const Stillness& usual) : usual_(usual) {}

  Surprise add(double value) {
    run_ = std::abs(value - last_) <= usual_.step ? run_ + 1 : 0;
    last_ = value;
    if (run_ == 0 || usual_.reached.size() < 2) return {};
    const std::vector<std::uint64_t>& reached = usual_.reached;
    const std::size_t longest = reached.size() - 1, from = std::min(run_, longest);
    const double all = double(reached[0] + 1);
    double rows = 1;  // that runs of at least this length have from there on
    for (std::size_t length = from; length <= longest; ++length) rows += double(reached[length]);
    // Beyond the longest run of training, each further row counts as much as the first.
    std::size_t seen = from;
    while (seen > 1 && reached[seen] == 0) --seen;
    const auto surprise = [&](std::size_t length) {
      return -std::log(double(reached[length] + 1) / all);
    };
    return {surprise(seen) + double(run_ - seen) * surprise(1), std::min(1.0, rows / all)};
  }

 private:
  const Stillness& usual_;
  double last_ = none;
  std::size_t run_ = 0;
};

/// One variate: the forecast in use, and how many of its rows have passed.
struct Variate {
  StillRun still;
  std::vector<double> forecast = {};  ///< (H) from the row after the last usual one
  std::size_t lead = 0, stretch = 0;  ///< stretch: rows in a row that are not usual
  bool is_usual = true;
  bool is_above = false;                    ///< side of the first unusual value
  double first_error = 0, first_score = 0;  ///< of an unusual stretch
};

/// Forecasts of the next rows, computed together until a value is replaced.
class Ahead {
 public:
  Ahead(RowForecasts& forecasts, std::size_t rows, std::size_t width)
      : forecasts_(forecasts), rows_(rows), width_(width) {}

  const real* at(std::size_t origin) {
    if (origin < first_ || origin >= end_) {
      first_ = origin, end_ = std::min(rows_, origin + count_);
      std::vector<std::size_t> origins;
      for (std::size_t row = first_; row < end_; ++row) origins.push_back(row);
      values_ = forecasts_.at(origins);
      count_ = std::min(most_ahead, 2 * count_);
    }
    return values_.data() + (origin - first_) * width_;
  }
  /// Forgets what was computed from replaced values.
  void restart() { first_ = end_ = 0, count_ = 1; }

 private:
  RowForecasts& forecasts_;
  std::size_t rows_, width_, first_ = 0, end_ = 0, count_ = most_ahead;
  Tensor values_;
};

class Scorer {
 public:
  Scorer(const KnownRows& known, HeldOutRows& held, const MakeRowForecasts& forecasts)
      : known_(known),
        held_(held),
        cleaned_(known.series),
        V_(cleaned_.variates()),
        H_(held.calibration().leads),
        forecasts_(forecasts(cleaned_)),
        ahead_(*forecasts_, cleaned_.rows(), V_ * H_) {
    for (std::size_t v = 0; v < V_; ++v)
      variates_.push_back({StillRun(held.calibration().channels[channel(v)].still)});
  }

  RowScore score(std::size_t row) {
    RowScore result{std::vector<double>(V_, none), none, none};
    const bool can = row >= forecasts_->first_origin() && forecasts_->is_usable(row);
    Surprise all;
    std::size_t scored = 0;
    bool replaced = false;
    for (std::size_t v = 0; v < V_; ++v) {
      Variate& one = variates_[v];
      const double value = known_.series.values(v, row);
      const Surprise still = known_.missing[v][row] ? Surprise() : one.still.add(value);
      if (!can) {
        one.is_usual = true;
        continue;
      }
      begin(one, v, row);
      result.expected[v] = one.forecast[one.lead];
      if (known_.missing[v][row]) {
        replaced |= keep_forecast(one, v, row);
        continue;
      }
      Surprise now = surprise(one, v, value, still);
      judge(one, value - one.forecast[one.lead], now);
      all.join(now);
      ++scored;
      if (!one.is_usual) replaced |= keep_forecast(one, v, row);
    }
    if (replaced) ahead_.restart();
    if (scored == 0) return result;
    result.score = all.score;
    result.p = std::min(1.0, all.p * 2 * double(scored));  // Bonferroni: errors and runs
    return result;
  }

 private:
  std::size_t channel(std::size_t v) const { return known_.number * V_ + v; }

  /// Takes a new forecast after a usual row, or when the last one ends. After most_horizons of
  /// unusual rows, these are as usual as others.
  void begin(Variate& one, std::size_t v, std::size_t row) {
    ++one.lead;
    one.stretch = one.is_usual ? 0 : one.stretch + 1;
    if (!one.is_usual && one.lead < H_) return;
    if (one.stretch >= most_horizons * H_) {
      for (std::size_t i = row - one.stretch; i < row; ++i)
        cleaned_.values(v, i) = known_.series.values(v, i);
      ahead_.restart();
      one.stretch = 0;
    }
    const real* forecast = ahead_.at(row) + v * H_;
    one.forecast.assign(forecast, forecast + H_);
    one.lead = 0;
  }

  Surprise surprise(const Variate& one, std::size_t v, double value, const Surprise& still) {
    const ConformalRanks& ranks = held_.ranks(channel(v), one.lead);
    const double error = std::abs(value - one.forecast[one.lead]);
    Surprise now{ranks.surprise(error), ranks.p_value(error)};
    now.join(still);
    return now;
  }

  /// An unusual stretch ends with a value that is usual, or on the other side of its forecast. As
  /// long as the error is at least half the first one, the score is at least 60 % of the first.
  static void judge(Variate& one, double error, Surprise& now) {
    const bool same_side = !one.is_usual && (error > 0) == one.is_above;
    const bool is_away = same_side && std::abs(error) >= away * one.first_error;
    if (is_away) now.score = std::max(now.score, carried * one.first_score);
    const bool begins = one.is_usual && now.score >= unusual;
    if (begins) one.is_above = error > 0, one.first_error = std::abs(error);
    if (begins) one.first_score = now.score;
    one.is_usual = now.score < unusual && !is_away && !(same_side && now.score >= usual_again);
  }

  /// Replaces the value of a row in the forecasts of later rows. Returns true.
  bool keep_forecast(Variate& one, std::size_t v, std::size_t row) {
    one.is_usual = false;
    cleaned_.values(v, row) = one.forecast[one.lead];
    return true;
  }

  const KnownRows& known_;
  HeldOutRows& held_;
  TimeSeries cleaned_;
  std::size_t V_, H_;
  std::unique_ptr<RowForecasts> forecasts_;
  Ahead ahead_;
  std::vector<Variate> variates_;
};

}  // namespace

std::vector<RowScore> score_rows(const KnownRows& known, HeldOutRows& held,
                                 const MakeRowForecasts& forecasts) {
  Scorer scorer(known, held, forecasts);
  std::vector<RowScore> scores;
  for (std::size_t row = 0; row < known.series.rows(); ++row) scores.push_back(scorer.score(row));
  return scores;
}

}  // namespace bochner
