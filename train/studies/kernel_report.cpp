#include <fmt/format.h>

#include <bochner/autodiff/real.hpp>
#include <bochner/base/format.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/studies/kernel_study.hpp>
#include <cmath>
#include <limits>

namespace bochner {
namespace {

constexpr const char* against_draws =
    "against the mean over all draws, bias against those of other m";
constexpr const char* of_all_seeds =
    "errors are over draws and initial parameters of all seeds; closed forms hold for iid draws, "
    "and are the mean over the same parameters";

/// Formats "3.2e+09", or "256" below a million.
std::string count_of_features(double m) {
  return m < 1e6 ? fmt::format("{:.0f}", m) : fmt::format("{:.1e}", m);
}

std::string text_table(const EstimatorStudy& study) {
  std::string text =
      fmt::format("  {:>6} {:>6} {:>9} {:>7} {:>10} {:>11} {:>9} {:>11} {:>9}\n", "m", "F", "bias",
                  "sigmas", "variance", "closed form", "error", "closed form", "attention");
  for (const ErrorAtM& row : study.rows)
    text += fmt::format("  {:>6} {:>6} {:>9} {:>7} {:>10.3g} {:>11} {:>9.3g} {:>11} {:>9.3f}\n",
                        row.m, row.features, row.bias ? fmt::format("{:.1e}", *row.bias) : "-",
                        row.shown_sigmas() ? fmt::format("{:.1f}", *row.shown_sigmas()) : "-",
                        row.variance, number_or_dash(row.exact_variance), row.error,
                        number_or_dash(row.exact_error), row.attention);
  return text;
}

std::string maps_table(const KernelStudy& study) {
  if (study.maps.size() < 2) return "";
  std::string text =
      fmt::format("maps at m = {}, the best first\n  {:<20} {:>6} {:>9} {:>9}\n",
                  study.maps.front().result.m, "features", "F", "error", "attention");
  for (const MapComparison& map : study.maps)
    text += fmt::format("  {:<20} {:>6} {:>9.3g} {:>9.3f}\n", map.features, map.result.features,
                        map.result.error, map.result.attention);
  return text;
}

Json json_of(const ErrorAtM& row) {
  Json json = {{"m", row.m},
               {"features", row.features},
               {"variance", row.variance},
               {"error", row.error},
               {"error_quartiles", Json::array({row.error_low, row.error_high})},
               {"attention", row.attention}};
  if (row.bias) json.set("bias", *row.bias);
  if (row.bias_sigmas) json.set("bias_sigmas", *row.bias_sigmas);
  if (row.exact_variance) json.set("exact_variance", *row.exact_variance);
  if (row.exact_error) json.set("exact_error", *row.exact_error);
  return json;
}

Json json_of(const EstimatorStudy& study) {
  Json rows = Json::array();
  for (const ErrorAtM& row : study.rows) rows.push(json_of(row));
  return rows;
}

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
    exact.add(double(row.m), *row.exact_error);
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

std::string spectrum_chart(const Spectrum& spectrum) {
  Chart chart{.title = spectrum.title(),
              .x = {"ω, any coordinate"},
              .y = {"density", Scale::linear, 0.0},
              .note = "ticks: the draws"};
  add_spectrum(chart, "", spectrum, Mark::line, 0);
  return draw(chart);
}

std::string kernel_chart(const Curve& curve, const Curve& exact) {
  Chart chart{.title = "Kernel k(δ)", .x = {"δ along an axis"}, .y = {"k(δ), mean over the axes"}};
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
         row.shown_sigmas() ? short_number(std::round(10 * *row.shown_sigmas()) / 10) : "–",
         short_number(row.variance), cell(row.exact_variance), short_number(row.error),
         cell(row.exact_error), short_number(row.attention)});
  return table;
}

}  // namespace

std::string number_or_dash(const std::optional<double>& number) {
  return number ? fmt::format("{:.3g}", *number) : "-";
}

std::vector<std::string> advice(const KernelStudy& study, double wanted) {
  const ErrorAtM& last = study.standard.rows.back();
  std::vector<std::string> lines;
  if (!study.standard.has_closed_kernel) {
    lines.push_back(
        fmt::format("{} estimates no known kernel; error is against its own mean: {:.2g} at m = {}",
                    study.features, last.error, last.m));
    return lines;
  }
  const double expected = last.expected_error();
  lines.push_back(fmt::format("expected relative error {:.2g} at m = {}; m = {} needed for {:.2g}",
                              expected, last.m, count_of_features(study.standard.needed(wanted)),
                              wanted));
  if (!study.maps.empty() && study.maps.front().features != study.features) {
    const MapComparison& best = study.maps.front();
    lines.push_back(
        fmt::format("use features = \"{}\": its attention is {:.2f} from softmax at m = {}",
                    best.features, best.result.attention, best.result.m));
  }
  if (study.largest_exponent > study.exponent_bound)
    lines.push_back(
        fmt::format("|x|^2 / (2 sqrt(d)) reaches {:.3g}, but trigonometric features, also in "
                    "hybrids, clip it to "
                    "{:.3g}: make queries and keys smaller",
                    study.largest_exponent, study.exponent_bound));
  if (expected > 0.5)
    lines.push_back(fmt::format(
        "queries and keys are large (median |x + y|^2 = {:.3g}): divide them by {:.2g}, or learn "
        "the density so that short frequencies start the training",
        study.sum_norm, std::sqrt(study.sum_norm / std::log1p(double(last.m) * wanted * wanted))));
  if (last.is_skewed())
    lines.push_back(fmt::format(
        "so skewed that {} seeds do not show the tails: trust the closed forms", study.seeds));
  if (last.error < 0.8 * expected && !last.is_skewed())
    lines.push_back(fmt::format("draws = \"{}\" already save {:.0f} % of the error of iid draws",
                                study.draws, 100 * (1 - last.error / expected)));
  return lines;
}

