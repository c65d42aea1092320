#include <fmt/format.h>

#include <algorithm>
#include <bochner/data/events/event_files.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/labels/series_data.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {
namespace {

/// Reads tables and files of series, one after the other.
RealSeriesSet read_series_sets(const Config& config, const std::string& key) {
  RealSeriesSet all;
  if (config.text_list(key).empty()) return all;
  for (const auto& file : expand_files(config.text_list(key), std::filesystem::current_path())) {
    try {
      RealSeriesSet set =
          series_of_table(read_array(file, table_options(config)), series_columns(config), true);
      if (all.series.empty()) all.channels = set.channels;
      if (set.channels != all.channels)
        throw DataError("has ", set.channels, " channels, the files before ", all.channels);
      std::ranges::move(set.series, std::back_inserter(all.series));
    } catch (const DataError& error) {
      throw DataError(file.string(), ": ", error.what());
    }
  }
  return all;
}

}  // namespace

RealSeriesColumns series_columns(const Config& config) {
  const EventColumns columns = event_columns(config);
  RealSeriesColumns found;
  if (!columns.sequence.empty()) found.series = columns.sequence;
  if (!columns.label.empty()) found.label = columns.label;
  found.channels = config.text_list("data.columns");
  return found;
}

LabelledSeries open_series(const Config& config, const KnownFacts& known) {
  LabelledSeriesSpec spec{.validation = config.number("data.validation"),
                          .seed = config.count("train.seed"),
                          .numbers = config.text("data.labels") == "numbers"};
  if (!known.bytes.empty()) spec.classes = known.of<LabelledSeriesFacts>().classes;
  return {read_series_sets(config, "data.files"), read_series_sets(config, "data.test_files"),
          spec};
}

LabelledSeriesFacts facts_of(const LabelledSeries& data, const KnownFacts& known) {
  if (!known.are_exact()) return {data.channels(), data.length(), data.classes()};
  const auto facts = known.of<LabelledSeriesFacts>();
  require_known_names("label", facts.classes, data.classes());
  if (data.channels() != facts.channels)
    throw DataError("data.files: have ", data.channels(), " channels; the model has learned ",
                    facts.channels);
  return facts;
}

std::string draw_series(const std::string& title, std::span<const float> values,
                        std::size_t channels) {
  constexpr std::size_t most_channels = 6;
  Chart chart{.title = title, .x = {"row"}, .width = heat_map_width, .height = 160};
  const std::size_t rows = values.size() / channels;
  for (std::size_t c = 0; c < std::min(channels, most_channels); ++c) {
    Curve curve;
    for (std::size_t t = 0; t < rows; ++t) curve.add(double(t + 1), double(values[c * rows + t]));
    chart.add(channels == 1 ? "" : fmt::format("channel {}", c + 1), std::move(curve));
  }
  return draw(chart);
}

ReadOptions labelled_series_options(const Config& config) {
  ReadOptions options{only_columns(config, "", {}), ""};
  const RealSeriesColumns read = series_columns(config);
  options.csv.texts = {read.series, read.label};
  options.csv.labels = {read.label};
  options.csv.missing = "nan";
  return options;
}

}  // namespace bochner
