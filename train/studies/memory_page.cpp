#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <bochner/train/studies/memory_page.hpp>
#include <limits>
#include <numeric>

namespace bochner {
namespace {

/// Returns bin means by lag + 1, logarithmic, in units of the sum of all.
Curve curve_by_lag(const std::vector<double>& values, double unit) {
  const std::vector<std::size_t> bins = lag_bins(values.size());
  Curve curve{{}, binned(values, bins)};
  for (std::size_t i = 0; i + 1 < bins.size(); ++i) {
    curve.x.push_back((double(bins[i]) + double(bins[i + 1] - 1)) / 2 + 1);
    curve.y[i] /= unit;
  }
  return curve;
}

double sum_or_one(const std::vector<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return sum > 0 ? sum : 1;
}

Curve cumulated(const std::vector<double>& values) {
  std::vector<double> sums(values.size());
  std::partial_sum(values.begin(), values.end(), sums.begin());
  return curve_by_lag(sums, sum_or_one(values));
}

Chart chart_by_lag(const std::string& title, const Axis& y) {
  return {.title = title, .x = {"lag + 1, tokens", Scale::logarithmic}, .y = y};
}

/// Ends the axis where the curves end, or at the lowest relevant value.
std::string draw_down_to(double lowest, Chart chart) {
  double least = std::numeric_limits<double>::max();
  for (const Series& series : chart.series)
    for (const double y : series.y)
      if (y > 0) least = std::min(least, y);
  if (least < std::numeric_limits<double>::max()) chart.y.lowest = std::max(lowest, least);
  return draw(chart);
}

/// Adds two charts of the parts of some kind: influence, and its cumulated share.
void add_influence(std::vector<std::string>& charts, const MemoryStudy& study,
                   const std::string& what, const std::vector<std::string>& kinds) {
  Chart each = chart_by_lag(what + ": influence", {"share of the sum", Scale::logarithmic});
  Chart sums = chart_by_lag(what + ": cumulated", {"share up to the lag", Scale::linear, 0., 1.});
  for (const PartMemory& part : study.parts) {
    if (std::ranges::find(kinds, part.part) == kinds.end()) continue;
    const std::vector<double> values = part.influence.by_distance();
    const std::string name =
        part.mixer.empty() ? part.name : fmt::format("{}, {}", part.name, part.mixer);
    each.add(name, curve_by_lag(values, sum_or_one(values)));
    sums.add(fmt::format("{}, half by {}", part.name, half_life(values)), cumulated(values));
  }
  charts.insert(charts.end(), {draw_down_to(1e-6, each), draw(sums)});
}

std::string impulse_chart(const MemoryStudy& study) {
  Chart chart = chart_by_lag("Mixers: impulse response", {"per unit", Scale::logarithmic});
  for (const PartMemory& part : study.parts)
    if (!part.mixer.empty()) chart.add(part.name, curve_by_lag(part.impulse, 1));
  chart.x.label = "tokens since the impulse + 1";
  return draw_down_to(1e-6, chart);
}

std::string attention_chart(const AttentionDecay& decay) {
  Chart chart = chart_by_lag(decay.name + ": attention", {"mean logit less that of lag 0"});
  for (std::size_t h = 0; h < std::min(most_heads, decay.heads.size()); ++h) {
    std::vector<double> logit = decay.heads[h].logit;
    logit.resize(logit.size() - logit.size() / 8);  // the last are means of a few queries
    chart.add(fmt::format("head {}", h), curve_by_lag(logit, 1));
  }
  return draw(chart);
}

}  // namespace

void add_memory(Page& page, const MemoryStudy& study) {
  std::vector<std::string> charts;
  add_influence(charts, study, "Mixers", {"mixer"});
  add_influence(charts, study, "Blocks and model", {"block", "model"});
  charts.push_back(impulse_chart(study));
  for (const AttentionDecay& decay : study.attention) charts.push_back(attention_chart(decay));
  page.section(
      "Memory",
      fmt::format("How strongly an output depends on the input n tokens before, |∂y(t)/∂u(t − n)|, "
                  "on {} windows of {} tokens of the validation data. Blocks pass their input on, "
                  "which is lag 0. Impulse responses are of the first token; logits of the first "
                  "window.",
                  study.windows, study.length));
  page.charts(charts);
}

}  // namespace bochner
