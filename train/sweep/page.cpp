#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/format.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/charts/parallel_axes.hpp>
#include <bochner/train/run/log/metrics.hpp>
#include <bochner/train/run/run_files.hpp>
#include <bochner/train/sweep/journal.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace bochner {
namespace {

constexpr std::size_t most_rows = 200;
constexpr int done_colour = 0, best_colour = 1, failed_colour = 4, waiting_colour = 7;

/// Ranks trials by the first goal: done ones, then those that came farther, then those without it.
std::vector<std::size_t> ranked(const SweepJournal& journal) {
  std::vector<std::size_t> order(journal.trials().size());
  std::iota(order.begin(), order.end(), 0);
  const Goal& goal = journal.header().goals.front();
  constexpr auto none = std::numeric_limits<std::size_t>::max();
  const auto key = [&](std::size_t index) {
    const SweepTrial& trial = journal.trials()[index];
    const double score = goal.score(last_measured(trial));
    if (std::isnan(score)) return std::pair(none, 0.0);
    // A trial that ended early, without hope to improve, is complete, however few rungs it passed.
    return std::pair(trial.done ? 0 : none - trial.measured.size(), score);
  };
  std::ranges::stable_sort(order, {}, key);
  return order;
}

int colour_of(const SweepTrial& trial) {
  return trial.done ? done_colour : trial.failed.empty() ? waiting_colour : failed_colour;
}

/// Returns an end of the axis that keeps a few bad scores from compressing the others.
std::optional<double> bound_of(std::vector<double> numbers, bool largest) {
  std::erase_if(numbers, [](double number) { return !std::isfinite(number); });
  if (numbers.size() < 3) return std::nullopt;
  std::ranges::sort(numbers);
  const double middle = numbers[numbers.size() / 2];
  const double best = largest ? numbers.back() : numbers.front(),
               worst = middle + 3 * (middle - best);
  if (middle == best) return std::nullopt;
  const bool beyond = largest ? numbers.front() < worst : numbers.back() > worst;
  return beyond ? std::optional(worst) : std::nullopt;
}

Axis value_axis_of(const Goal& goal, const std::vector<double>& numbers) {
  Axis axis{goal.metric};
  (goal.largest ? axis.lowest : axis.highest) = bound_of(numbers, goal.largest);
  return axis;
}

/// Draws the scores in order, and the best so far.
std::string draw_progress(const SweepJournal& journal) {
  const Goal& goal = journal.header().goals.front();
  Curve stopped, done, best;
  double lowest = std::numeric_limits<double>::infinity();
  std::vector<double> all;
  for (std::size_t i = 0; i < journal.trials().size(); ++i) {
    const SweepTrial& trial = journal.trials()[i];
    const double number = last_measured(trial);
    if (std::isnan(number)) continue;
    all.push_back(number);
    Curve& curve = trial.done ? done : stopped;
    curve.add(double(i), number);
    if (!trial.done) continue;
    lowest = std::min(lowest, goal.score(number));
    best.add(double(i), goal.score(lowest));  // the sign changes twice
  }
  Chart chart{.title = "Trials in order", .x = {"trial"}, .y = value_axis_of(goal, all)};
  chart.add(stopped.x.empty() ? "" : "stopped early", stopped, Mark::points, waiting_colour);
  chart.add("to the end", done, Mark::points, done_colour);
  chart.add("best so far", best, Mark::line, best_colour);
  return draw(chart);
}

/// Returns the axis position of a value: numbers of ranges, and the index in a list.
double axis_value(const Variation& variation, const std::string& value) {
  if (value.empty()) return std::nan("");
  if (variation.range) return parse_number(value).value_or(std::nan(""));
  const auto found = std::ranges::find(variation.values, value);
  return found == variation.values.end() ? std::nan("") : double(found - variation.values.begin());
}

std::string draw_parallel(const SweepJournal& journal, const Space& space) {
  const std::vector<std::string> names = short_names(space.variations());
  ParallelAxes chart{.title = "Values and scores",
                     .note = "the best tenth in front; in blue those trained to the end"};
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Variation& variation = space.variations()[i];
    const bool logarithmic = variation.range && variation.range->logarithmic;
    chart.axes.push_back(
        {names[i], logarithmic ? Scale::logarithmic : Scale::linear, variation.values});
  }
  for (const Goal& goal : journal.header().goals) chart.axes.push_back({goal.metric});
  const std::vector<std::size_t> order = ranked(journal);
  const std::size_t front = ceil_div(order.size(), 10);
  for (std::size_t rank = order.size(); rank-- > 0;) {
    const SweepTrial& trial = journal.trials()[order[rank]];
    if (trial.measured.empty()) continue;
    ParallelLine line{{}, rank < front ? best_colour : colour_of(trial), rank < front};
    for (std::size_t i = 0; i < space.size(); ++i)
      line.values.push_back(axis_value(space.variations()[i], trial.values[i]));
    for (std::size_t goal = 0; goal < journal.header().goals.size(); ++goal)
      line.values.push_back(last_measured(trial, goal));
    chart.lines.push_back(std::move(line));
  }
  return draw(chart);
}

