#include <fmt/format.h>

#include <algorithm>
#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/layers/features/weights.hpp>
#include <bochner/train/run/instruments/density_curves.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr double longest_time = 64;  // in units of the encoding
constexpr std::size_t time_points = 321, lambda_points = 161;

void add_density(std::vector<LearnedCurve>& curves, const AttentionLayer& start,
                 const AttentionLayer& now) {
  const auto [first, last, reach, far] = trained_spectrum(*start.density, *now.density);
  for (const bool at_start : {true, false}) {
    const Tensor& frequencies = at_start ? first : last;
    SpectralDensity& density = at_start ? *start.density : *now.density;
    for (std::size_t h = 0; h < frequencies.shape()[0]; ++h) {
      Spectrum spectrum = spectrum_of(density, frequencies, h, reach);
      curves.push_back({now.name, spectrum.key(), h, at_start, std::move(spectrum.density)});
      curves.push_back(
          {now.name, "kernel", h, at_start, kernel_curve(density, frequencies, h, far)});
    }
  }
}

void add_time_factor(std::vector<LearnedCurve>& curves, const std::string& layer,
                     const AttentionSample& sample, bool at_start) {
  if (sample.q.dimension() != 4 || sample.rate.dimension() == 0) return;
  const double longest = double(sample.q.shape()[1]);
  for (std::size_t h = 0; h < sample.q.shape()[2]; ++h) {
    curves.push_back({layer, "time_kernel", h, at_start, time_factor(sample, h, longest)});
    if (sample.rotation.dimension() == 3)
      curves.push_back({layer, "time_spectrum", h, at_start, time_spectrum(sample, h, longest)});
  }
}

void add_time_encodings(std::vector<LearnedCurve>& curves, Module& model, bool at_start) {
  for (const NamedPart& part : parts_of(model))
    if (auto* encoding = dynamic_cast<TimeEncoding*>(part.part)) {
      Curve curve{places(0, longest_time, time_points), {}};
      curve.y = estimated_time_kernel(*encoding, curve.x);
      curves.push_back({part.name, "time_encoding", 0, at_start, std::move(curve)});
    }
}

constexpr std::size_t map_positions = 64, lag_positions = 256;

std::string short_layer(const std::string& name) {
  return name.ends_with(".mixer") ? name.substr(0, name.size() - 6) : name;
}

/// Adds start and now of a head in one colour, the start dashed.
void add_pair(Chart& chart, std::size_t head, const Curve& start, const Curve& now) {
  chart.add(head == 0 ? "at the start" : "", start, Mark::dashed, int(head));
  chart.add(fmt::format("head {}", head), now, Mark::line, int(head));
}

void add_density_charts(std::vector<std::string>& charts, const AttentionLayer& start,
                        const AttentionLayer& now) {
  const auto [first, last, reach, far] = trained_spectrum(*start.density, *now.density);
  const std::string drift = fmt::format("drift {:.3f}", spectral_drift(last, first));
  Chart spectrum{.title = "",
                 .x = {"ω, any coordinate"},
                 .y = {"density", Scale::linear, 0.0},
                 .note = drift + "; ticks: the draws"};
  Chart kernel{.title = short_layer(now.name) + ": kernel k(δ)",
               .x = {"δ along an axis"},
               .y = {"k(δ), mean over the axes"},
               .note = drift};
  for (std::size_t h = 0; h < std::min(most_heads, last.shape()[0]); ++h) {
    const Spectrum learned = spectrum_of(*now.density, last, h, reach);
    spectrum.title = fmt::format("{}: {}", short_layer(now.name), learned.title());
    add_spectrum(spectrum, h == 0 ? "at the start" : "",
                 spectrum_of(*start.density, first, h, reach), Mark::dashed, int(h));
    add_spectrum(spectrum, fmt::format("head {}", h), learned, Mark::line, int(h));
    add_pair(kernel, h, kernel_curve(*start.density, first, h, far),
             kernel_curve(*now.density, last, h, far));
  }
  charts.insert(charts.end(), {draw(spectrum), draw(kernel)});
}

