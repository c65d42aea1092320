#include <fmt/format.h>

#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/markup.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/laboratory/study.hpp>
#include <cmath>

namespace bochner {
namespace {

void add_error(Chart& chart, const std::string& name, const EstimatorStudy& study) {
  Series measured{.name = name}, exact{.name = "closed form, iid draws", .mark = Mark::dashed};
  measured.mark = Mark::line_and_points;
  measured.colour = exact.colour = int(chart.series.size()) / 2;
  for (const ErrorAtM& row : study.rows) {
    measured.x.push_back(double(row.m));
    measured.y.push_back(row.error);
    measured.low.push_back(row.error_low);
    measured.high.push_back(row.error_high);
    if (!row.exact_error) continue;
    exact.x.push_back(double(row.m));
    exact.y.push_back(*row.exact_error);
  }
  if (exact.x.empty()) exact.name = "";
  chart.series.push_back(measured);
  chart.series.push_back(exact);
}

std::string error_chart(const KernelStudy& study) {
  Chart chart{.title = "Error against m",
              .x = {"m", Scale::logarithmic},
              .y = {"relative error", Scale::logarithmic},
              .note = "median over pairs; the band holds the middle half"};
  add_error(chart, "frequencies N(0, I)", study.standard);
  if (study.configured) add_error(chart, "density as configured", *study.configured);
  return draw(chart);
}

std::string angle_chart(const KernelStudy& study) {
  Chart chart{.title = "Error over angle and norm",
              .x = {"angle between query and key, degrees", Scale::linear, 0.0, 180.0},
              .y = {"relative error", Scale::logarithmic, 1e-4},
              .note = fmt::format("m = {}; dashed: closed form", study.standard.rows.back().m)};
  for (std::size_t i = 0; i < study.angles.size(); ++i) {
    const AngleCurve& curve = study.angles[i];
    chart.series.push_back({.name = fmt::format("|x| = {}", curve.norm),
                            .x = curve.measured.x,
                            .y = curve.measured.y,
                            .colour = int(i)});
    chart.series.push_back({.name = "",
                            .x = curve.exact.x,
                            .y = curve.exact.y,
                            .mark = Mark::dashed,
                            .colour = int(i)});
  }
  return draw(chart);
}

std::string curve_chart(const std::string& title, const Axis& x, const Axis& y, const Curve& curve,
                        const Curve& exact) {
  Chart chart{.title = title, .x = x, .y = y};
  chart.series.push_back({.name = exact.x.empty() ? "" : "the draws", .x = curve.x, .y = curve.y});
  if (!exact.x.empty())
    chart.series.push_back(
        {.name = "closed form", .x = exact.x, .y = exact.y, .mark = Mark::dashed});
  return draw(chart);
}

std::string maps_chart(const KernelStudy& study) {
  BarChart chart{.title = fmt::format("Maps at m = {}", study.maps.front().result.m),
                 .label = "distance of attention rows from softmax"};
  chart.series.push_back({"attention", {}});
  for (const MapComparison& map : study.maps) {
    chart.groups.push_back(map.features);
    chart.series[0].values.push_back(map.result.attention);
  }
  return draw(chart);
}

std::string cell(const std::optional<double>& number) {
  return number ? short_number(*number) : "–";
}

Table table_of(const EstimatorStudy& study) {
  Table table{
      {"m", "features", "bias, σ", "variance", "closed form", "error", "closed form", "attention"},
      {}};
  for (const ErrorAtM& row : study.rows)
    table.rows.push_back(
        {fmt::format("{}", row.m), fmt::format("{}", row.features),
         row.is_skewed() ? "–" : short_number(std::round(10 * row.bias_sigmas) / 10),
         short_number(row.variance), cell(row.exact_variance), short_number(row.error),
         cell(row.exact_error), short_number(row.attention)});
  return table;
}

}  // namespace

void add_study(Page& page, const KernelStudy& study, double wanted) {
  page.section(study.sample);
  for (const std::string& line : advice(study, wanted)) page.paragraph(line + ".");
  const ErrorAtM& last = study.standard.rows.back();
  page.figures(
      {{short_number(last.expected_error()),
        fmt::format("expected relative error at m = {}", last.m)},
       {count_of_features(study.standard.needed(wanted)),
        fmt::format("m for an error of {}", wanted)},
       {short_number(study.sum_norm), "median |x + y|²"},
       {short_number(study.definiteness.smallest), "smallest eigenvalue over the largest"}});
  std::vector<std::string> charts{error_chart(study), angle_chart(study)};
  charts.push_back(curve_chart("Spectrum p(ω)", {"ω, any coordinate"},
                               {"density", Scale::linear, 0.0}, study.spectrum, {}));
  charts.push_back(curve_chart("Kernel k(δ)", {"δ along an axis"}, {"k(δ), mean over the axes"},
                               study.kernel_of_draws, study.kernel));
  if (study.maps.size() > 1) charts.push_back(maps_chart(study));
  page.charts(charts);
  page.table(table_of(study.standard));
  if (!study.configured) return;
  page.section("The density as configured", "Against the mean over all draws.");
  page.table(table_of(*study.configured));
}

}  // namespace bochner