/// Draws the metric of the goal over each run, the best in front.
std::string draw_curves(const SweepJournal& journal, FileStorage& storage) {
  const Goal& goal = journal.header().goals.front();
  Chart chart{.title = goal.metric + " of all trials", .x = {"step"}};
  const std::vector<std::size_t> best = journal.best();
  const auto is_best = [&](std::size_t index) { return std::ranges::count(best, index) > 0; };
  std::vector<std::size_t> order = ranked(journal);
  std::ranges::reverse(order);
  std::ranges::stable_partition(order, [&](std::size_t index) { return !is_best(index); });
  std::vector<double> all;
  std::map<int, const char*> legend{{done_colour, "to the end"},
                                    {waiting_colour, "stopped early, or open"},
                                    {failed_colour, "failed"},
                                    {best_colour, "best"}};
  for (const std::size_t index : order) {
    const SweepTrial& trial = journal.trials()[index];
    const Path file = journal.directory() / trial.name / metrics_name;
    if (!storage.exists(file)) continue;
    const MetricsLog log = read_metrics(read_file(storage, file), file.string());
    const auto curve = log.curves.find(goal.metric);
    if (curve == log.curves.end()) continue;
    const int colour = is_best(index) ? best_colour : colour_of(trial);
    chart.add(std::exchange(legend[colour], ""), curve->second, Mark::line, colour);
    all.insert(all.end(), curve->second.y.begin(), curve->second.y.end());
  }
  chart.y = value_axis_of(goal, all);
  return draw(chart);
}

std::string draw_stops(const SweepJournal& journal) {
  std::map<std::string, Curve> points;
  for (std::size_t i = 0; i < journal.trials().size(); ++i) {
    const SweepTrial& trial = journal.trials()[i];
    if (trial.steps.empty()) continue;
    Curve& curve = points[trial.done ? "to the end" : trial.failed.empty() ? "stopped" : "failed"];
    curve.add(double(i), double(trial.steps.back()));
  }
  Chart chart{
      .title = "When trials were stopped", .x = {"trial"}, .y = {"steps", Scale::logarithmic}};
  for (auto& [name, curve] : points)
    chart.add(name, curve, Mark::points,
              name == "stopped"  ? waiting_colour
              : name == "failed" ? failed_colour
                                 : done_colour);
  return draw(chart);
}

std::string draw_front(const SweepJournal& journal) {
  const std::vector<Goal>& goals = journal.header().goals;
  Curve all, front;
  for (const SweepTrial& trial : journal.trials()) {
    if (!trial.done) continue;
    all.add(last_measured(trial, 0), last_measured(trial, 1));
  }
  std::vector<SeedGroup> best = journal.best_groups();
  std::ranges::sort(best, {}, [](const SeedGroup& group) { return group.means.front(); });
  for (const SeedGroup& group : best) {
    front.add(group.means[0], group.means[1]);
  }
  Chart chart{.title = "Pareto front", .x = {goals[0].metric}, .y = {goals[1].metric}};
  chart.add("trials", all, Mark::points, waiting_colour);
  chart.add("front", front, Mark::line_and_points, best_colour);
  return draw(chart);
}

