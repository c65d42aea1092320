#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <bochner/train/studies/memory_study.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace bochner {
namespace {

double total_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Returns the standard error by distance: a root has half the relative error of its square.
std::vector<double> errors_of(const Influence& influence) {
  std::vector<double> squares(influence.by_distance().size());
  for (const LagCurve* curve : {&influence.past, &influence.ahead})
    for (std::size_t n = 0; n < curve->square.size(); ++n)
      if (curve->square[n] > 0) squares[n] += std::pow(curve->error[n], 2) / (4 * curve->square[n]);
  for (double& square : squares) square = std::sqrt(square);
  return squares;
}

std::string half_lives_of(const Influence& influence) {
  const auto [low, high] = std::ranges::minmax(influence.half_lives);
  return fmt::format("{} ({} to {})", half_life(influence.by_distance()), low, high);
}

std::string memory_row(const PartMemory& part, std::size_t width,
                       const std::vector<std::size_t>& beyond) {
  const std::vector<double> values = part.influence.by_distance();
  const double total = total_of(values);
  std::string row = fmt::format("  {:<{}} {:<8} {:>9.3g} {:>7.3f} {:>16}", part.name, width,
                                part.mixer.empty() ? part.part : part.mixer, total,
                                1 - share_beyond(values, 0), half_lives_of(part.influence));
  for (const std::size_t n : beyond) row += fmt::format(" {:>7.3f}", share_beyond(values, n));
  return row + fmt::format(" {:>7.1f} %\n",
                           total > 0 ? 100 * (total_of(errors_of(part.influence)) / total) : 0);
}

Json bins_json(const std::vector<std::size_t>& bins) {
  Json ranges = Json::array();
  for (std::size_t i = 0; i + 1 < bins.size(); ++i)
    ranges.push(Json::array({bins[i], bins[i + 1] - 1}));
  return ranges;
}

Json json_of(const PartMemory& part, const MemoryStudy& study) {
  const std::vector<double> values = part.influence.by_distance();
  const std::vector<std::size_t> bins = lag_bins(values.size());
  const double total = total_of(values);
  Json beyond = Json::array();
  for (std::size_t n = 1; n < values.size(); n *= 2)
    beyond.push(Json::array({n, Json::rounded(share_beyond(values, n))}));
  Json ahead;
  if (!part.influence.ahead.square.empty()) {
    double sum = 0;
    for (const double square : part.influence.ahead.square) sum += std::sqrt(square);
    ahead = Json::rounded(total > 0 ? sum / total : 0);
  }
  std::vector<double> shares = binned(values, bins);
  for (std::size_t i = 0; i < shares.size(); ++i)
    shares[i] *= total > 0 ? double(bins[i + 1] - bins[i]) / total : 0;
  Json json{{"probe", part.name},
            {"part", part.part},
            {"windows", study.windows},
            {"length", study.length},
            {"draws", study.options.probe.draws},
            {"sum", Json::rounded(total)},
            {"itself", Json::rounded(1 - share_beyond(values, 0))},
            {"half_life", half_life(values)},
            {"half_lives", part.influence.half_lives},
            {"beyond", beyond},
            {"share_ahead", ahead},
            {"lags", bins_json(bins)},
            {"influence", Json::rounded(binned(values, bins))},
            {"error", Json::rounded(binned(errors_of(part.influence), bins))},
            {"share", Json::rounded(shares)}};
  if (part.mixer.empty()) return json;
  json.set("mixer", part.mixer);
  return json.set("impulse_lags", bins_json(lag_bins(part.impulse.size())))
      .set("impulse", Json::rounded(binned(part.impulse, lag_bins(part.impulse.size()))));
}

Json json_of(const AttentionDecay& decay) {
  const std::vector<std::size_t> bins = lag_bins(decay.heads.front().weight.size());
  Json heads = Json::array();
  for (const HeadDecay& head : decay.heads)
    heads.push(Json{{"weight", Json::rounded(binned(head.weight, bins))},
                    {"logit", Json::rounded(binned(head.logit, bins))}});
  return {{"attention", decay.name},
          {"by", decay.by_features ? "features" : "softmax"},
          {"lags", bins_json(bins)},
          {"heads", heads}};
}

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

std::string memory_text(const MemoryStudy& study) {
  std::vector<std::size_t> beyond;
  for (std::size_t n = 4; n < study.length; n *= 4) beyond.push_back(n);
  std::size_t width = 4;
  for (const PartMemory& part : study.parts) width = std::max(width, part.name.size());
  std::string text = fmt::format(
      "memory   |dy(t)/du(t - n)| on {} of {}, {}; shares of its sum over n\n"
      "  {:<{}} {:<8} {:>9} {:>7} {:>16}",
      format_number_of(study.windows, "window"), format_number_of(study.length, "token"),
      study.options.probe.draws > 0 ? format_number_of(study.options.probe.draws, "draw") + " each"
                                    : "exact",
      "name", width, "kind", "sum", "n = 0", "half-life");
  for (const std::size_t n : beyond) text += fmt::format(" {:>7}", fmt::format("n > {}", n));
  text += fmt::format(" {:>9}\n", "error");
  for (const PartMemory& part : study.parts) text += memory_row(part, width, beyond);
  return text;
}

std::string memory_json(const MemoryStudy& study) {
  std::string text;
  for (const PartMemory& part : study.parts) text += json_of(part, study).line() + "\n";
  for (const AttentionDecay& decay : study.attention) text += json_of(decay).line() + "\n";
  return text;
}

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
