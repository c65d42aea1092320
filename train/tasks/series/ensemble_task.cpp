#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/series/ensemble_pictures.hpp>
#include <bochner/train/tasks/series/rolling_origins.hpp>
#include <bochner/train/tasks/series/row_coverage.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t shown_forecasts = 6;

/// Errors of a member over the channels, each in its best naive forecast's: a geometric mean.
struct MemberScore {
  std::string name = {};
  double logarithms = 0, count = 0, weight = 0;

  void add(double ratio) {
    if (ratio > 0) logarithms += std::log(ratio), ++count;
  }
  double ratio() const { return count > 0 ? std::exp(logarithms / count) : 0; }
};
struct Standings {
  std::vector<MemberScore> members = {};
  MemberScore combination = {};
  std::size_t beaten = 0;              ///< channels whose combination beats the best naive forecast
  std::array<double, 2> covered = {};  ///< mean coverage of the bands of 80 and 95 %
};

/// Fits an ensemble to series at once, before the first step; there are none.
class EnsembleTask : public Task, public Backtests, public Calibrates {
 public:
  EnsembleTask(const Config& config, const KnownFacts& known)
      : EnsembleTask(config, read_series(config, known), known) {}

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return windows_; }
  TaskAbilities abilities() override { return {.backtests = this, .calibrates = this}; }

  void start() override {
    std::vector<std::vector<double>> channels, covariates;
    for (std::size_t number = 0; number < windows_.count(); ++number)
      for (std::size_t v = 0; v < windows_.series().variates(); ++v) {
        const std::size_t rows = windows_.rows(Split::train, number);
        channels.push_back(regular_rows(stepped_[number], v, rows, learner_.season()));
        covariates.push_back(regular_covariates(stepped_[number], rows, learner_.season(),
                                                covariates_from(windows_.series(number), rows, 0)));
      }
    learner_.model().fit(channels, covariates);
  }

  Var loss(Tape& tape, const Examples& examples) override {
    return tape.constant(filled({}, real(evaluate(tape, examples).loss())));
  }

  Evaluation evaluate(Tape&, const Examples& examples) override {
    Evaluation result{0, 0, learner_.loss_unit(), {{"coverage", "within the 80 % band", 0, true}}};
    for (std::size_t i = 0; i < examples.size(); ++i)
      add_window(result, windows_.place(examples.split, examples.index(i)));
    return result;
  }

  std::optional<Backtest> backtest(const BacktestPlan& plan) override {
    if (windows_.examples(plan.split) == 0) return std::nullopt;
    const std::size_t V = windows_.series().variates();
    RollingOrigins origins(windows_, plan, windows_.moments().deviation, {});
    for (std::size_t first = 0; first < origins.size(); ++first) {
      const Examples one = origins.examples(first, 1);
      const auto [number, row] = windows_.place(one.split, one.index(0));
      Tensor forecast = uninitialized({1, V, windows_.spec().horizon});
      for (std::size_t v = 0; v < V; ++v)
        std::ranges::transform(forecast_at(number, v, row).mean,
                               forecast.data() + v * windows_.spec().horizon,
                               [](double x) { return real(x); });
      origins.add(first, forecast);
    }
    return origins.result();
  }

  /// Returns the errors of the competition.
  Calibration calibrate() override;
  CoverageReport coverage(const Calibration& calibration, Split split, double level,
                          std::size_t stride) override {
    return row_coverage(calibration, windows_, split, level, stride, learner_);
  }
  Verdict verdict(const HeldOut& held) override;
  void illustrate(Page& page) override;

 private:
  EnsembleTask(const Config& config, SeriesTable table, const KnownFacts& known)
      : windows_(std::move(table.series), series_spec(config)),
        learner_(config, series_facts(config, table, windows_, known)) {
    for (std::size_t number = 0; number < windows_.count(); ++number)
      stepped_.emplace_back(windows_.series(number));
  }

  void add_window(Evaluation& result, const SeriesWindows::Place& place) {
    const TimeSeries& series = windows_.series(place.series);
    for (std::size_t v = 0; v < series.variates(); ++v) {
      const EnsembleForecast forecast = forecast_at(place.series, v, place.row);
      for (std::size_t h = 0; h < forecast.mean.size(); ++h) {
        const double error = std::abs(series.values(v, place.row + h) - forecast.mean[h]);
        result.loss_sum += error;
        ++result.terms;
        result.measures[0].sum += error <= forecast.half_widths[0][h];
      }
    }
  }

  /// Forecasts from the first rows of a series, with the covariates that its table has.
  EnsembleForecast forecast_at(std::size_t number, std::size_t variate, std::size_t rows) const {
    const TimeSeries& series = windows_.series(number);
    return learner_.forecast(stepped_[number], number, variate, rows,
                             covariates_from(series, rows, windows_.spec().horizon));
  }

  Standings standings();
  /// Returns the errors at the origins of the competition, for data of which all rows are fitted.
  Verdict verdict_of_competition(const Standings& all);

  std::size_t channels() const { return windows_.count() * windows_.series().variates(); }

  SeriesWindows windows_;
  EnsembleLearner learner_;
  std::vector<SteppedSeries> stepped_;  // by number of the series
};

