#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/series/ensemble_learner.hpp>
#include <bochner/train/tasks/series/rolling_origins.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t shown_forecasts = 6;
constexpr double future_width = 380;  // of a chart

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
  std::size_t beaten = 0;  ///< channels whose combination beats the best naive forecast
};

/// Fits an ensemble to series at once, before the first step; there are none.
class EnsembleTask : public Task, public Backtests {
 public:
  EnsembleTask(const Config& config, const KnownFacts& known)
      : EnsembleTask(config, read_series(config, known), known) {}

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return windows_; }
  TaskAbilities abilities() override { return {.backtests = this}; }

  void start() override {
    std::vector<std::vector<double>> channels;
    for (std::size_t number = 0; number < windows_.count(); ++number)
      for (std::size_t v = 0; v < windows_.series().variates(); ++v)
        channels.push_back(regular_rows(stepped_[number], v, windows_.rows(Split::train, number),
                                        learner_.season()));
    learner_.model().fit(channels);
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
        std::ranges::transform(learner_.forecast(stepped_[number], number, v, row).mean,
                               forecast.data() + v * windows_.spec().horizon,
                               [](double x) { return real(x); });
      origins.add(first, forecast);
    }
    return origins.result();
  }

  std::vector<std::string> verdict() override;
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
      const EnsembleForecast forecast =
          learner_.forecast(stepped_[place.series], place.series, v, place.row);
      for (std::size_t h = 0; h < forecast.mean.size(); ++h) {
        const double error = std::abs(series.values(v, place.row + h) - forecast.mean[h]);
        result.loss_sum += error;
        ++result.terms;
        result.measures[0].sum += error <= forecast.half_widths[0][h];
      }
    }
  }

  Standings standings();
  /// Says how good the ensemble is beside the best naive forecast.
  std::string verdict_of(const Standings& all);

  std::size_t channels() const { return windows_.count() * windows_.series().variates(); }

  SeriesWindows windows_;
  EnsembleLearner learner_;
  std::vector<SteppedSeries> stepped_;  // by number of the series
};

bool is_naive(const std::string& member) { return member.starts_with("last "); }

/// Returns the least error of the naive members, which are fitted to any rows.
double naive_error(const std::vector<NamedMember>& members, const Contest& contest) {
  double least = INFINITY;
  for (std::size_t m = 0; m < members.size(); ++m)
    if (is_naive(members[m].name) && contest.errors[m] >= 0)
      least = std::min(least, contest.errors[m]);
  return least;
}

Standings EnsembleTask::standings() {
  const Ensemble& model = learner_.model();
  Standings all;
  for (const NamedMember& member : model.members()) all.members.push_back({member.name});
  for (std::size_t c = 0; c < channels(); ++c) {
    const Contest contest = model.contest(c);
    const double naive = naive_error(model.members(), contest);
    all.beaten += contest.error < naive;
    all.combination.add(contest.error / naive);
    for (std::size_t m = 0; m < all.members.size(); ++m) {
      if (contest.errors[m] >= 0) all.members[m].add(contest.errors[m] / naive);
      all.members[m].weight += contest.weights[m] / double(channels());
    }
  }
  std::erase_if(all.members, [](const MemberScore& member) { return member.count == 0; });
  return all;
}

std::string EnsembleTask::verdict_of(const Standings& all) {
  const Ensemble& model = learner_.model();
  if (channels() > 1)
    return fmt::format(
        "better than the best naive forecast for {} of {} series on held-out rows; errors are "
        "{:.3f} of its",
        all.beaten, channels(), all.combination.ratio());
  const Contest only = model.contest(0);
  return fmt::format(
      "mean absolute error {:.4g} on held-out rows; the best naive forecast has {:.4g}: {}",
      only.error, naive_error(model.members(), only), all.beaten > 0 ? "better" : "no better");
}

std::vector<std::string> EnsembleTask::verdict() {
  const Standings all = standings();
  std::vector<std::string> lines = {"compared errors in the best naive forecast's, and weights:"};
  for (const MemberScore& member : all.members)
    lines.push_back(fmt::format("         {:<32} {:>8.3f} {:>6.0f} %", member.name, member.ratio(),
                                100 * member.weight));
  lines.push_back("verdict  " + verdict_of(all));
  return lines;
}

/// Draws a band around the last curve of a chart.
void add_band(Chart& chart, const EnsembleForecast& forecast, std::size_t band) {
  Series& curve = chart.series.back();
  for (std::size_t h = 0; h < forecast.mean.size(); ++h) {
    curve.low.push_back(forecast.mean[h] - forecast.half_widths[band][h]);
    curve.high.push_back(forecast.mean[h] + forecast.half_widths[band][h]);
  }
}

void EnsembleTask::illustrate(Page& page) {
  constexpr std::size_t shown_horizons = 8;
  const Standings all = standings();
  page.section("Forecasts",
               "The rows after the last one, in the unit of the data; 95 % of the "
               "errors of the competition were within the band.");
  std::vector<std::string> charts;
  for (std::size_t c = 0; c < std::min(channels(), shown_forecasts); ++c) {
    const std::size_t V = windows_.series().variates(), number = c / V, v = c % V;
    const TimeSeries& series = windows_.series(number);
    const std::size_t n = series.rows(), H = windows_.spec().horizon,
                      first = n - std::min(n, shown_horizons * H);
    const bool dates = !series.times.empty() && !series.numeric_time;
    Chart chart{.title = variate_name(series, v),
                .x = dates ? Axis{"", Scale::time} : Axis{series.times.empty() ? "row" : "time"},
                .width = future_width};
    Curve seen, coming;
    for (std::size_t i = first; i < n; ++i)
      seen.add(series.times.empty() ? double(i + 1) : series.times[i], series.values(v, i));
    const EnsembleForecast forecast = learner_.forecast(stepped_[number], number, v, n);
    const TimeStep step = series.times.empty() ? TimeStep() : series.time_step();
    for (std::size_t h = 0; h < H; ++h)
      coming.add(series.times.empty() ? double(n + h + 1) : step.after(series.times.back(), h + 1),
                 forecast.mean[h]);
    chart.add("seen", std::move(seen), Mark::line, 7);
    chart.add("forecast", std::move(coming), Mark::line, 1);
    add_band(chart, forecast, 1);
    charts.push_back(draw(chart));
  }
  page.charts(charts, card_width(future_width));
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