/// Draws the importance of the keys; empty if a surrogate has too few scores.
std::string draw_importance(const SweepJournal& journal, const Space& space) {
  const SearchSpec spec{SearchKind::bayes, journal.header().seed,
                        std::max<std::size_t>(1, journal.header().rungs.size())};
  std::vector<Tried> tried = journal.tried();
  for (Tried& trial : tried)
    for (Scores& scores : trial.reached) scores.resize(1);  // the first goal
  if (tried.size() < initial_trials) return "";
  const auto surrogate = surrogate_of(spec, space, tried);
  if (!surrogate) return "";
  return draw(BarChart{.title = "Importance of the keys",
                       .label = "total effect on the score",
                       .groups = short_names(space.variations()),
                       .series = {{"", importance(space, *surrogate)}}});
}

Table table_of_trials(const SweepJournal& journal, const Space& space) {
  Table table{{"trial"}, {}};
  for (const std::string& name : short_names(space.variations())) table.headers.push_back(name);
  for (const Goal& goal : journal.header().goals) table.headers.push_back(goal.metric);
  table.headers.insert(table.headers.end(), {"steps", "state"});
  for (const std::size_t index : ranked(journal)) {
    if (table.rows.size() == most_rows) break;
    const SweepTrial& trial = journal.trials()[index];
    std::vector<std::string> row{trial.name};
    row.insert(row.end(), trial.values.begin(), trial.values.end());
    for (std::size_t goal = 0; goal < journal.header().goals.size(); ++goal) {
      const double number = last_measured(trial, goal);
      row.push_back(std::isnan(number) ? "" : short_number(number));
    }
    row.push_back(trial.steps.empty() ? "" : std::to_string(trial.steps.back()));
    row.push_back(state_of(trial));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_figures(Page& page, const SweepJournal& journal) {
  const auto count = [&](const char* state) {
    return std::to_string(std::ranges::count(journal.trials(), state, state_of));
  };
  std::vector<Figure> figures{{std::to_string(journal.trials().size()), "trials"},
                              {count("done"), "to the end"}};
  if (!journal.header().rungs.empty()) figures.push_back({count("waits"), "stopped early"});
  if (count("failed") != "0") figures.push_back({count("failed"), "failed"});
  const std::vector<SeedGroup> best = journal.best_groups();
  if (!best.empty()) {
    const auto& [trials, means] = best.front();
    figures.push_back({short_number(means.front()),
                       fmt::format("{} of {}{}", journal.header().goals.front().metric,
                                   trials.size() > 1 ? "the seeds of " : "",
                                   journal.trials()[trials.front()].name)});
  }
  figures.push_back({format_duration(journal.seconds()), "of searching"});
  page.figures(figures);
}

}  // namespace

Path sweep_page(const Path& directory) { return directory / "sweep.html"; }

void write_sweep_page(FileStorage& storage, const SweepJournal& journal) {
  const Space space = space_of(journal.header());
  const std::vector<Goal>& goals = journal.header().goals;
  Page page(journal.directory().string(),
            fmt::format("{} search, {}", name_of(journal.header().search),
                        joined(goals, ", ", &Goal::text)));
  add_figures(page, journal);
  page.section("Scores", "Scores that are far worse than the median are drawn at the border.");
  page.charts({draw_progress(journal), draw_curves(journal, storage)});
  if (goals.size() > 1) page.charts({draw_front(journal)});
  page.section("Keys");
  page.charts({draw_parallel(journal, space)}, card_width(wide_width));
  if (const std::string bars = draw_importance(journal, space); !bars.empty()) {
    page.paragraph(
        "The part of the variance of the first goal that would remain if all other keys were "
        "fixed, "
        "by "
        "the Gaussian process through the scores; the parts may sum to more than 1.");
    page.charts({bars});
  }
  if (!journal.header().rungs.empty()) {
    page.section("Early stopping",
                 fmt::format("One of {:g} continues from each rung; rungs are at steps {}.",
                             journal.header().factor, joined(journal.header().rungs)));
    page.charts({draw_stops(journal)});
  }
  page.section("Trials", "");
  page.table(table_of_trials(journal, space));
  if (const std::size_t count = journal.trials().size(); count > most_rows)
    page.paragraph(fmt::format("The best {} of {}; for all, run: bochner sweep status {}",
                               most_rows, count, journal.directory().string()));
  commit_file(storage, sweep_page(journal.directory()), page.html());
}

}  // namespace bochner