std::string study_text(const KernelStudy& study, double wanted) {
  std::string text = fmt::format(
      "kernel   {}, density {}, draws {}, d {}\n"
      "sample   {}; median |x + y|^2 {:.3g}, spread of q.k/sqrt(d) {:.3g}\n",
      study.features, study.density, study.draws, study.dim, study.sample, study.sum_norm,
      study.log_kernel_spread);
  text += study.standard.is_softmax ? "frequencies from N(0, I), against exp(q.k/sqrt(d))\n"
          : study.standard.has_closed_kernel
              ? "frequencies from N(0, I), against the map's own kernel\n"
              : fmt::format("frequencies from N(0, I), {}\n", against_draws);
  text += text_table(study.standard) + fmt::format("  {}\n", of_all_seeds);
  if (!study.infinite.empty())
    text += fmt::format("density {}: {}\n", study.density, study.infinite);
  if (study.configured)
    text += fmt::format("density {}, log_scale {}, {}\n", study.density, study.log_scale,
                        against_draws) +
            text_table(*study.configured);
  text += maps_table(study);
  if (study.definiteness)
    text += fmt::format("definite smallest eigenvalue {:.1e} of the largest, asymmetry {:.1e}\n",
                        study.definiteness->smallest, study.definiteness->asymmetry);
  for (const std::string& line : advice(study, wanted)) text += "advice   " + line + "\n";
  return text;
}

std::string study_json(const KernelStudy& study, double wanted) {
  Json json = {{"features", study.features},
               {"density", study.density},
               {"draws", study.draws},
               {"d", study.dim},
               {"seeds", study.seeds},
               {"sample", study.sample},
               {"median_sum_norm", study.sum_norm},
               {"closed_kernel", study.standard.has_closed_kernel},
               {"standard", json_of(study.standard)},
               {"wanted_error", wanted},
               {"needed_m", study.standard.needed(wanted)},
               {"advice", advice(study, wanted)}};
  if (study.configured) json.set("configured", json_of(*study.configured));
  if (!study.infinite.empty()) json.set("infinite", study.infinite);
  if (study.definiteness)
    json.set("smallest_eigenvalue", study.definiteness->smallest)
        .set("asymmetry", study.definiteness->asymmetry);
  if (study.maps.empty()) return json.line();
  Json maps;
  for (const MapComparison& map : study.maps)
    maps.push(json_of(map.result).set("map", map.features));
  return json.set("maps", maps).line();
}

void add_study(Page& page, const KernelStudy& study, double wanted) {
  page.section(study.sample);
  for (const std::string& line : advice(study, wanted)) page.paragraph(line + ".");
  const ErrorAtM& last = study.standard.rows.back();
  std::vector<Figure> figures{{short_number(last.expected_error()),
                               fmt::format("expected relative error at m = {}", last.m)},
                              {count_of_features(study.standard.needed(wanted)),
                               fmt::format("m for an error of {}", wanted)},
                              {short_number(study.sum_norm), "median |x + y|²"}};
  if (study.definiteness)
    figures.push_back(
        {short_number(study.definiteness->smallest), "smallest eigenvalue over the largest"});
  page.figures(figures);
  std::vector<std::string> charts{error_chart(study), angle_chart(study)};
  charts.push_back(spectrum_chart(study.spectrum));
  charts.push_back(kernel_chart(study.kernel_of_draws, study.kernel));
  if (study.maps.size() > 1) charts.push_back(maps_chart(study));
  page.charts(charts);
  page.paragraph(fmt::format("Frequencies from N(0, I): {}.", of_all_seeds));
  page.table(table_of(study.standard));
  if (!study.infinite.empty()) page.paragraph(study.infinite + ".");
  if (!study.configured) return;
  page.section("The density as configured", fmt::format("Measured {}.", against_draws));
  page.table(table_of(*study.configured));
}

std::vector<double> deviations_of(const Estimates& all, const std::vector<double>& kernel,
                                  const std::vector<double>& known) {
  std::vector<double> means;
  for (const std::vector<double>& values : all) {
    double sum = 0, weights = 0;
    for (std::size_t p = 0; p < kernel.size(); ++p) {
      const double weight = 1 / (1e-9 + known[p]);
      if (!(weight > 0)) continue;  // infinite variance, or a ratio of infinite ones
      sum += weight * (values[p] / kernel[p] - 1);
      weights += weight;
    }
    means.push_back(sum / weights);
  }
  return means;
}

std::vector<std::vector<double>> less_others(const std::vector<std::vector<double>>& deviations,
                                             const std::vector<std::size_t>& m) {
  std::vector<std::vector<double>> rest(m.size());
  for (std::size_t r = 0; r < m.size() && m.size() > 1; ++r)
    for (std::size_t seed = 0; seed < deviations[r].size(); ++seed) {
      double sum = 0, weight = 0;
      for (std::size_t other = 0; other < m.size(); ++other) {
        if (other == r) continue;
        sum += double(m[other]) * deviations[other][seed];
        weight += double(m[other]);
      }
      rest[r].push_back(deviations[r][seed] - sum / weight);
    }
  return rest;
}

void summarize_bias(ErrorAtM& row, const std::vector<double>& deviations) {
  // Rounding errors are not bias: pairs without variance prove nothing.
  constexpr double rounding = 64 * double(std::numeric_limits<real>::epsilon());
  if (deviations.empty()) return;
  const double S = double(deviations.size()), bias = mean_of(deviations);
  row.bias = bias;
  if (S > 1)
    row.bias_sigmas = bias / std::hypot(std::sqrt(scatter_of(deviations) / (S - 1) / S), rounding);
}

}  // namespace bochner
