#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <cmath>
#include <limits>
#include <set>

namespace bochner {
namespace {

/// Cells of one coordinate.
struct CoordinateCells {
  std::vector<std::size_t> of_token;
  std::vector<std::string> names;
};

bool is_evenly_spaced(const std::set<double>& values) {
  constexpr double tolerance = 1e-6;
  const double step = (*values.rbegin() - *values.begin()) / double(values.size() - 1);
  std::size_t i = 0;
  return std::ranges::all_of(values, [&](double value) {
    return std::abs(value - *values.begin() - step * double(i++)) <= tolerance * step;
  });
}

/// Returns a cell for each value if these are evenly spaced and at most `most`; `most` intervals if
/// they are more, and `few` if they are uneven.
CoordinateCells cells_of(const std::vector<double>& values, std::size_t most, std::size_t few) {
  const std::set<double> distinct(values.begin(), values.end());
  const double low = *distinct.begin(), span = *distinct.rbegin() - low;
  const bool even = distinct.size() == 1 || is_evenly_spaced(distinct),
             each = even && distinct.size() <= most;
  const std::size_t count = each ? distinct.size() : even ? most : few;
  CoordinateCells cells;
  for (const double value : values) {
    const double part = span > 0 ? (value - low) / span : 0;
    const double place =
        each ? std::round(part * double(count - 1)) : std::floor(part * double(count));
    cells.of_token.push_back(std::min(std::size_t(place), count - 1));
  }
  for (std::size_t i = 0; i < count; ++i)
    cells.names.push_back(each ? fmt::format("frame {} of {}", i + 1, count)
                               : fmt::format("{:.2f} to {:.2f}",
                                             low + span * double(i) / double(count),
                                             low + span * double(i + 1) / double(count)));
  return cells;
}

std::vector<double> coordinate_of(const Places& places, std::size_t axis) {
  std::vector<double> values;
  for (std::size_t n = 0; n < places.count(); ++n)
    values.push_back(places.coordinates[n * places.dimensions + axis]);
  return values;
}

FeatureMatrix rows_of(const FeatureMatrix& all, const std::vector<std::size_t>& rows) {
  const std::size_t F = all.values.shape()[1];
  FeatureMatrix some{uninitialized({rows.size(), F}), all.log_unit};
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(all.values.data() + rows[i] * F, F, some.values.data() + i * F);
  return some;
}

/// Returns the one of the tokens that is nearest to the middle of the places.
std::size_t most_central(const Places& places, const std::vector<std::size_t>& tokens) {
  std::vector<double> middle;
  for (std::size_t axis = 0; axis < places.dimensions; ++axis) {
    const std::vector<double> values = coordinate_of(places, axis);
    const auto [low, high] = std::ranges::minmax(values);
    middle.push_back((low + high) / 2);
  }
  return *std::ranges::min_element(tokens, {}, [&](std::size_t token) {
    double square = 0;
    for (std::size_t axis = 0; axis < places.dimensions; ++axis)
      square += std::pow(places.coordinates[token * places.dimensions + axis] - middle[axis], 2);
    return square;
  });
}

/// Returns a map for each frame, or of one-dimensional places a single one with a row for each.
std::vector<std::string> place_maps(const std::string& title, const std::vector<double>& weights,
                                    const PlaceCells& cells, std::optional<std::size_t> query) {
  const bool line = cells.rows == 1;
  const std::size_t n = line ? weights.size() : cells.rows * cells.columns;
  double most = 0;
  for (const double weight : weights) most = std::isfinite(weight) ? std::max(most, weight) : most;
  std::vector<std::string> maps;
  for (std::size_t first = 0; first < weights.size(); first += n) {
    HeatMap map{.title = line ? title : fmt::format("{}, {}", title, cells.frames[first / n]),
                .x_label = line ? "place" : "x",
                .y_label = line ? "frame" : "y",
                .rows = n / cells.columns,
                .columns = cells.columns,
                .values = {weights.data() + first, weights.data() + first + n},
                .lowest = 0.0,
                .highest = most};
    if (query && *query / n == first / n) map.outlined = *query % n;
    maps.push_back(draw(map));
  }
  return maps;
}

/// Draws the share of each frame by head, mean over the queries.
std::string frames_chart(const std::vector<Tensor>& weights, const PlaceCells& cells) {
  BarChart chart{.title = "weight of each frame", .label = "share", .groups = cells.frames};
  for (std::size_t h = 0; h < std::min(most_heads, weights.size()); ++h) {
    BarSeries head{fmt::format("head {}", h), std::vector<double>(cells.frames.size())};
    const std::vector<double> shares = weight_by_place(weights[h], cells);
    for (std::size_t i = 0; i < shares.size(); ++i)
      if (std::isfinite(shares[i])) head.values[i / (cells.rows * cells.columns)] += shares[i];
    chart.series.push_back(std::move(head));
  }
  return draw(chart);
}

/// Returns the mean over the heads. (n, T) of each head -> (n, T)
Tensor mean_over_heads(const std::vector<Tensor>& heads) {
  Tensor mean = heads.front();
  for (std::size_t h = 1; h < heads.size(); ++h) mean += heads[h];
  mean /= real(heads.size());
  return mean;
}

}  // namespace

PlaceCells place_cells(const TokenPoints& tokens) {
  constexpr std::size_t most_sides = 32, few_sides = 8, most_frames = 8, few_frames = 6;
  const Places& places = tokens.places;
  const std::size_t d = places.dimensions;
  const CoordinateCells x = cells_of(coordinate_of(places, d - 1), most_sides, few_sides);
  CoordinateCells y{std::vector<std::size_t>(places.count()), {""}};
  if (d > 1) y = cells_of(coordinate_of(places, d - 2), most_sides, few_sides);
  CoordinateCells time = cells_of(tokens.times, most_frames, few_frames);
  PlaceCells cells{y.names.size(), x.names.size(), std::move(time.names), {}};
  for (std::size_t t = 0; t < places.count(); ++t)
    cells.of_token.push_back((time.of_token[t] * cells.rows + y.of_token[t]) * cells.columns +
                             x.of_token[t]);
  return cells;
}

std::vector<double> weight_by_place(const Tensor& weights, const PlaceCells& cells) {
  const std::size_t n = weights.shape()[0], T = weights.shape()[1];
  std::vector<double> sums(cells.size(), std::numeric_limits<double>::quiet_NaN());
  for (const std::size_t cell : cells.of_token) sums[cell] = 0;
  for (std::size_t i = 0; i < n * T; ++i)
    sums[cells.of_token[i % T]] += double(weights.data()[i]) / double(n);
  return sums;
}

std::vector<Tensor> weights_of_queries(const AttentionLayer& layer, const AttentionSample& sample,
                                       const std::vector<std::size_t>& queries) {
  const std::size_t T = sample.q.shape()[1];
  std::vector<HeadFeatures> features;
  if (layer.features)
    features =
        head_features(*layer.features, first_positions(sample.q, T), first_positions(sample.k, T));
  std::vector<Tensor> heads;
  for (std::size_t h = 0; h < sample.q.shape()[2]; ++h) {
    heads.push_back(normalized_rows(
        layer.features ? products(rows_of(features[h].q, queries), features[h].k)
                       : softmax_weights(rows_of({head_rows(sample.q, h)}, queries).values,
                                         head_rows(sample.k, h))));
  }
  return heads;
}

void add_place_attention(Page& page, const PlacedExample& example,
                         const std::vector<AttentionLayer>& layers,
                         const std::vector<AttentionSample>& samples) {
  constexpr std::uint64_t most_queries = 64;
  const PlaceCells cells = place_cells(example.tokens);
  std::vector<std::size_t> queries;
  for (const std::uint64_t i : spread_over(most_queries, example.asked.size()))
    queries.push_back(example.asked[i]);
  const std::size_t centre = most_central(example.tokens.places, example.asked);
  page.section(
      "Attention by place and frame",
      fmt::format(
          "Share of the attention weight that the places of each frame get in the first validation "
          "example, mean over the heads. One query: the one nearest to the middle of those that "
          "the answer is read from, outlined; all: the mean over {} of them. Weights of a feature "
          "map are φ(q)·φ(k) over their sum.{}",
          queries.size(),
          example.tokens.places.dimensions > 2 ? " Places are summed over the first axis." : ""));
  for (std::size_t i = 0; i < std::min(most_map_layers, layers.size()); ++i) {
    if (samples[i].q.dimension() != 4 || samples[i].q.shape()[1] != cells.of_token.size()) continue;
    page.paragraph(layers[i].name);
    const std::vector<Tensor> heads = weights_of_queries(layers[i], samples[i], queries);
    const Tensor one = mean_over_heads(weights_of_queries(layers[i], samples[i], {centre}));
    page.charts({frames_chart(heads, cells)});
    std::vector<std::string> maps =
        place_maps("one query", weight_by_place(one, cells), cells, cells.of_token[centre]);
    std::ranges::move(place_maps("all", weight_by_place(mean_over_heads(heads), cells), cells, {}),
                      std::back_inserter(maps));
    page.charts(maps, card_width(heat_map_width));
  }
}

}  // namespace bochner
