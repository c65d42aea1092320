#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/charts/canvas.hpp>
#include <bochner/train/commands/compare/comparison.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/storage/json.hpp>
#include <limits>
#include <utility>

namespace bochner {
namespace {

constexpr std::size_t longest_value = 48;  // characters of a table
constexpr double minute = 60, hour = 3600;

std::string written(double number, Quantity quantity) {
  switch (quantity) {
    case Quantity::steps:
      return fmt::format("{:.0f}", number);
    case Quantity::rate:
      return format_count(number);
    case Quantity::seconds:
      return number < 1000 ? fmt::format("{:.3g}", number) : fmt::format("{:.0f}", number);
    case Quantity::bytes:
      return format_bytes(number);
    default:
      return fmt::format("{:.4g}", number);
  }
}

/// Formats "1.61" for one run, "1.61 ± 0.02" for several, "1.61 ± 0.02 (2 of 3)" if some lack it.
/// Rates and memory have no interval.
std::string cell(const std::vector<double>& values, std::size_t runs, Quantity quantity) {
  if (values.empty()) return "";
  const auto [mean, half] = confidence_interval(values);
  std::string text = written(mean, quantity);
  if (half > 0 && quantity != Quantity::rate && quantity != Quantity::bytes)
    text += half < 100 ? fmt::format(" ± {:.2g}", half) : fmt::format(" ± {:.0f}", half);
  return values.size() == runs ? text : text + fmt::format(" ({} of {})", values.size(), runs);
}

/// Returns "done" or "trains, 30 %"; for several runs "2 done, 1 trains".
std::string state_of(const RunGroup& group) {
  if (group.runs.size() == 1) {
    const RunView& run = *group.runs[0];
    if (run.phase() != RunPhase::training) return name_of(run.phase());
    return fmt::format("{}, {:.0f} %", name_of(run.phase()), 100 * run.progress());
  }
  std::string words;
  for (const RunPhase phase : {RunPhase::done, RunPhase::training, RunPhase::stopped}) {
    const auto count = std::ranges::count(group.runs, phase, &RunView::phase);
    if (count > 0)
      words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, name_of(phase));
  }
  return words;
}

std::string shortened(const std::string& text) {
  return character_count(text) <= longest_value ? text
                                                : first_characters(text, longest_value - 1) + "…";
}

Table transposed(const Table& table) {
  Table turned{{"runs"}, {}};
  for (const auto& row : table.rows) turned.headers.push_back(row[0]);
  for (std::size_t column = 1; column < table.headers.size(); ++column) {
    turned.rows.push_back({table.headers[column]});
    for (const auto& row : table.rows) turned.rows.back().push_back(row[column]);
  }
  return turned;
}

/// Averages a long curve over pieces to remove noise.
Series downsampled(const Series& series) {
  constexpr std::size_t most_points = 400;
  const std::size_t n = series.x.size(), piece = n / most_points + 1;
  if (piece == 1) return series;
  Series few = series;
  for (auto* numbers : {&few.x, &few.y, &few.low, &few.high}) {
    std::vector<double> means;
    for (auto from = numbers->begin(); from != numbers->end();) {
      const auto to = from + std::min(std::ptrdiff_t(piece), numbers->end() - from);
      means.push_back(mean_of(std::vector<double>(from, to)));
      from = to;
    }
    *numbers = std::move(means);
  }
  return few;
}

void choose_unit(Chart& chart) {
  double longest = 0;
  for (const Series& series : chart.series)
    for (const double seconds : series.x) longest = std::max(longest, seconds);
  const double unit = longest > 3 * hour ? hour : longest > 5 * minute ? minute : 1;
  for (Series& series : chart.series)
    for (double& seconds : series.x) seconds /= unit;
  chart.x.label = std::string(unit == hour     ? "hours"
                              : unit == minute ? "minutes"
                                               : "seconds") +
                  " of training";
}

/// Cuts off the top if the drop in the first tenth takes more than half of the height; keeps the
/// ends of curves.
void cut_first_fall(Chart& chart) {
  Extent steps, all, late;
  for (const Series& series : chart.series) {
    steps.add(series.x, Scale::linear);
    all.add(series.y, Scale::linear);
  }
  const double first_tenth = steps.low + (steps.high - steps.low) / 10;
  for (const Series& series : chart.series)
    for (std::size_t i = 0; i < series.x.size(); ++i)
      if (series.x[i] >= first_tenth || i + 1 == series.x.size())
        late.add({series.y[i]}, Scale::linear);
  if (late.empty || all.high - late.high <= late.high - all.low) return;
  const double highest = late.high + 0.05 * (late.high - all.low);
  for (Series& series : chart.series)
    for (double& y : series.y)
      if (y > highest) y = std::numeric_limits<double>::quiet_NaN();
  chart.y.highest = highest;
  chart.note = "the top of the initial drop is cut off";
}

std::string title_of(std::string key, bool by_time) {
  std::ranges::replace(key, '_', ' ');
  const std::string title = key == "valid"  ? "Validation loss"
                            : key == "loss" ? "Training loss"
                                            : key;
  return by_time ? title + " over time" : title;
}

}  // namespace

Comparison::Comparison(const std::deque<RunView>& runs, std::optional<double> goal)
    : run_count_(runs.size()), goal_(goal), groups_(groups_of(runs)) {
  sort_by_best(groups_);
  differences_ = differences(groups_);
  const std::string objections = objection(differences_);
  if (!objections.empty()) notes_.push_back(objections);
  for (const RunView& run : runs)
    if (!run.problem().empty()) notes_.push_back(run.problem());
  if (!goal_ && objections.empty()) goal_ = common_goal(groups_);
  figures_ = figures_of(groups_, goal_);
}

