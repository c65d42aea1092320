#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/tasks/event_report.hpp>

namespace bochner {
namespace {

constexpr std::size_t most_types = 4, most_gaps = 40;

Series curve_of(const IntensityPicture& picture, const Times& intensity, std::size_t type) {
  const std::size_t points = intensity.shape()[2];
  Series series;
  for (std::size_t t = 0; t < std::min(most_gaps, intensity.shape()[1]); ++t) {
    const double from = picture.events.times(0, t), to = picture.events.next_times(0, t);
    for (std::size_t i = 0; i < points; ++i) {
      series.x.push_back(from + (to - from) * (double(i) + 0.5) / double(points));
      series.y.push_back(intensity(0, t, i, type));
    }
  }
  return series;
}

Series events_of(const IntensityPicture& picture, std::size_t type) {
  Series series{.name = "events", .mark = Mark::points, .colour = 1};
  for (std::size_t t = 0; t < std::min(most_gaps, picture.events.times.shape()[1]); ++t) {
    if (std::size_t(picture.events.next_types.values[t]) != type) continue;
    series.x.push_back(picture.events.next_times(0, t));
    series.y.push_back(0);
  }
  return series;
}

std::string intensity_chart(const IntensityPicture& picture, std::size_t type) {
  Chart chart{
      .title = fmt::format("type {}", type), .x = {"time"}, .y = {"intensity", Scale::linear, 0.0}};
  if (picture.truth) {
    Series truth = curve_of(picture, *picture.truth, type);
    truth.name = "truth";
    truth.mark = Mark::dashed;
    truth.colour = 0;
    chart.series.push_back(truth);
  }
  Series learned = curve_of(picture, picture.learned, type);
  learned.name = "learned";
  learned.colour = 0;
  chart.series.push_back(learned);
  chart.series.push_back(events_of(picture, type));
  return draw(chart);
}

}  // namespace

void add_intensities(Page& page, const IntensityPicture& picture) {
  std::vector<std::string> charts;
  for (std::size_t k = 0; k < std::min(most_types, picture.learned.shape()[3]); ++k)
    charts.push_back(intensity_chart(picture, k));
  page.section("Intensities",
               std::string("The first validation example: what the model expects at each time "
                           "from the events before it") +
                   (picture.truth ? ", and what the process that made them knows." : "."));
  page.charts(charts);
}

}  // namespace bochner
