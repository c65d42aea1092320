#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/data/events/event_files.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/formats/read_series.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/labels/series_data.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {
namespace {

/// Reads files and folders of series, one after the other.
RealSeriesSet read_series_sets(const Config& config, const std::string& key) {
  RealSeriesSet all;
  ReadOptions options = table_options(config);
  options.series->labelled = true;
  if (key == "data.files" && makes_tables(config)) {
    for_each_table(config, [&](const std::filesystem::path&, const NamedArray& table) {
      all = labelled_series_of(table, *options.series);
    });
    return all;
  }
  if (config.text_list(key).empty()) return all;
  for (const auto& file : expand_files(config.text_list(key), std::filesystem::current_path())) {
    RealSeriesSet set = read_labelled_series(file, options);
    try {
      append_series(all, std::move(set));
    } catch (const DataError& error) {
      throw DataError(file.string(), ": ", error.what());
    }
  }
  return all;
}

}  // namespace

RealSeriesColumns labelled_series_columns(const Config& config) {
  const EventColumns columns = event_columns(config);
  RealSeriesColumns found;
  if (!columns.sequence.empty()) found.series = columns.sequence;
  if (!columns.label.empty()) found.label = columns.label;
  found.channels = config.text_list("data.columns");
  found.time = config.text("data.time_column");
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

LabelledSeriesBatch labelled_batch(const LabelledSeries& data, const Examples& examples) {
  LabelledSeriesBatch batch{{}, {{examples.size()}, {}}, {}};
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const LabelledSeries::Example one = data.example(examples.split, examples.index(i));
    batch.series.push_back(one.values);
    batch.labels.values.push_back(one.label);
    batch.numbers.push_back(one.number);
  }
  return batch;
}

LabelledSeriesBatch labelled_batch(const LabelledSeries& data, Split split) {
  return labelled_batch(data, data.in_order(split, 0, data.examples(split)));
}

NumberErrors errors_of(const std::vector<double>& truth, double answer) {
  NumberErrors errors;
  for (const double y : truth) errors.add(y - answer);
  return errors;
}

std::vector<std::span<const float>> values_of(const RealSeriesSet& set) {
  std::vector<std::span<const float>> values;
  for (const RealSeries& one : set.series) values.emplace_back(one.values);
  return values;
}

RealSeriesSet asked_series(const NamedArray& question, const RealSeriesColumns& columns,
                           std::size_t channels) {
  RealSeriesSet set = series_of_table(question, columns, false);
  if (set.channels != channels)
    throw DataError("the input has ", set.channels, " channels; the model was trained on ",
                    channels);
  return set;
}

NamedArray class_probabilities(const Tensor& logits, const std::vector<std::string>& classes,
                               const RealSeriesSet& set) {
  Tape tape({.recording = false});
  const Var each = softmax(tape.constant(logits));
  const std::size_t n = logits.shape()[0], K = classes.size();
  NamedArray result{xt::xarray<double>::from_shape({n, 1 + K}), {"series"}};
  for (const std::string& name : classes) result.columns.push_back("class_" + name);
  for (std::size_t i = 0; i < n; ++i)
    std::copy_n(each.data() + i * K, K, result.values.data() + i * (1 + K) + 1);
  name_series(result, set);
  return result;
}

std::vector<LabelAnswer> series_answers(const LabelledSeries& data,
                                        const LabelledSeriesBatch& batch, const Tensor& logits) {
  Tape tape({.recording = false});
  const Var each = softmax(tape.constant(logits));
  const std::vector<std::string>& names = data.classes();
  std::vector<LabelAnswer> answers;
  for (std::size_t i = 0; i < batch.series.size(); ++i) {
    const real *row = each.data() + i * names.size(),
               *best = std::max_element(row, row + names.size());
    LabelAnswer one{std::size_t(batch.labels.values[i]), std::size_t(best - row), double(*best),
                    fmt::format("{}", i + 1)};
    if (one.label != one.answer)
      one.picture =
          [title = fmt::format("{}: {}, taken for {}", i + 1, names[one.label], names[one.answer]),
           values = batch.series[i],
           channels = data.channels()] { return draw_series(title, values, channels); };
    answers.push_back(std::move(one));
  }
  return answers;
}

void add_number_answers(Page& page, const std::vector<double>& predicted,
                        const std::vector<double>& observed) {
  Curve points, errors, diagonal, zero;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    points.add(predicted[i], observed[i]);
    errors.add(predicted[i], observed[i] - predicted[i]);
  }
  for (const double x : {std::ranges::min(predicted), std::ranges::max(predicted)})
    diagonal.add(x, x), zero.add(x, 0);
  Chart truth{.title = "held-out examples", .x = {"predicted"}, .y = {"observed"}},
      residuals{.title = "residuals", .x = {"predicted"}, .y = {"observed - predicted"}};
  truth.add("as predicted", std::move(diagonal));
  truth.add("examples", std::move(points), Mark::points);
  residuals.add("", std::move(zero));
  residuals.add("examples", std::move(errors), Mark::points);
  page.section("Answers", "Held-out numbers over the predicted ones, and what is left.");
  page.charts({draw(truth), draw(residuals)}, card_width(chart_width));
}

void add_series_of_classes(Page& page, const LabelledSeries& data) {
  constexpr std::size_t most_classes = 9;
  page.section("Series", "The first training series of each class.");
  std::vector<std::string> charts;
  const LabelledSeriesBatch all = labelled_batch(data, Split::train);
  for (std::size_t k = 0; k < std::min(data.classes().size(), most_classes); ++k) {
    const auto first = std::ranges::find(all.labels.values, std::int32_t(k));
    if (first == all.labels.values.end()) continue;
    charts.push_back(draw_series(data.classes()[k],
                                 all.series[std::size_t(first - all.labels.values.begin())],
                                 data.channels()));
  }
  page.charts(charts, card_width(heat_map_width));
}

ReadOptions labelled_series_options(const Config& config) {
  const RealSeriesColumns read = labelled_series_columns(config);
  ReadOptions options{only_columns(config, read.time, {}), ""};
  options.csv.texts = {read.series, read.label};
  options.csv.labels = {read.label};
  options.csv.missing = "nan";
  options.series = {read, config.text("data.layout"),
                    read_spec<SeriesLabels>(config, "data").label_from};
  return options;
}

}  // namespace bochner