std::vector<std::string> time_kernel_charts(const std::string& layer, const AttentionSample& start,
                                            const AttentionSample& now) {
  const double longest = double(now.q.shape()[1]);
  Chart kernel{.title = short_layer(layer) + ": time kernel",
               .x = {"lag, tokens"},
               .y = {"K(lag) / K(0)", Scale::linear, 0.0, 1.0}};
  Chart spectrum{.title = short_layer(layer) + ": its spectrum",
                 .x = {"ν, radians per token", Scale::logarithmic},
                 .y = {"density", Scale::logarithmic, 1e-4},
                 .note = fmt::format("drift of the frequencies {:.3f}", time_drift(now, start))};
  for (std::size_t h = 0; h < std::min(most_heads, now.q.shape()[2]); ++h) {
    add_pair(kernel, h, time_factor(start, h, longest), time_factor(now, h, longest));
    add_pair(spectrum, h, time_spectrum(start, h, longest), time_spectrum(now, h, longest));
  }
  std::vector<std::string> charts{draw(kernel)};
  if (now.rotation.dimension() == 3) charts.push_back(draw(spectrum));
  return charts;
}

std::string lag_chart(const std::string& layer, const std::vector<AttentionMaps>& heads) {
  Chart chart{.title = short_layer(layer) + ": attention by lag",
              .x = {"lag + 1, tokens", Scale::logarithmic},
              .y = {"mean weight", Scale::logarithmic, 1e-5}};
  const bool estimated = !heads.empty() && heads[0].estimated.dimension() > 0;
  const auto add = [&](const Tensor& weights, std::size_t head, bool exact) {
    if (weights.dimension() == 0) return;
    Curve curve{{}, weight_by_lag(weights)};
    curve.y.resize(curve.y.size() - curve.y.size() / 8);  // the last are means of a few queries
    for (std::size_t i = 0; i < curve.y.size(); ++i) curve.x.push_back(double(i + 1));
    const bool beside = exact && estimated;  // the map has the solid line and the name
    const std::string name = !beside ? fmt::format("head {}", head) : head == 0 ? "exact" : "";
    chart.add(name, std::move(curve), beside ? Mark::dashed : Mark::line, int(head));
  };
  for (std::size_t h = 0; h < std::min(most_heads, heads.size()); ++h) {
    add(heads[h].exact, h, true);
    add(heads[h].estimated, h, false);
  }
  return draw(chart);
}

/// Draws roots of weights, to show small ones; keys that a query cannot see are blank.
HeatMap picture_of(const Tensor& weights, const std::string& title, bool causal) {
  const std::size_t T = weights.shape()[0];
  HeatMap map{.title = title,
              .x_label = "key",
              .y_label = "query",
              .rows = T,
              .columns = T,
              .lowest = 0.0,
              .highest = 1.0};
  for (std::size_t i = 0; i < T * T; ++i) {
    const double weight = double(weights.data()[i]);
    const bool hidden = causal && i % T > i / T;
    map.values.push_back(hidden ? std::nan("") : std::sqrt(std::max(0.0, weight)));
  }
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
  page.charts(pictures, card_width(heat_map_width));
}

/// Returns the kernel of the features themselves, which the model uses, over K(0).
Curve scaled_kernel(TimeEncoding& encoding, double reach) {
  Curve curve{places(0, reach, 321), {}};
  curve.y = estimated_time_kernel(encoding, curve.x);
  const double scale = curve.y.front() == 0 ? 1 : curve.y.front();
  for (double& y : curve.y) y /= scale;
  return curve;
}

std::string kernel_chart(const std::string& name, TimeEncoding& start, TimeEncoding& now,
                         double reach) {
  Chart chart{.title = name, .x = {"lag, median gaps"}, .y = {"K(lag) / K(0)"}};
  const Curve learned = scaled_kernel(now, reach);
  chart.add("at the start", scaled_kernel(start, reach), Mark::dashed, 0);
  chart.add("learned", learned, Mark::line, 0);
  if (const auto kernel = now.kernel()) {
    Curve expected{learned.x, {}};
    for (const double lag : expected.x) expected.y.push_back(kernel(lag) / kernel(0));
    const auto is_near = [](double x, double y) { return std::abs(x - y) < 1e-3; };
    if (!std::ranges::equal(expected.y, learned.y, is_near))
      chart.add("in closed form", expected, Mark::line, 1);
  }
  return draw(chart);
}

/// Returns ln lambda of one head as one row: (B, T, H, m) -> (1, B T, m)
Tensor of_head(const Tensor& logs, std::size_t head) {
  const std::size_t H = logs.shape()[2], m = logs.shape()[3], tokens = logs.size() / (H * m);
  Tensor y = uninitialized({1, tokens, m});
  for (std::size_t t = 0; t < tokens; ++t)
    std::copy_n(logs.data() + (t * H + head) * m, m, y.data() + t * m);
  return y;
}

