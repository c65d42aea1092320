#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/ceil_div.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/run/instruments/density_curves.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <cmath>
#include <numbers>

namespace bochner {
namespace {

constexpr std::size_t positions = 256;

std::size_t region_of(std::size_t lag) {
  return lag == 0 ? 0 : lag < 4 ? 1 : lag < 16 ? 2 : lag < 64 ? 3 : 4;
}

/// Formats "0.31", or "0.31 / 0.27" with the map's weight after softmax's.
std::string cell_of(const Tensor& exact, const Tensor& estimated, std::size_t at) {
  const std::string first = fmt::format("{:.2f}", double(exact.data()[at]));
  if (estimated.dimension() == 0) return first;
  return fmt::format("{} / {:.2f}", first, double(estimated.data()[at]));
}

Table table_of(const std::vector<AttentionMaps>& heads) {
  Table table{{"head", "quarter", "itself", "lag 1 to 3", "4 to 15", "16 to 63", "64 and more"},
              {}};
  for (std::size_t h = 0; h < std::min(most_heads, heads.size()); ++h) {
    const Tensor exact = weight_by_region(heads[h].exact);
    const bool has_map = heads[h].estimated.dimension() > 0;
    const Tensor estimated = has_map ? weight_by_region(heads[h].estimated) : Tensor();
    for (std::size_t stage = 0; stage < attention_stages; ++stage) {
      std::vector<std::string> row{fmt::format("{}", h), fmt::format("{}", stage + 1)};
      for (std::size_t r = 0; r < attention_regions; ++r)
        row.push_back(cell_of(exact, estimated, stage * attention_regions + r));
      table.rows.push_back(row);
    }
  }
  return table;
}

/// Draws the shares of each head's frequencies over their lengths.
Chart shares_chart(const AttentionLayer& layer, const AttentionSample& sample) {
  Chart chart{.title = layer.name + ": contribution of each frequency",
              .x = {"|ω|"},
              .y = {"share of the weights, times m"}};
  const Tensor w =
      evaluated([&](Tape& tape) { return layer.features->frequencies()->draws(tape); });
  const std::size_t m = w.shape()[1], d = w.shape()[2];
  const Tensor q = first_positions(sample.q, positions), k = first_positions(sample.k, positions);
  const std::vector<HeadFeatures> features = head_features(*layer.features, q, k);
  for (std::size_t h = 0; h < std::min(most_heads, features.size()); ++h) {
    const Tensor factors = beyond_window(time_weights(sample, h, q.shape()[1]), sample.window);
    const std::vector<double> shares =
        frequency_shares(features[h].q.values, features[h].k.values, factors, m);
    Curve curve;
    for (std::size_t f = 0; f < m; ++f) {
      curve.add(std::sqrt(squared_length(w.data() + (h * m + f) * d, d)), double(m) * shares[f]);
    }
    chart.add(fmt::format("head {}", h), curve, Mark::points, int(h));
  }
  return chart;
}

constexpr std::size_t lags_of_curve = 161, frequencies_of_curve = 320;

/// Time factor exp(-rate lag) (1 + sum of amplitude cos(frequency lag)).
struct TimeFactor {
  struct Term {
    double frequency, amplitude;
  };
  double rate = 0;
  std::vector<Term> terms = {};
};

TimeFactor factor_of(const AttentionSample& sample, std::size_t head) {
  TimeFactor factor;
  const std::size_t H = sample.q.shape()[2], n = sample.rate.size() / H;
  for (std::size_t t = 0; t < n; ++t)
    factor.rate += double(sample.rate.data()[t * H + head]) / double(n);
  if (sample.rotation.dimension() != 3) return factor;
  for (std::size_t i = 0; i < sample.rotation.shape()[1]; ++i)
    factor.terms.push_back(
        {double(sample.rotation(head, i, 0)), double(sample.rotation(head, i, 1))});
  return factor;
}

/// Returns `centre` plus sum of amplitude wave(frequency), over 1 plus the sum of amplitudes.
template <class Wave>
double with_frequencies(const TimeFactor& factor, double centre, const Wave& wave) {
  double sum = centre, total = 1;
  for (const auto& [frequency, amplitude] : factor.terms) {
    sum += amplitude * wave(frequency);
    total += amplitude;
  }
  return sum / total;
}

double cauchy_density(double x, double width) {
  return width / (std::numbers::pi * (width * width + x * x));
}

/// Returns evenly spaced logarithms, and the peaks, which may be narrow.
std::vector<double> places_of_spectrum(const TimeFactor& factor, double longest) {
  double highest = std::max(std::numbers::pi, 4 * factor.rate);
  std::vector<double> peaks;
  for (const auto& [frequency, amplitude] : factor.terms) {
    const double peak = std::abs(frequency);
    highest = std::max(highest, 2 * peak);
    for (const double side : {-1.0, -0.3, 0.0, 0.3, 1.0})
      peaks.push_back(peak + side * factor.rate);
  }
  const double lowest = 0.5 / std::max(1.0, longest);
  std::vector<double> x = places(std::log(lowest), std::log(highest), frequencies_of_curve);
  for (double& place : x) place = std::exp(place);
  std::ranges::copy_if(peaks, std::back_inserter(x), [=](double at) { return at > lowest; });
  std::ranges::sort(x);
  return x;
}

}  // namespace

Tensor weight_by_region(const Tensor& weights) {
  const std::size_t T = weights.shape()[0];
  Tensor shares = zeros({attention_stages, attention_regions});
  for (std::size_t i = 0; i < T; ++i) {
    const std::size_t stage = i * attention_stages / T;
    const std::size_t first = ceil_div(stage * T, attention_stages),
                      last = ceil_div((stage + 1) * T, attention_stages);
    for (std::size_t j = 0; j < T; ++j)
      shares(stage, region_of(i > j ? i - j : j - i)) +=
          weights.data()[i * T + j] / real(last - first);
  }
  return shares;
}

std::vector<double> frequency_shares(const Tensor& q, const Tensor& k, const Tensor& factors,
                                     std::size_t m) {
  const std::size_t T = q.shape()[0], F = q.shape()[1];
  std::vector<double> shares(m), row(m);
  std::size_t counted = 0;
  for (std::size_t i = 0; i < T; ++i) {
    std::fill(row.begin(), row.end(), 0);
    for (std::size_t j = 0; j < T; ++j) {
      const double factor = double(factors.data()[i * T + j]);
      if (factor == 0) continue;
      for (std::size_t f = 0; f < F; ++f)
        row[f % m] += factor * double(q.data()[i * F + f]) * double(k.data()[j * F + f]);
    }
    double sum = 0;
    for (const double one : row) sum += one;
    if (!(sum > 0)) continue;
    ++counted;
    for (std::size_t f = 0; f < m; ++f) shares[f] += row[f] / sum;
  }
  for (double& share : shares) share /= double(std::max<std::size_t>(1, counted));
  return shares;
}

void add_attention_parts(Page& page, const std::vector<AttentionLayer>& layers,
                         const std::vector<AttentionSample>& samples, bool ordered) {
  if (ordered)
    page.section(
        "Attention by stage and region",
        "Attention of the queries in each quarter of the first validation example: the part of "
        "their weight at each distance, exact / by the map.");
  std::vector<std::string> charts;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (samples[i].q.dimension() != 4) continue;
    if (ordered) {
      page.paragraph(layers[i].name);
      page.table(table_of(attention_maps(layers[i], samples[i], positions)));
    }
    if (layers[i].features && layers[i].features->frequencies())
      charts.push_back(draw(shares_chart(layers[i], samples[i])));
  }
  if (charts.empty()) return;
  page.section("Contribution of each frequency",
               "Its share of the sum of a query's kernels, mean over the queries; 1 if all "
               "contribute equally, negative if it reduces the sum.");
  page.charts(charts);
}

