#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <bochner/autodiff/ops/fourier/fourier.hpp>
#include <bochner/train/run/instruments/density_curves.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <bochner/train/studies/memory_study.hpp>
#include <cmath>
#include <numbers>

namespace bochner {
namespace {

constexpr std::size_t most_lags = 4096, points_of_density = 121;

/// Returns the roots of the means of square(row, channel) over the channels of a group. -> (count)
template <class Value>
std::vector<double> root_mean_squares(std::size_t count, const ChannelGroup& group,
                                      const Value& square) {
  std::vector<double> roots(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = group.first; c < group.first + group.count; ++c)
      roots[i] += square(i, c) / double(group.count);
    roots[i] = std::sqrt(roots[i]);
  }
  return roots;
}

/// Returns root mean squares over growing bins, at their middles times `unit`, from bin `first` on.
Curve in_bins(std::vector<double> values, std::size_t first, double unit) {
  for (double& value : values) value *= value;
  const std::vector<std::size_t> bins = lag_bins(values.size());
  const std::vector<double> squares = binned(values, bins);
  Curve curve;
  for (std::size_t i = first; i < squares.size(); ++i) {
    curve.add(unit * (double(bins[i]) + double(bins[i + 1] - 1)) / 2, std::sqrt(squares[i]));
  }
  return curve;
}

/// Computes half spectra of zero-padded channels. (lags, C) -> (C, 2, bins)
Tensor spectra_of(const Tensor& response) {
  const std::size_t lags = response.shape()[0], C = response.shape()[1];
  Tensor rows = zeros({C, 2 * std::bit_ceil(std::max<std::size_t>(lags, 512))});
  for (std::size_t l = 0; l < lags; ++l)
    for (std::size_t c = 0; c < C; ++c) rows(c, l) = response(l, c);
  return fft(Var(std::move(rows))).value();
}

/// Returns the mean density of ln omega of a group's channels, empty without a closed form.
Curve closed_density(ImpulseResponse& part, const ChannelGroup& group,
                     const std::vector<double>& logs) {
  Curve curve{logs, std::vector<double>(logs.size())};
  for (double& x : curve.x) x = std::exp(x);
  for (std::size_t c = group.first; c < group.first + group.count; ++c) {
    const std::function<double(double)> density = part.frequency_density(c);
    if (!density) return {};
    for (std::size_t i = 0; i < logs.size(); ++i)
      curve.y[i] += curve.x[i] * density(curve.x[i]) / double(group.count);
  }
  return curve;
}

/// Sets draws and density of a group, from e^-1 times its smallest draw to e times its largest.
void study_density(ChannelGroup& group, ImpulseResponse& part, const Tensor& frequencies) {
  const std::size_t m = frequencies.shape()[1];
  std::vector<double> logs;
  for (std::size_t i = group.first * m; i < (group.first + group.count) * m; ++i)
    if (const double size = std::abs(double(frequencies.data()[i])); size > 1e-9) {
      group.draws.push_back(size);
      logs.push_back(std::log(size));
    }
  if (logs.empty()) return;
  const auto [low, high] = std::ranges::minmax(logs);
  const std::vector<double> x = places(low - 1, high + 1, points_of_density);
  group.density = closed_density(part, group, x);
  group.closed_form = !group.density.x.empty();
  if (group.closed_form) return;
  group.density = smoothed_density(logs, x, 0.05);
  for (double& log : group.density.x) log = std::exp(log);
}

std::string words(const ChannelGroup& group) {
  return group.count == 1
             ? fmt::format("channel {}", group.first)
             : fmt::format("channels {} to {}", group.first, group.first + group.count - 1);
}

void add_curves(Chart& chart, Curve ChannelGroup::*curve, const LinearPart* start,
                const LinearPart& now) {
  for (std::size_t g = 0; g < now.groups.size(); ++g) {
    if (start)
      chart.add(g == 0 ? "at the start" : "", start->groups[g].*curve, Mark::dashed, int(g));
    chart.add(words(now.groups[g]), now.groups[g].*curve, Mark::line, int(g));
  }
}

void add_charts(std::vector<std::string>& charts, const LinearPart* start, const LinearPart& now) {
  const Axis frequency{"ω, radians per token", Scale::logarithmic};
  Chart impulse{.title = now.name + ": impulse response",
                .x = {"lag + 1, tokens", Scale::logarithmic},
                .y = {"|h|", Scale::logarithmic, 1e-6}};
  Chart gain{.title = now.name + ": transfer function",
             .x = frequency,
             .y = {"|H(exp iω)|", Scale::logarithmic}};
  Chart density{
      .title = now.name + (now.groups[0].closed_form ? ": spectrum p(ω)" : ": smoothed draws of ω"),
      .x = frequency,
      .y = {"density of ln ω", Scale::linear, 0.0},
      .note = "ticks: the draws"};
  add_curves(impulse, &ChannelGroup::impulse, start, now);
  for (Series& series : impulse.series)
    for (double& lag : series.x) ++lag;
  add_curves(gain, &ChannelGroup::gain, start, now);
  add_curves(density, &ChannelGroup::density, start, now);
  for (std::size_t g = 0; g < now.groups.size(); ++g) {
    const std::vector<double>& draws = now.groups[g].draws;
    density.add("", {draws, std::vector<double>(draws.size())}, Mark::ticks, int(g));
  }
  charts.insert(charts.end(), {draw(impulse), draw(gain)});
  if (!now.groups[0].density.x.empty()) charts.push_back(draw(density));
}

}  // namespace

