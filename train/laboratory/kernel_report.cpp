#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/laboratory/attention_maps.hpp>
#include <bochner/train/laboratory/kernel_metrics.hpp>
#include <bochner/train/laboratory/learned_pages.hpp>
#include <bochner/train/laboratory/spectrum.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_map_layers = 6;  // whose maps are drawn
constexpr std::size_t map_positions = 64, lag_positions = 256;

std::string short_layer(const std::string& name) {
  return name.ends_with(".mixer") ? name.substr(0, name.size() - 6) : name;
}

/// Start and now of each head in one colour, the start dashed.
void add_pair(Chart& chart, std::size_t head, const Curve& start, const Curve& now) {
  const std::string name = fmt::format("head {}", head);
  chart.series.push_back({.name = head == 0 ? "at the start" : "",
                          .x = start.x,
                          .y = start.y,
                          .mark = Mark::dashed,
                          .colour = int(head)});
  chart.series.push_back({.name = name, .x = now.x, .y = now.y, .colour = int(head)});
}

std::vector<std::string> spectrum_charts(const AttentionLayer& start, const AttentionLayer& now) {
  const Tensor first = frequencies_of(*start.density), last = frequencies_of(*now.density);
  const double reach = std::max(spectral_reach(first), spectral_reach(last));
  const double far = 4 / std::max(1e-12, std::min(bandwidth(first), bandwidth(last)));
  const std::string drift = fmt::format("drift {:.3f}", spectral_drift(last, first));
  Chart spectrum{.title = short_layer(now.name) + ": spectrum p(ω)",
                 .x = {"ω, any coordinate"},
                 .y = {"density", Scale::linear, 0.0},
                 .note = drift};
  Chart kernel{.title = short_layer(now.name) + ": kernel k(δ)",
               .x = {"δ along an axis"},
               .y = {"k(δ), mean over the axes"},
               .note = drift};
  for (std::size_t h = 0; h < std::min(most_heads, last.shape()[0]); ++h) {
    add_pair(spectrum, h, spectrum_curve(first, h, -reach, reach),
             spectrum_curve(last, h, -reach, reach));
    add_pair(kernel, h, kernel_curve(*start.density, first, h, far),
             kernel_curve(*now.density, last, h, far));
  }
  return {draw(spectrum), draw(kernel)};
}

/// Relative to lag 0; gates at their mean over the tokens.
Curve time_kernel(const AttentionSample& sample, std::size_t head, double longest) {
  const std::size_t H = sample.q.shape()[2], n = sample.rate.size() / H;
  double rate = 0;
  for (std::size_t t = 0; t < n; ++t) rate += double(sample.rate.data()[t * H + head]) / double(n);
  const bool rotates = sample.rotation.dimension() == 2;
  const double frequency = rotates ? double(sample.rotation(head, 0)) : 0;
  const double amplitude = rotates ? double(sample.rotation(head, 1)) : 0;
  Curve curve;
  for (int i = 0; i <= 160; ++i) {
    const double lag = longest * i / 160;
    const double turn = (1 + amplitude * std::cos(frequency * lag)) / (1 + amplitude);
    curve.x.push_back(lag);
    curve.y.push_back(std::exp(-rate * lag) * turn);
  }
  return curve;
}

std::string time_kernel_chart(const std::string& layer, const AttentionSample& start,
                              const AttentionSample& now) {
  const double longest = double(now.q.shape()[1]);
  Chart chart{.title = short_layer(layer) + ": time kernel",
              .x = {"lag, tokens"},
              .y = {"K(lag) / K(0)", Scale::linear, 0.0, 1.0}};
  for (std::size_t h = 0; h < std::min(most_heads, now.q.shape()[2]); ++h)
    add_pair(chart, h, time_kernel(start, h, longest), time_kernel(now, h, longest));
  return draw(chart);
}

