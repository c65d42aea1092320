#include <fmt/format.h>

#include <bochner/base/ceil_div.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <cmath>

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
  Table table{region_names(), {}};
  table.headers.insert(table.headers.begin(), {"head", "quarter"});
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

}  // namespace

std::vector<std::string> region_names() {
  return {"itself", "lag 1 to 3", "4 to 15", "16 to 63", "64 and more"};
}

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
                         const std::vector<AttentionSample>& samples) {
  page.section(
      "Attention by stage and region",
      "Attention of the queries in each quarter of the first validation example: the part of "
      "their weight at each distance, exact / by the map.");
  std::vector<std::string> charts;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (samples[i].q.dimension() != 4) continue;
    page.paragraph(layers[i].name);
    page.table(table_of(attention_maps(layers[i], samples[i], positions)));
    if (layers[i].features && layers[i].features->frequencies())
      charts.push_back(draw(shares_chart(layers[i], samples[i])));
  }
  if (charts.empty()) return;
  page.section("Contribution of each frequency",
               "Its share of the sum of a query's kernels, mean over the queries; 1 if all "
               "contribute equally, negative if it reduces the sum.");
  page.charts(charts);
}

}  // namespace bochner