/// Returns the mean over features of the standard deviation over inputs. (1, n, m)
double spread_over_inputs(const Tensor& logs) {
  const std::size_t n = logs.shape()[1], m = logs.shape()[2];
  double total = 0;
  for (std::size_t f = 0; f < m; ++f) {
    std::vector<double> column(n);
    for (std::size_t i = 0; i < n; ++i) column[i] = double(logs.data()[i * m + f]);
    total += deviation_of(column) / double(m);
  }
  return total;
}

std::string lambda_chart(const std::string& layer, LearnedWeights& map, const Tensor& keys) {
  const Tensor logs = evaluated([&](Tape& tape) { return map.log_weights(tape, tape.view(keys)); });
  const double reach = spectral_reach(of_head(logs, 0));
  double spread = 0;
  const std::size_t H = logs.shape()[2];
  Chart chart{.title = layer + ": λ(x)",
              .x = {"ln λ; 0 at the start"},
              .y = {"density of the keys, smoothed", Scale::linear, 0.0}};
  for (std::size_t h = 0; h < H; ++h) {
    const Tensor head = of_head(logs, h);
    spread += spread_over_inputs(head) / double(H);
    if (h >= most_heads) continue;
    chart.add(fmt::format("head {}", h),
              smoothed_density({head.data(), head.data() + head.size()},
                               places(-reach, reach, lambda_points), reach / 200));
  }
  chart.note = fmt::format("a feature's ln λ varies by {:.3f} over inputs", spread);
  return draw(chart);
}

}  // namespace

std::vector<LearnedCurve> learned_curves(Module& start, Module& now,
                                         const std::vector<AttentionSample>& start_samples,
                                         const std::vector<AttentionSample>& samples) {
  const std::vector<AttentionLayer> first = attention_layers(start), last = attention_layers(now);
  std::vector<LearnedCurve> curves;
  for (std::size_t i = 0; i < last.size(); ++i) {
    if (last[i].density) add_density(curves, first[i], last[i]);
    if (i < start_samples.size()) add_time_factor(curves, last[i].name, start_samples[i], true);
    if (i < samples.size()) add_time_factor(curves, last[i].name, samples[i], false);
  }
  add_time_encodings(curves, start, true);
  add_time_encodings(curves, now, false);
  return curves;
}

Json json_of(const LearnedCurve& curve) {
  return {{"part", curve.part},
          {"curve", curve.curve},
          {"head", curve.head},
          {"of", curve.at_start ? "start" : "now"},
          {"x", Json::rounded(curve.points.x)},
          {"y", Json::rounded(curve.points.y)}};
}

void add_spectra(Page& page, const std::vector<AttentionLayer>& start,
                 const std::vector<AttentionLayer>& now) {
  std::vector<std::string> charts;
  for (std::size_t i = 0; i < now.size(); ++i)
    if (now[i].density) add_density_charts(charts, start[i], now[i]);
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
      std::ranges::move(time_kernel_charts(layers[i].name, start[i], now[i]),
                        std::back_inserter(charts));
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
      "because that fits better.");
  for (std::size_t i = 0; i < std::min(most_map_layers, layers.size()); ++i)
    if (now[i].q.dimension() == 4) add_maps(page, layers[i], now[i]);
}

void add_time_kernels(Page& page, Module& start, Module& now) {
  const std::vector<NamedPart> first = parts_of(start), last = parts_of(now);
  std::vector<std::string> charts;
  for (std::size_t i = 0; i < last.size(); ++i)
    if (auto* encoding = dynamic_cast<TimeEncoding*>(last[i].part))
      for (const double reach : {8.0, 64.0})
        charts.push_back(kernel_chart(last[i].name, dynamic_cast<TimeEncoding&>(*first[i].part),
                                      *encoding, reach));
  if (charts.empty()) return;
  page.section("Kernels of time",
               "Kernels of time encodings: K(lag) = Φ(t + lag) · Φ(t), at t = 0 if it is not a "
               "function of the lag. The closed form is the expectation over drawn frequencies.");
  page.charts(charts);
}

void add_lambda(Page& page, const std::vector<AttentionLayer>& layers,
                const std::vector<AttentionSample>& samples) {
  std::vector<std::string> charts;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (auto* map = dynamic_cast<LearnedWeights*>(layers[i].features);
        map && samples[i].k.dimension() == 4)
      charts.push_back(lambda_chart(layers[i].name, *map, samples[i].k));
  if (charts.empty()) return;
  page.section("Learned weights of features",
               "λ(x) of the keys of the first validation example: features with a weight below 1 "
               "contribute less there.");
  page.charts(charts);
}

}  // namespace bochner