std::string lag_chart(const std::string& layer, const std::vector<AttentionMaps>& heads) {
  Chart chart{.title = short_layer(layer) + ": attention by lag",
              .x = {"lag + 1, tokens", Scale::logarithmic},
              .y = {"mean weight", Scale::logarithmic, 1e-5}};
  const auto add = [&](const Tensor& weights, std::size_t head, bool exact) {
    if (weights.dimension() == 0) return;
    std::vector<double> mean = weight_by_lag(weights), lag(mean.size());
    mean.resize(mean.size() - mean.size() / 8);  // the last lags are means of a few queries
    for (std::size_t i = 0; i < lag.size(); ++i) lag[i] = double(i + 1);
    lag.resize(mean.size());
    const std::string name = !exact ? fmt::format("head {}", head) : head == 0 ? "exact" : "";
    chart.series.push_back({.name = name,
                            .x = lag,
                            .y = mean,
                            .mark = exact ? Mark::dashed : Mark::line,
                            .colour = int(head)});
  };
  for (std::size_t h = 0; h < std::min(most_heads, heads.size()); ++h) {
    add(heads[h].exact, h, true);
    add(heads[h].estimated, h, false);
  }
  return draw(chart);
}

/// The root brings out small weights; what a query cannot see is left blank.
HeatMap picture_of(const Tensor& weights, const std::string& title, bool causal) {
  const std::size_t T = weights.shape()[0];
  HeatMap map{.title = title, .x_label = "key", .y_label = "query", .rows = T, .columns = T};
  for (std::size_t i = 0; i < T * T; ++i) {
    const double weight = double(weights.data()[i]);
    const bool hidden = causal && i % T > i / T;
    map.values.push_back(hidden ? std::nan("") : std::sqrt(std::max(0.0, weight)));
  }
  map.lowest = 0.0;
  map.highest = 1.0;
  return map;
}

void add_maps(Page& page, const AttentionLayer& layer, const AttentionSample& sample) {
  const std::vector<AttentionMaps> heads = attention_maps(layer, sample, map_positions);
  std::vector<std::string> pictures;
  for (std::size_t h = 0; h < std::min(most_heads, heads.size()); ++h) {
    const std::string head = fmt::format("head {}", h);
    pictures.push_back(draw(picture_of(heads[h].exact, head + ", exact", sample.causal)));
    if (heads[h].estimated.dimension() == 0) continue;
    const double distance = total_variation(heads[h].exact, heads[h].estimated);
    pictures.push_back(draw(picture_of(
        heads[h].estimated, fmt::format("{}, map (apart {:.2f})", head, distance), sample.causal)));
  }
  page.section(short_layer(layer.name) + ": attention weights");
  page.charts(pictures, 230);
}

}  // namespace

void add_spectra(Page& page, const std::vector<AttentionLayer>& start,
                 const std::vector<AttentionLayer>& now) {
  std::vector<std::string> charts;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (!now[i].density) continue;
    for (std::string& chart : spectrum_charts(start[i], now[i])) charts.push_back(std::move(chart));
  }
  if (charts.empty()) return;
  page.section(
      "Spectra and kernels",
      "Dashed: at the start of the run. By Bochner's theorem k(δ) is the Fourier transform "
      "of p(ω).");
  page.charts(charts);
}

void add_attention(Page& page, const std::vector<AttentionLayer>& layers,
                   const std::vector<AttentionSample>& start,
                   const std::vector<AttentionSample>& now) {
  std::vector<std::string> charts;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (now[i].q.dimension() != 4) continue;
    if (now[i].rate.dimension() > 0)
      charts.push_back(time_kernel_chart(layers[i].name, start[i], now[i]));
    if (now[i].causal)
      charts.push_back(lag_chart(layers[i].name, attention_maps(layers[i], now[i], lag_positions)));
  }
  if (!charts.empty()) {
    page.section("Time",
                 "On the first validation example. By lag: dashed is softmax attention of "
                 "the same queries and keys, with the same time kernel.");
    page.charts(charts);
  }
  page.section(
      "Attention maps",
      "First positions of the first validation example, colour by the root of the weight. "
      "Exact is softmax of the same queries and keys; apart is half the mean absolute "
      "difference of a row: 0 equal, 1 elsewhere. A learned kernel may differ from softmax "
      "because that is better.");
  for (std::size_t i = 0; i < std::min(most_map_layers, layers.size()); ++i)
    if (now[i].q.dimension() == 4) add_maps(page, layers[i], now[i]);
}

}  // namespace bochner::inline BOCHNER_PRECISION