Curve time_factor(const AttentionSample& sample, std::size_t head, double longest) {
  const TimeFactor factor = factor_of(sample, head);
  Curve curve{places(0, longest, lags_of_curve), {}};
  for (const double lag : curve.x)
    curve.y.push_back(std::exp(-factor.rate * lag) *
                      with_frequencies(factor, 1, [&](double nu) { return std::cos(nu * lag); }));
  return curve;
}

Curve time_spectrum(const AttentionSample& sample, std::size_t head, double longest) {
  const TimeFactor factor = factor_of(sample, head);
  Curve curve{places_of_spectrum(factor, longest), {}};
  for (const double x : curve.x)
    curve.y.push_back(with_frequencies(factor, cauchy_density(x, factor.rate), [&](double nu) {
      return (cauchy_density(x - nu, factor.rate) + cauchy_density(x + nu, factor.rate)) / 2;
    }));
  return curve;
}

double time_drift(const AttentionSample& now, const AttentionSample& start) {
  if (now.rotation.dimension() != 3) return 0;
  double moved = 0, size = 0;
  for (std::size_t h = 0; h < now.rotation.shape()[0]; ++h) {
    const TimeFactor last = factor_of(now, h), first = factor_of(start, h);
    for (std::size_t i = 0; i < first.terms.size(); ++i) {
      moved += std::pow(last.terms[i].frequency - first.terms[i].frequency, 2);
      size += std::pow(first.terms[i].frequency, 2);
    }
  }
  return size > 0 ? std::sqrt(moved / size) : 0;
}

}  // namespace bochner
