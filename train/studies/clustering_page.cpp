#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/base/numeric/openblas.hpp>
#include <bochner/train/studies/clustering.hpp>
#include <cmath>
#include <numbers>

namespace bochner {
namespace {

/// Two directions of the largest variance of a mixture; the second is 0 in one dimension.
struct PrincipalAxes {
  std::vector<double> centre;     // (d)
  std::vector<double> direction;  // (2, d)
  double part[2] = {0, 0};        // of the variance

  double score(const double* x, std::size_t axis) const {
    double sum = 0;
    for (std::size_t j = 0; j < centre.size(); ++j)
      sum += direction[axis * centre.size() + j] * (x[j] - centre[j]);
    return sum;
  }
  /// The covariance of two scores.
  double covariance(const std::vector<double>& full, std::size_t a, std::size_t b) const {
    const std::size_t d = centre.size();
    double sum = 0;
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j < d; ++j)
        sum += direction[a * d + i] * full[i * d + j] * direction[b * d + j];
    return sum;
  }
};

PrincipalAxes principal_axes(const std::vector<GaussianComponent>& components) {
  const std::size_t d = components[0].mean.size();
  PrincipalAxes axes{std::vector<double>(d), std::vector<double>(2 * d)};
  std::vector<double> all(d * d);
  for (const auto& [share, mean, covariance] : components)
    for (std::size_t i = 0; i < d; ++i) axes.centre[i] += share * mean[i];
  for (const auto& [share, mean, covariance] : components)
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j < d; ++j)
        all[i * d + j] += share * (covariance[i * d + j] +
                                   (mean[i] - axes.centre[i]) * (mean[j] - axes.centre[j]));
  const SymmetricEigen eigen = symmetric_eigen(all, d);
  double trace = 0;
  for (const double value : eigen.values) trace += value;
  for (std::size_t axis = 0; axis < std::min<std::size_t>(2, d); ++axis) {
    axes.part[axis] = eigen.values[d - 1 - axis] / trace;
    for (std::size_t i = 0; i < d; ++i)
      axes.direction[axis * d + i] = eigen.vectors[i * d + d - 1 - axis];
  }
  return axes;
}

/// The ellipse that holds 95 % of a component, as a closed line.
Curve ellipse(const GaussianComponent& component, const PrincipalAxes& axes) {
  constexpr int points = 90;
  const double radius = std::sqrt(5.991464547107979);  // 95 % quantile of chi^2 with 2 degrees
  const double a = std::sqrt(std::max(0.0, axes.covariance(component.covariance, 0, 0)));
  const double b = a > 0 ? axes.covariance(component.covariance, 0, 1) / a : 0;
  const double c = std::sqrt(std::max(0.0, axes.covariance(component.covariance, 1, 1) - b * b));
  Curve curve;
  for (int i = 0; i <= points; ++i) {
    const double angle = 2 * std::numbers::pi * i / points;
    const double u = radius * std::cos(angle), v = radius * std::sin(angle);
    curve.add(axes.score(component.mean.data(), 0) + a * u,
              axes.score(component.mean.data(), 1) + b * u + c * v);
  }
  return curve;
}

std::string axis_label(const PrincipalAxes& axes, std::size_t axis) {
  return fmt::format("principal axis {}, {:.0f} % of the variance", axis + 1,
                     100 * axes.part[axis]);
}

/// Rows along the first two principal axes; a single column against its density.
Chart scatter(const ClusteredTable& table) {
  const std::size_t d = table.rows.d;
  const auto& components = table.clustering.components;
  const PrincipalAxes axes = principal_axes(components);
  const std::vector<std::size_t> counts = label_counts(table);
  Chart chart{.title = "Rows and components",
              .x = {d == 1 ? table.columns[0] + ", standardized" : axis_label(axes, 0)},
              .y = {d == 1 ? "density" : axis_label(axes, 1)},
              .note = d == 1 ? "" : "ellipses hold 95 % of a component",
              .width = wide_width,
              .height = 560};
  for (std::size_t k = 0; k < components.size(); ++k) {
    Curve points;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      if (table.labels[i] != k) continue;
      const double* row = table.rows.values.data() + i * d;
      points.add(d == 1 ? row[0] : axes.score(row, 0),
                 d == 1 ? std::exp(table.posterior.log_density[i]) : axes.score(row, 1));
    }
    if (counts[k] == 0) continue;
    chart.add(fmt::format("{}: {}", k + 1, format_number_of(counts[k], "row")), std::move(points),
              Mark::points, int(k));
    if (d > 1) chart.add("", ellipse(components[k], axes), Mark::line, int(k));
  }
  return chart;
}

Chart score_chart(const std::vector<HeldOutScore>& scores) {
  Series series{"", {}, {}, {}, {}, Mark::line_and_points, 0};
  for (const auto& [K, mean, error, below, below_error] : scores) {
    series.x.push_back(double(K));
    series.y.push_back(-below);
    series.low.push_back(-below - below_error);
    series.high.push_back(-below + below_error);
  }
  return {.title = "Held-out log likelihood",
          .x = {"components"},
          .y = {"nats a row, below the best"},
          .series = {series},
          .note = "band: a standard error of the difference"};
}

}  // namespace

std::string choice_in_words(const ClusteredTable& table, const ClusteringOptions& options) {
  const std::size_t K = table.clustering.components.size();
  const std::vector<std::size_t> counts = label_counts(table);
  std::string number = format_number_of(K, "component");
  if (const auto empty = std::ranges::count(counts, 0u); empty > 0)
    number += fmt::format(", {} without rows", empty);
  if (options.components > 0) return number + ", as asked";
  if (clustering_method(table.method).finds_number)
    return number + " in the most probable partition";
  const std::size_t best =
      std::ranges::max_element(table.scores, {}, &HeldOutScore::mean)->components;
  if (best == K) return number + ", the best on held-out rows";
  return fmt::format("{}, the fewest within a standard error of the best, {}", number, best);
}

Table component_table(const ClusteredTable& table) {
  Table lines{{"component", "share", "rows"}, {}};
  const std::vector<std::size_t> counts = label_counts(table);
  lines.headers.insert(lines.headers.end(), table.columns.begin(), table.columns.end());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const GaussianComponent& one = table.clustering.components[k];
    lines.rows.push_back(
        {std::to_string(k + 1), fmt::format("{:.3f}", one.share), std::to_string(counts[k])});
    for (std::size_t j = 0; j < table.columns.size(); ++j)
      lines.rows.back().push_back(short_number(table.mean[j] + table.deviation[j] * one.mean[j]));
  }
  return lines;
}

Page clustering_page(const ClusteredTable& table, const std::string& choice) {
  Page page("Clusters of " + table.name,
            fmt::format("{}, {}: {}", clustering_method(table.method).help,
                        format_number_of(table.rows.size(), "row"), choice));
  page.charts({draw(scatter(table))}, card_width(wide_width));
  page.section("Components", "Means of the columns, in their units.");
  page.table(component_table(table));
  if (table.scores.size() < 2) return page;
  page.section("Number of components", "Rows are scored by fits to other rows.");
  page.charts({draw(score_chart(table.scores))});
  return page;
}

}  // namespace bochner