Calibration EnsembleTask::calibrate() {
  const std::size_t H = windows_.spec().horizon;
  Calibration calibration{.leads = H};
  for (std::size_t c = 0; c < channels(); ++c) {
    const Contest contest = learner_.model().contest(c);
    calibration.channels.push_back(
        {{contest.residuals.begin(), contest.residuals.end()}, independent_errors(contest, H)});
  }
  std::vector<std::size_t> ends;
  for (std::size_t number = 0; number < windows_.count(); ++number)
    ends.push_back(windows_.rows(Split::train, number));
  set_known_rows(calibration, windows_, ends);
  return calibration;
}

Standings EnsembleTask::standings() {
  const Ensemble& model = learner_.model();
  Standings all;
  for (const NamedMember& member : model.members()) all.members.push_back({member.name});
  for (std::size_t c = 0; c < channels(); ++c) {
    const Contest contest = model.contest(c);
    const double naive = contest.errors[contest.naive];
    all.beaten += contest.error < naive;
    for (std::size_t b = 0; b < 2; ++b) all.covered[b] += contest.covered[b] / double(channels());
    all.combination.add(contest.error / naive);
    for (std::size_t m = 0; m < all.members.size(); ++m) {
      if (contest.errors[m] >= 0) all.members[m].add(contest.errors[m] / naive);
      all.members[m].weight += contest.weights[m] / double(channels());
    }
  }
  std::erase_if(all.members, [](const MemberScore& member) { return member.count == 0; });
  return all;
}

Verdict EnsembleTask::verdict_of_competition(const Standings& all) {
  const Ensemble& model = learner_.model();
  const std::string naive = "the best naive forecast";
  const std::string coverage = fmt::format("bands of 80 and 95 % held {:.0f} and {:.0f} %",
                                           100 * all.covered[0], 100 * all.covered[1]);
  if (channels() == 1) {
    const Contest only = model.contest(0);
    return {.measure = "mean absolute error",
            .data = "held-out rows",
            .score = only.error,
            .naive = {{model.members()[only.naive].name, only.errors[only.naive]}},
            .remark = coverage};
  }
  return {.measure = "relative error",
          .data = fmt::format("held-out rows ({} of {} series better)", all.beaten, channels()),
          .score = all.combination.ratio(),
          .naive = {{naive, 1}},
          .remark = coverage};
}

Verdict EnsembleTask::verdict(const HeldOut& held) {
  const Standings all = standings();
  const auto result = backtest({held.split});
  Verdict verdict = result ? backtest_verdict(*result) : verdict_of_competition(all);
  verdict.details = {"compared errors in the best naive forecast's, and weights:"};
  for (const MemberScore& member : all.members)
    verdict.details.push_back(fmt::format("         {:<44} {:>8.3f} {:>6.0f} %", member.name,
                                          member.ratio(), 100 * member.weight));
  return verdict;
}

void EnsembleTask::illustrate(Page& page) {
  const Standings all = standings();
  std::vector<DrawnForecast> drawn;
  for (std::size_t c = 0; c < std::min(channels(), shown_forecasts); ++c) {
    const std::size_t V = windows_.series().variates(), number = c / V, v = c % V;
    const TimeSeries& series = windows_.series(number);
    drawn.push_back(
        {series, v, forecast_at(number, v, series.rows()), learner_.model().contest(c)});
  }
  draw_forecasts(page, drawn);
  page.section("Members",
               "Mean absolute errors from the origins of the competition, in those of the best "
               "naive forecast, and weights in the forecast.");
  Table table{{"member", "error", "weight"}, {}};
  for (const MemberScore& member : all.members)
    table.rows.push_back({member.name, fmt::format("{:.3f}", member.ratio()),
                          fmt::format("{:.0f} %", 100 * member.weight)});
  page.table(table);
}

void check_ensemble(const Config& config) {
  check_series(config);
  check_fitted_at_once(config);
  const std::vector<double>& seasons = config.number_list("model.seasons");
  const bool whole = std::ranges::all_of(seasons, [](double n) { return n == std::floor(n); });
  if (!whole || std::ranges::adjacent_find(seasons, std::greater_equal()) != seasons.end())
    fail(config, "model.seasons", "must be whole and ascending");
}

}  // namespace

const char ensemble_template[] =
    R"(# Forecasts that compete, and the best combined. See docs/forecasting.md.

[model]
kind = "ensemble"
seasons = [{seasons}]                 # rows after which the series repeat

[data]
kind = "series"
files = [{files}]
{columns}lookback = {lookback}                 # rows that a linear map sees, at least needed to predict
horizon = {horizon}                  # rows to forecast
splits = [1, 0, 0]            # fit to all rows; the competition holds out its own

[train]
steps = 0                     # fitted at once
)";

void add_ensemble_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "ensemble", open_as<EnsembleTask>,
                      learn_as<EnsembleLearner, smallest_series_facts>};
  add("series", validation_splits, check_ensemble, series_options);
}

}  // namespace bochner