LinearPart study_linear_part(const std::string& name, ImpulseResponse& part) {
  const Tensor h = part.response(most_lags), H = spectra_of(h), drawn = part.drawn_frequencies();
  const std::size_t C = h.shape()[1], bins = H.shape()[2], count = std::min(most_heads, C);
  LinearPart study{name, {}};
  for (std::size_t g = 0; g < count; ++g) {
    ChannelGroup group{.first = g * C / count, .count = (g + 1) * C / count - g * C / count};
    const std::vector<double> sizes = root_mean_squares(
        h.shape()[0], group, [&](std::size_t l, std::size_t c) { return std::pow(h(l, c), 2.); });
    group.impulse = in_bins(sizes, 0, 1);
    group.half_life = half_life(sizes);
    group.gain =
        in_bins(root_mean_squares(bins, group,
                                  [&](std::size_t k, std::size_t c) {
                                    return std::pow(H(c, 0, k), 2.) + std::pow(H(c, 1, k), 2.);
                                  }),
                1, std::numbers::pi / double(bins - 1));
    if (drawn.dimension() == 2) study_density(group, part, drawn);
    study.groups.push_back(std::move(group));
  }
  return study;
}

std::vector<LinearPart> linear_parts(Module& model) {
  std::vector<LinearPart> parts;
  for (const NamedPart& named : parts_of(model))
    if (auto* part = dynamic_cast<ImpulseResponse*>(named.part))
      parts.push_back(study_linear_part(named.name, *part));
  return parts;
}

void add_linear_parts(Page& page, const std::vector<LinearPart>& start,
                      const std::vector<LinearPart>& now) {
  if (now.empty()) return;
  page.section(
      "Filters and state spaces",
      "Impulse response of a channel and its Fourier transform H; root mean squares over groups "
      "of "
      "channels, dashed at the start of the run. A spectral filter is the Fourier transform of its "
      "density p(ω) times a decay: the real part of H is p(ω) blurred by the decay, the imaginary "
      "part follows from causality, and the draws are the frequencies of a diagonal state "
      "space. Of s5 and lru, channels are states.");
  std::vector<std::string> charts;
  for (std::size_t i = 0; i < now.size(); ++i)
    add_charts(charts, start.empty() ? nullptr : &start[i], now[i]);
  page.charts(charts);
}

std::string linear_text(const LinearPart& part) {
  std::string text = fmt::format("linear   {}\n  {:<22} {:>9} {:>10} {:>10} {:>10}\n", part.name,
                                 "channels", "half-life", "peak |H|", "at ω", "|H| at π");
  for (const ChannelGroup& group : part.groups) {
    const auto peak = std::ranges::max_element(group.gain.y) - group.gain.y.begin();
    text += fmt::format("  {:<22} {:>9} {:>10.4g} {:>10.4g} {:>10.4g}\n", words(group),
                        group.half_life, group.gain.y[std::size_t(peak)],
                        group.gain.x[std::size_t(peak)], group.gain.y.back());
  }
  return text;
}

std::string linear_json(const LinearPart& part) {
  Json groups = Json::array();
  for (const ChannelGroup& group : part.groups) {
    Json one = {
        {"first", group.first},
        {"count", group.count},
        {"half_life", group.half_life},
        {"impulse",
         {{"lag", Json::rounded(group.impulse.x)}, {"size", Json::rounded(group.impulse.y)}}},
        {"transfer",
         {{"omega", Json::rounded(group.gain.x)}, {"gain", Json::rounded(group.gain.y)}}}};
    if (!group.density.x.empty())
      one.set(group.closed_form ? "spectrum" : "smoothed_draws",
              Json{{"omega", Json::rounded(group.density.x)},
                   {"density_of_log", Json::rounded(group.density.y)}});
    groups.push(one);
  }
  return Json{{"linear", part.name}, {"groups", groups}}.line();
}

}  // namespace bochner
