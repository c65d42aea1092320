#include <fmt/format.h>

#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/markup.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/laboratory/study.hpp>
#include <cmath>

namespace bochner {
namespace {

void add_error(Chart& chart, const std::string& name, const EstimatorStudy& study) {
  const int colour = int(chart.series.size()) / 2;
  Series measured{.name = name, .mark = Mark::line_and_points, .colour = colour};
  Curve exact;
  for (const ErrorAtM& row : study.rows) {
    measured.x.push_back(double(row.m));
    measured.y.push_back(row.error);
    measured.low.push_back(row.error_low);
    measured.high.push_back(row.error_high);
    if (!row.exact_error) continue;
    exact.x.push_back(double(row.m));
    exact.y.push_back(*row.exact_error);
  }
  chart.series.push_back(measured);
  chart.add(exact.x.empty() ? "" : "closed form, iid draws", exact, Mark::dashed, colour);
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
    chart.add(fmt::format("|x| = {}", curve.norm), curve.measured, Mark::line, int(i));
    chart.add("", curve.exact, Mark::dashed, int(i));
  }
  return draw(chart);
}

std::string curve_chart(const std::string& title, const Axis& x, const Axis& y, const Curve& curve,
                        const Curve& exact) {
  Chart chart{.title = title, .x = x, .y = y};
  chart.add(exact.x.empty() ? "" : "the draws", curve);
  if (!exact.x.empty()) chart.add("closed form", exact, Mark::dashed);
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
