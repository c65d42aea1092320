#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/labels/filter_pictures.hpp>
#include <numeric>

namespace bochner {
namespace {

constexpr std::size_t most_classes = 6, filters_of_class = 2, most_series = 64;

/// Features (n, size) of series of one class, and what each adds to the score of the class.
struct ClassFeatures {
  std::vector<SeriesValues> series;
  Tensor features;
  std::vector<double> effects;  ///< (size) mean over the series

  double added(const FilterBankModel& model, std::size_t i, std::size_t j, std::size_t k) const {
    return model.head().effect(j, k) * model.head().standardized(double(features(i, j)), j);
  }
};

ClassFeatures features_of(FilterBankModel& model, const LabelledSeriesBatch& batch, std::size_t k) {
  ClassFeatures found;
  for (std::size_t i = 0; i < batch.series.size() && found.series.size() < most_series; ++i)
    if (batch.labels.values[i] == std::int32_t(k)) found.series.push_back(batch.series[i]);
  if (found.series.empty()) return found;
  found.features = model.bank().features(found.series);
  found.effects.resize(model.bank().size());
  for (std::size_t j = 0; j < found.effects.size(); ++j)
    for (std::size_t i = 0; i < found.series.size(); ++i)
      found.effects[j] += found.added(model, i, j, k) / double(found.series.size());
  return found;
}

std::string words_of(const FilterBank::Origin& origin) {
  if (origin.pool == "winners")
    return origin.least ? "smallest of its group" : "largest of its group";
  if (origin.pool == "positive") return "above its quantile";
  return origin.pool == "maximum" ? "largest" : "above 0";
}

/// Draws the weights of a filter over the rows that it sees.
std::string draw_filter(FilterBank& bank, const FilterBank::Origin& origin) {
  const Tensor filters = bank.filters();
  const auto [dilation, differences] = bank.scales()[origin.scale];
  const std::size_t L = bank.spec().taps;
  Curve weights;
  for (std::size_t j = 0; j < L; ++j)
    weights.add((double(j) - double(L / 2)) * double(dilation),
                double(filters(origin.scale, origin.filter, j)));
  Chart chart{.title = "filter", .x = {"row"}, .width = heat_map_width, .height = 160};
  chart.note = fmt::format("dilation {}{}", dilation, differences ? ", of differences" : "");
  chart.add("", std::move(weights), Mark::line_and_points);
  return draw(chart);
}

/// Draws what a filter sees of a series, and where it fires.
std::string draw_firing(FilterBank& bank, const FilterBank::Origin& origin, SeriesValues series,
                        const std::string& title, double added) {
  const FilterBank::Firing firing = bank.firing(series, origin);
  Curve signal, rows;
  for (std::size_t t = 0; t < firing.signal.size(); ++t)
    signal.add(double(t + 1), double(firing.signal[t]));
  for (const std::size_t t : firing.rows) rows.add(double(t + 1), double(firing.signal[t]));
  Chart chart{.title = title, .x = {"row"}, .width = heat_map_width, .height = 160};
  chart.note = fmt::format("adds {:.2f}: {}", added, words_of(origin));
  chart.add("", std::move(signal));
  chart.add("", std::move(rows), Mark::points);
  return draw(chart);
}

}  // namespace

void add_deciding_filters(Page& page, FilterBankModel& model,
                          const std::vector<std::string>& classes,
                          const LabelledSeriesBatch& series) {
  page.section("Filters that decide",
               "The features that add the most to the score of a class, on average over its "
               "training series: the filter, and the rows that it counts, as points on the signal "
               "of a series.");
  std::vector<std::string> charts;
  for (std::size_t k = 0; k < std::min(classes.size(), most_classes); ++k) {
    const ClassFeatures found = features_of(model, series, k);
    if (found.series.empty()) continue;
    std::vector<std::size_t> order(found.effects.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    const std::size_t shown = std::min(filters_of_class, order.size());
    std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(shown), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        const double one = found.effects[a], other = found.effects[b];
                        return one != other ? one > other : a < b;
                      });
    for (std::size_t n = 0; n < shown; ++n) {
      const std::size_t j = order[n];
      const FilterBank::Origin origin = model.bank().origin(j);
      std::size_t best = 0;
      for (std::size_t i = 1; i < found.series.size(); ++i)
        if (found.added(model, i, j, k) > found.added(model, best, j, k)) best = i;
      charts.push_back(draw_firing(model.bank(), origin, found.series[best], "class " + classes[k],
                                   found.effects[j]));
      charts.push_back(draw_filter(model.bank(), origin));
    }
  }
  page.charts(charts, card_width(heat_map_width));
}

}  // namespace bochner
