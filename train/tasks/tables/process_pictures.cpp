#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/base/join.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/tables/process_pictures.hpp>
#include <cmath>
#include <numbers>

namespace bochner {
namespace {

constexpr std::size_t band_points = 400, curve_points = 300;
constexpr std::size_t most_drawn_inputs = 6;
constexpr double seconds_of_a_year = 31556952;

/// Conversion of an input to the numbers on an axis: time stamps become years.
struct DrawnInput {
  std::string name;
  ColumnUnit unit;
  bool dated;

  double at(double standard) const {
    const double x = unit.original(standard);
    return dated ? 1970 + x / seconds_of_a_year : x;
  }
  /// Converts a lag, or 1 / frequency.
  double length(double standard) const {
    return standard * unit.deviation / (dated ? seconds_of_a_year : 1);
  }
  std::string label() const { return dated ? name + ", years" : name; }
};

DrawnInput drawn_input(const TableRows& data, std::size_t j) {
  return {data.table().inputs[j], data.units()[j], data.table().time == j};
}

Curve points_of(const TableRows& data, const Observations& rows, std::size_t j) {
  const DrawnInput input = drawn_input(data, j);
  const ColumnUnit& unit = data.target_unit();
  Curve points;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    points.x.push_back(input.at(rows.inputs[j][i]));
    points.y.push_back(unit.original(rows.targets[i]));
  }
  return points;
}

/// Returns points along one input, the others at their means.
Observations line_along(const TableRows& data, std::size_t j) {
  double least = data.training_rows().inputs[j][0], most = least;
  for (const Observations* rows : {&data.training_rows(), &data.held_rows()})
    for (const double x : rows->inputs[j]) least = std::min(least, x), most = std::max(most, x);
  const double margin = 0.05 * (most - least);
  Observations line;
  line.inputs.assign(data.table().inputs.size(), std::vector<double>(band_points, 0.0));
  for (std::size_t i = 0; i < band_points; ++i)
    line.inputs[j][i] =
        least - margin + (most - least + 2 * margin) * double(i) / double(band_points - 1);
  return line;
}

std::string band_chart(const TableRows& data, std::size_t j, const PredictRows& predict) {
  const DrawnInput input = drawn_input(data, j);
  const Observations line = line_along(data, j);
  const ProcessPrediction predicted = predict(line);
  const ColumnUnit& unit = data.target_unit();
  Series band{.name = "mean, 90 %"};
  for (std::size_t i = 0; i < line.size(); ++i) {
    band.x.push_back(input.at(line.inputs[j][i]));
    band.y.push_back(unit.original(predicted.mean[i]));
    band.low.push_back(unit.original(predicted.quantile(i, 0.05)));
    band.high.push_back(unit.original(predicted.quantile(i, 0.95)));
  }
  Chart chart{.title = data.table().target + " along " + input.name,
              .x = {input.label()},
              .y = {data.table().target}};
  chart.series.push_back(std::move(band));
  if (line.inputs.size() == 1) {  // with more inputs, rows are off the line
    chart.add("training rows", points_of(data, data.training_rows(), j), Mark::points);
    if (data.held_rows().size() > 0)
      chart.add("held out", points_of(data, data.held_rows(), j), Mark::points);
  }
  return draw(chart);
}

std::string truth_chart(const TableRows& data, const PredictRows& predict) {
  const ProcessPrediction predicted = predict(data.held_rows());
  const ColumnUnit& unit = data.target_unit();
  Curve points;
  const std::size_t rows = data.held_rows().size();
  for (std::size_t i = 0; i < rows; ++i) {
    points.x.push_back(unit.original(data.held_rows().targets[i]));
    points.y.push_back(unit.original(predicted.mean[i]));
  }
  Chart chart{.title = "rows held out", .x = {"truth"}, .y = {"mean"}};
  chart.add("", points, Mark::points);
  return draw(chart);
}

/// Returns a frequency above almost all of the spectrum, in 1 / the unit of the rows.
double bounding_box_of(const KernelCurve& curve) {
  const double smallest = 1e-4;
  double bend = 0;  // sqrt(-k'' / k) at 0, by the largest lag with k > 0.9
  for (double lag = 1; lag > smallest; lag /= 2) {
    double k = 0;
    curve.values(1, &lag, &k);
    bend = std::sqrt(std::max(0.0, 2 * (1 - k))) / lag;
    if (k > 0.9) break;
  }
  return 3 * std::max(bend, 1e-3);
}

Chart kernel_chart(const DrawnInput& input, const KernelCurve& curve, const std::string& title) {
  const double far = std::min(4.0, 40 / bounding_box_of(curve));
  Chart chart{.title = title + ": kernel k(δ)", .x = {"δ, " + input.label()}, .y = {"k(δ)"}};
  Curve line;
  std::vector<double> lags, values(curve_points);
  for (std::size_t i = 0; i < curve_points; ++i)
    lags.push_back(far * double(i) / double(curve_points - 1));
  curve.values(curve_points, lags.data(), values.data());
  for (std::size_t i = 0; i < curve_points; ++i) {
    line.x.push_back(input.length(lags[i]));
    line.y.push_back(values[i]);
  }
  chart.add("", std::move(line));
  return chart;
}

/// Draws the density over frequencies in cycles per unit of the input.
Chart spectrum_chart(const PointFunction& log_density, const DrawnInput& input, double reach,
                     const std::string& title) {
  const double turns = 1 / (2 * std::numbers::pi * input.length(1));
  Chart chart{.title = title + ": spectrum p(ω)",
              .x = {"cycles per " + (input.dated ? std::string("year") : "unit of " + input.name)},
              .y = {"density", Scale::logarithmic}};
  Curve line;
  for (std::size_t i = 0; i < 2 * curve_points; ++i) {
    const double w = reach * double(i) / double(2 * curve_points - 1), minus = -w;
    line.x.push_back(w * turns);  // w and -w are the same wave
    line.y.push_back((std::exp(log_density(&w)) + std::exp(log_density(&minus))) / turns);
  }
  const double most = *std::ranges::max_element(line.y);
  chart.y.lowest = most * 1e-6;
  chart.add("", std::move(line));
  return chart;
}

void add_kernels(Page& page, GaussianProcess& model, const TableRows& data) {
  std::vector<std::string> charts;
  std::size_t head = 0;
  for (const auto& term : model.terms())
    for (const std::size_t j : term) {
      const DrawnInput input = drawn_input(data, j);
      const bool alone = model.terms().size() > 1 && term.size() == 1;
      const std::string title = input.name + (alone ? ", alone" : "");
      const auto curve = model.curve(head);
      if (const PointFunction density = model.density().log_density(head))
        charts.push_back(draw(spectrum_chart(density, input, bounding_box_of(*curve), title)));
      charts.push_back(draw(kernel_chart(input, *curve, title)));
      ++head;
    }
  page.section("Kernel",
               "The learned spectral density of each input and the kernel that is its Fourier "
               "transform, in the units of the data.");
  page.charts(charts);
}

void add_variances(Page& page, const GaussianProcess& model, const TableRows& data) {
  const double unit = data.target_unit().deviation;
  Table table{{"part", "deviation, in the unit of " + data.table().target}, {}};
  const auto add = [&](const std::string& part, double variance) {
    table.rows.push_back({part, short_number(unit * std::sqrt(variance))});
  };
  const std::vector<double> variances = model.variances(), trend = model.trend_variances();
  for (std::size_t t = 0; t < variances.size(); ++t) {
    const auto input = [&](std::size_t j) { return data.table().inputs[j]; };
    add("kernel of " + joined(model.terms()[t], " x ", input), variances[t]);
  }
  for (std::size_t p = 0; p < trend.size(); ++p)
    add(p == 0 ? "level" : "slope by " + data.table().inputs[p - 1] + ", over its deviation",
        trend[p]);
  add("noise", model.noise_variance());
  page.table(table);
}

}  // namespace

void add_process(Page& page, GaussianProcess& model, const TableRows& data,
                 const PredictRows& predict) {
  page.section("Predictions",
               "Mean and 90 % band of new observations along each input, with the others at their "
               "means.");
  std::vector<std::string> charts;
  const std::size_t inputs = data.table().inputs.size();
  for (std::size_t j = 0; j < std::min(inputs, most_drawn_inputs); ++j)
    charts.push_back(band_chart(data, j, predict));
  if (data.held_rows().size() > 0) charts.push_back(truth_chart(data, predict));
  page.charts(charts, inputs == 1 ? 620 : card_width(chart_width));
  add_kernels(page, model, data);
  add_variances(page, model, data);
}

}  // namespace bochner