Table Comparison::figure_table() const {
  const bool have_seeds = run_count_ > groups_.size();
  Table table{{have_seeds ? "runs" : "run"}, {}};
  if (have_seeds) table.headers.push_back("seeds");
  table.headers.push_back("state");
  for (const RunFigure& figure : figures_)
    if (!figure.words.empty()) table.headers.push_back(figure.words);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::size_t runs = groups_[g].runs.size();
    std::vector<std::string> row = {groups_[g].name};
    if (have_seeds) row.push_back(std::to_string(runs));
    row.push_back(state_of(groups_[g]));
    for (const RunFigure& figure : figures_)
      if (!figure.words.empty()) row.push_back(cell(figure.values[g], runs, figure.quantity));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Puts the longer of groups and keys in rows.
Table Comparison::difference_table() const {
  Table table{{"key"}, {}};
  for (const RunGroup& group : groups_) table.headers.push_back(group.name);
  for (const Difference& one : differences_) {
    table.rows.push_back({one.key});
    for (const std::string& value : one.values) table.rows.back().push_back(shortened(value));
  }
  return groups_.size() > differences_.size() ? transposed(table) : table;
}

std::string Comparison::text() const {
  std::string text = markdown(figure_table());
  if (!differences_.empty()) text += "\n" + markdown(difference_table());
  return text;
}

std::string Comparison::json() const {
  std::string lines;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Json runs = Json::array(), set = Json(std::initializer_list<Json::Member>{});
    for (const RunView* run : groups_[g].runs)
      runs.push({{"run", run->path().string()},
                 {"state", name_of(run->phase())},
                 {"seed", Json::parse(run->setting("train.seed"))}});
    for (const Difference& one : differences_) set.set(one.key, one.values[g]);
    Json line = {{"name", groups_[g].name}, {"runs", runs}, {"set", set}};
    for (const RunFigure& figure : figures_) {
      const std::vector<double>& values = figure.values[g];
      if (values.empty()) continue;
      const auto [mean, half] = confidence_interval(values);
      line.set(figure.name, {{"mean", mean}, {"values", values}});
      if (values.size() > 1)
        line.set(figure.name, {{"mean", mean}, {"half_width", half}, {"values", values}});
    }
    if (goal_) line.set("goal", *goal_);
    lines += line.line() + "\n";
  }
  return lines;
}

/// Draws a chart; groups beyond the palette share one colour and are drawn first.
std::string Comparison::chart_of(const std::string& key, bool by_time) const {
  const std::size_t count = groups_.size();
  const std::size_t coloured = count > palette_size ? palette_size - 1 : count;
  Chart chart{.title = title_of(key, by_time), .x = {"step"}};
  std::string others = fmt::format("{} others", count - coloured);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t g = (i + coloured) % count;
    Series series = mean_curve(groups_[g], key, by_time);
    if (series.x.empty()) continue;
    series.colour = int(std::min(g, coloured));
    series.mark = key == "loss" ? Mark::line : Mark::line_and_points;
    if (g >= coloured) series.name = std::exchange(others, "");
    if (g >= coloured || key == "loss") series.low.clear(), series.high.clear();
    chart.series.push_back(downsampled(series));
  }
  if (key == "loss" || key == "valid") cut_first_fall(chart);
  if (by_time) choose_unit(chart);
  return chart.series.empty() ? "" : draw(chart);
}

std::vector<std::string> Comparison::charts() const {
  std::vector<std::string> charts;
  std::vector<std::string> keys = measures_of(groups_);
  std::erase(keys, "bits_per_token");  // the loss in another unit
  keys.insert(std::ranges::find(keys, "valid") == keys.end() ? keys.begin() : keys.begin() + 1,
              "loss");
  for (const std::string& key : keys) {
    charts.push_back(chart_of(key, false));
    if (key == "valid" || key == "loss") charts.push_back(chart_of(key, true));
  }
  std::erase(charts, "");
  return charts;
}

std::vector<Figure> Comparison::large_figures() const {
  std::vector<Figure> large = {{std::to_string(run_count_), run_count_ == 1 ? "run" : "runs"}};
  if (groups_.size() > 1 && groups_.size() < run_count_)
    large.push_back({std::to_string(groups_.size()), "groups that differ in more than the seed"});
  const auto best = std::ranges::find(figures_, "best", &RunFigure::name);
  if (best != figures_.end() && !best->values[0].empty())
    large.push_back(
        {fmt::format("{:.4f}", mean_of(best->values[0])), "best validation, " + groups_[0].name});
  return large;
}

Page Comparison::page(const std::string& title) const {
  Page page(title, groups_.size() < run_count_
                       ? "Runs that differ only in the seed share a curve and a row: the mean "
                         "and its 95 % interval by Student's t."
                       : "One curve and one row per run.");
  for (const std::string& note : notes_) page.paragraph("Note: " + note);
  page.figures(large_figures());
  page.section("Curves");
  page.charts(charts());
  page.section("Figures",
               "From the last line of metrics and the validation with the lowest loss. Seconds "
               "count training steps, without validations and saves.");
  page.table(figure_table());
  if (differences_.empty()) return page;
  page.section("Differences", "Config keys whose values differ.");
  page.table(difference_table());
  return page;
}

}  // namespace bochner
