#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/labels/label_pictures.hpp>
#include <bochner/train/tasks/tables/ensemble_pictures.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

constexpr double picture_width = chart_width;

/// The competition in the unit of the data.
struct Comparison {
  TableEnsembleLearner& learner;
  TableContest contest;
  double unit;                ///< of losses
  std::vector<double> truth;  ///< of held rows: numbers, or classes

  explicit Comparison(TableEnsembleLearner& of)
      : learner(of),
        contest(of.model().contest()),
        unit(of.has_classes() ? 1 : of.unit().deviation) {
    const AnsweredRows& seen = of.seen();
    for (const std::size_t row : contest.rows) {
      if (!of.has_classes()) truth.push_back(of.unit().original(seen.answers[0][row]));
      for (std::size_t k = 0; of.has_classes() && k < seen.answers.size(); ++k)
        if (seen.answers[k][row] > 0.5) truth.push_back(double(k));
    }
  }

  bool has_classes() const { return learner.has_classes(); }
  std::size_t of_rows() const { return learner.seen().size(); }
  /// Returns the share of right classes of a member.
  double accuracy(std::size_t member) const { return 1 - contest.errors[member]; }
  std::size_t answer(std::size_t i) const {
    std::size_t best = 0;
    const Columns& p = contest.held.values;
    for (std::size_t k = 1; k < p.size(); ++k)
      if (p[k][i] > p[best][i]) best = k;
    return best;
  }

  /// Returns the number of held rows of each class.
  std::vector<double> counts() const {
    std::vector<double> all(contest.held.values.size());
    for (const double k : truth) ++all[std::size_t(k)];
    return all;
  }

  /// Returns the score beside the most frequent class, or the mean; ridge regression is a member.
  Verdict verdict() const {
    const bool are_all = truth.size() == of_rows();
    const std::string data = format_number_of(truth.size(), are_all ? "row" : "held-out row") +
                             (are_all ? " in cross-validation" : "");
    if (has_classes())
      return {"accuracy", data, 1 - contest.error, {most_frequent_class(counts())}, true};
    Verdict verdict{"RMSE of " + learner.table().target.name,
                    data,
                    unit * contest.loss,
                    {{"mean", unit * contest.losses[0]}}};
    for (std::size_t m = 1; m < contest.losses.size(); ++m)
      if (learner.model().members()[m].name == "ridge" && contest.losses[m] >= 0)
        verdict.remark = fmt::format("ridge regression {:.4g}", unit * contest.losses[m]);
    return verdict;
  }
};

/// Returns name, loss, error and weight of each member that was fitted.
std::vector<std::vector<std::string>> rows_of_members(const Comparison& all) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t m = 0; m < all.contest.losses.size(); ++m) {
    if (all.contest.losses[m] < 0) continue;
    rows.push_back({all.learner.model().members()[m].title,
                    fmt::format("{:.4g}", all.unit * all.contest.losses[m]),
                    all.has_classes() ? fmt::format("{:.1f} %", 100 * all.accuracy(m))
                                      : fmt::format("{:.4g}", all.unit * all.contest.errors[m]),
                    fmt::format("{:.0f} %", 100 * all.contest.weights[m])});
  }
  return rows;
}

/// Draws held-out rows over their estimates: the diagonal with the band of 95 %.
std::string truth_chart(const Comparison& all) {
  const ColumnUnit& unit = all.learner.unit();
  const std::string& target = all.learner.table().target.name;
  Curve points;
  for (std::size_t i = 0; i < all.truth.size(); ++i)
    points.add(unit.original(all.contest.held.values[0][i]), all.truth[i]);
  std::vector<std::size_t> order(points.x.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::sort(order, {}, [&](std::size_t i) { return points.x[i]; });
  Series diagonal{.name = "as predicted, 95 %"};
  const double half = median(all.contest.held.deviations) * all.contest.bands[1] * unit.deviation;
  for (const std::size_t i : {order.front(), order.back()}) {
    diagonal.x.push_back(points.x[i]);
    diagonal.y.push_back(points.x[i]);
    diagonal.low.push_back(points.x[i] - half);
    diagonal.high.push_back(points.x[i] + half);
  }
  Chart chart{.title = target + " of held-out rows",
              .x = {"predicted"},
              .y = {"observed"},
              .width = picture_width};
  chart.series.push_back(std::move(diagonal));
  chart.add("rows", std::move(points), Mark::points);
  return draw(chart);
}

/// Returns the answers to held-out rows.
std::vector<LabelAnswer> answers_of(const Comparison& all) {
  std::vector<LabelAnswer> answers;
  for (std::size_t i = 0; i < all.truth.size(); ++i) {
    const std::size_t answer = all.answer(i);
    answers.push_back({std::size_t(all.truth[i]), answer, all.contest.held.values[answer][i],
                       fmt::format("row {}", all.contest.rows[i] + 1)});
  }
  return answers;
}

std::string importance_chart(const Comparison& all) {
  constexpr std::size_t most_shown = 15;
  const auto& inputs = all.learner.table().inputs;
  std::vector<std::size_t> order(inputs.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::size_t j) { return all.contest.importance[j]; });
  BarChart chart{.title = "increase of the error if a column is shuffled",
                 .label = all.has_classes() ? "nats" : all.learner.table().target.name,
                 .width = picture_width};
  BarSeries bars{"increase", {}};
  for (std::size_t i = 0; i < std::min(order.size(), most_shown); ++i) {
    chart.groups.push_back(inputs[order[i]].name);
    bars.values.push_back(all.unit * std::max(0.0, all.contest.importance[order[i]]));
  }
  chart.series.push_back(std::move(bars));
  return draw(chart);
}

}  // namespace

Verdict ensemble_verdict(TableEnsembleLearner& learner) {
  const Comparison all(learner);
  Verdict verdict = all.verdict();
  verdict.details = {all.has_classes()
                         ? "compared nats and right classes of held-out rows, and weights:"
                         : "compared root mean squared and mean absolute errors of held-out rows, "
                           "and weights:"};
  for (const std::vector<std::string>& row : rows_of_members(all))
    verdict.details.push_back(
        fmt::format("         {:<32} {:>9} {:>9} {:>5}", row[0], row[1], row[2], row[3]));
  return verdict;
}

void add_ensemble(Page& page, TableEnsembleLearner& learner) {
  const Comparison all(learner);
  if (all.has_classes())
    add_label_answers(page, learner.table().target.categories, answers_of(all));
  page.section("Held-out rows",
               "Predicted by members that had not seen them; which columns matter to that.");
  std::vector<std::string> charts;
  if (!all.has_classes()) charts.push_back(truth_chart(all));
  charts.push_back(importance_chart(all));
  page.charts(charts, card_width(picture_width));
  page.section("Members",
               all.has_classes()
                   ? "Mean negative log probability (nats) and share of right classes of "
                     "held-out rows, and weights in the prediction."
                   : "Root mean squared and mean absolute errors of held-out rows, and "
                     "weights in the prediction.");
  Table table{{"member", all.has_classes() ? "nats" : "RMSE", all.has_classes() ? "right" : "MAE",
               "weight"},
              rows_of_members(all)};
  page.table(table);
}

}  // namespace bochner
