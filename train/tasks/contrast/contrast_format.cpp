#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/train/tasks/contrast/contrast_format.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/labels/label_data.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <utility>

namespace bochner {
namespace {

/// Returns an image with brightness scaled from 0 to 255 to 0 to 1.
RawExample raw_image(const std::int32_t* brightness, std::size_t pixels, std::int32_t label) {
  RawExample raw{std::vector<float>(pixels), {}, label};
  for (std::size_t i = 0; i < pixels; ++i) raw.values[i] = float(brightness[i]) / 255;
  return raw;
}

/// Square patches of images as tokens, row by row; a patch holds its pixels row by row, the
/// channels of a pixel together.
class ContrastImageFormat : public ContrastFormat {
 public:
  ContrastImageFormat(const Config& config, LabelFacts facts)
      : facts_(std::move(facts)),
        image_(facts_.image()),
        side_(config.count("model.patch.pixels")) {
    if (image_.rows % side_ != 0 || image_.columns % side_ != 0)
      throw DataError("images of ", image_.rows, " x ", image_.columns,
                      " pixels: model.patch.pixels = ", side_, " must divide both sides");
    order_ = patch_order(image_, side_);
    if (order_.empty()) throw DataError("facts lack the size of images");
    for (const LabelledBatch& one : facts_.specimens)
      if (one.tokens.shape != Shape{1, order_.size()} || one.labels.values.size() != 1)
        throw DataError("facts hold an image of another size");
  }

  std::string facts() const override { return encode_facts(facts_); }
  std::size_t classes() const override { return facts_.classes; }
  void complete(ContrastModelSpec& spec) const override {
    spec.encoder.values = numbers();
    spec.encoder.trunk.length = tokens();
    spec.examples = facts_.examples;
  }

  Asked read_table(const ContrastModel&, const NamedArray& table) const override {
    Asked asked;
    for (const std::vector<std::int32_t>& pixels : pixels_of(table, image_))
      asked.examples.push_back(raw_image(pixels.data(), pixels.size(), 0));
    return asked;
  }

  EncoderInput encode(const std::vector<RawExample>& examples) const override {
    EncoderInput input{uninitialized({examples.size(), tokens(), numbers()})};
    real* to = input.values.data();
    for (const RawExample& example : examples)
      for (const std::size_t place : order_) *to++ = example.values[place];
    return input;
  }

  std::size_t specimens() const override { return facts_.specimens.size(); }
  RawExample specimen(std::size_t i, const ContrastModel&) const override {
    return raw_images(facts_.specimens[i]).front();
  }

 private:
  std::size_t tokens() const { return image_.rows / side_ * (image_.columns / side_); }
  std::size_t numbers() const { return side_ * side_ * image_.channels; }

  LabelFacts facts_;
  ImageShape image_;
  std::size_t side_;
  std::vector<std::size_t> order_;  // of pixels: patch by patch
};

/// Throws DataError unless a batch holds one sequence that a model of these facts can see.
void check_specimen(const LabelFacts& facts, const LabelledBatch& one) {
  const auto is_type = [&](std::int32_t type) {
    return type >= 0 && std::uint64_t(type) < facts.vocabulary;
  };
  const std::size_t T = one.tokens.values.size();
  const bool fits = one.tokens.shape == Shape{1, T} && T >= 1 && T <= facts.length &&
                    one.times.size() == T && one.lengths == std::vector<std::size_t>{T} &&
                    one.labels.values.size() == 1;
  if (!fits || !std::ranges::all_of(one.tokens.values, is_type))
    throw DataError("facts hold a sequence that does not fit the model");
}

/// Whole sequences of events at their times.
class ContrastEventFormat : public ContrastFormat {
 public:
  ContrastEventFormat(const Config& config, LabelFacts facts)
      : facts_(std::move(facts)),
        reading_(table_options(config)),
        events_(labelled_events_spec(config)),
        columns_(event_columns(config)) {
    for (const LabelledBatch& one : facts_.specimens) check_specimen(facts_, one);
  }

  std::string facts() const override { return encode_facts(facts_); }
  std::size_t classes() const override { return columns_.label.empty() ? 0 : facts_.classes; }
  ReadOptions read_options() const override { return reading_; }
  void complete(ContrastModelSpec& spec) const override {
    spec.encoder.trunk.timed = true;
    spec.encoder.trunk.vocabulary = facts_.vocabulary;
    spec.encoder.trunk.length = facts_.length;
    spec.examples = facts_.examples;
  }

  Asked read_table(const ContrastModel&, const NamedArray& table) const override {
    const TableShape shape = facts_.table();
    const EventColumns columns = columns_without_label(columns_, shape, table);
    Asked asked;
    for (const EventTable& events : numbered_events(table, columns, shape, facts_.vocabulary))
      asked.examples.push_back({{}, labelled_example(events, events_, facts_.vocabulary), 0});
    return asked;
  }
  EncoderInput encode(const std::vector<RawExample>& examples) const override {
    std::vector<LabelledExample> rows;
    for (const RawExample& example : examples) rows.push_back(example.events);
    LabelledBatch batch = batch_of(rows);
    return {{}, std::move(batch.tokens), std::move(batch.lengths), std::move(batch.times)};
  }

  std::size_t specimens() const override { return facts_.specimens.size(); }
  RawExample specimen(std::size_t i, const ContrastModel&) const override {
    return raw_sequences(facts_.specimens[i]).front();
  }

 private:
  LabelFacts facts_;
  ReadOptions reading_;
  LabelledEventsSpec events_;
  EventColumns columns_;
};

/// Windows of data.lookback rows, whose tokens are patches of all variates. With several series,
/// the label of a window is the number of its series.
class ContrastSeriesFormat : public ContrastFormat {
 public:
  ContrastSeriesFormat(const Config& config, SeriesFacts facts)
      : facts_(std::move(facts)),
        reading_(series_options(config, facts_)),
        columns_(series_columns(config)),
        carries_(carries_forward(config, columns_)),
        stride_(config.count("data.stride")),
        patch_{config.count("model.patch.length"), config.count("model.patch.stride")} {
    if (patch_.length > rows())
      throw DataError("facts hold windows of ", rows(), " rows, shorter than a patch");
  }

  std::string facts() const override { return encode_facts(facts_); }
  std::size_t classes() const override { return facts_.ids.size() > 1 ? facts_.ids.size() : 0; }
  ReadOptions read_options() const override { return reading_; }
  std::vector<std::string> series() const override { return facts_.names(); }
  void complete(ContrastModelSpec& spec) const override {
    spec.variates = variates();
    spec.series = facts_.ids.size();
    spec.encoder.values = variates() * patch_.length;
    spec.encoder.trunk.length = tokens();
    spec.examples = facts_.examples;
  }
  std::vector<std::string> columns() const override {
    std::vector<std::string> names = facts_.columns;
    if (!names.empty()) names.insert(names.end(), columns_.series.begin(), columns_.series.end());
    return names;
  }
  Asked read_table(const ContrastModel& model, const NamedArray& table) const override;

  EncoderInput encode(const std::vector<RawExample>& examples) const override {
    const std::size_t V = variates(), P = patch_.length;
    EncoderInput input{uninitialized({examples.size(), tokens(), V * P})};
    for (std::size_t i = 0; i < examples.size(); ++i)
      for (std::size_t t = 0; t < tokens(); ++t)
        for (std::size_t v = 0; v < V; ++v)
          std::copy_n(examples[i].values.data() + v * rows() + t * patch_.stride, P,
                      &input.values(i, t, v * P));
    return input;
  }

  std::size_t specimens() const override { return facts_.specimens.size(); }
  RawExample specimen(std::size_t i, const ContrastModel& model) const override {
    return raw_windows(facts_.specimens[i], model).front();
  }

 private:
  std::size_t variates() const { return facts_.variates; }
  std::size_t rows() const { return facts_.lookback; }
  std::size_t tokens() const { return (rows() - patch_.length) / patch_.stride + 1; }
  void add_windows(const ContrastModel& model, const TimeSeries& series,
                   const std::vector<std::size_t>& rows, Asked& asked) const;

  SeriesFacts facts_;
  ReadOptions reading_;
  SeriesColumns columns_;
  bool carries_;
  std::size_t stride_;
  PatchSpec patch_;
};

/// Adds the windows of a series. `of`: row numbers of the series in the table.
void ContrastSeriesFormat::add_windows(const ContrastModel& model, const TimeSeries& series,
                                       const std::vector<std::size_t>& of, Asked& asked) const {
  const auto number = facts_.number_of(series.id);
  if (!number) throw DataError("series ", words_of(series.id), ": unknown to the model");
  const std::size_t V = variates(), L = rows();
  if (series.variates() != V)
    throw DataError("the table has ", series.variates(), " variates; the model needs ", V);
  for (std::size_t first = 0; first + L <= series.rows(); first += stride_) {
    Tensor window = uninitialized({1, V, L});
    for (std::size_t v = 0; v < V; ++v)
      std::copy_n(series.values.data() + v * series.rows() + first, L, window.data() + v * L);
    model.standardize()->apply(window, {*number});
    asked.examples.push_back({{window.begin(), window.end()}, {}, 0});
    asked.rows.push_back(of[first + L - 1] + 1);
  }
}

ContrastFormat::Asked ContrastSeriesFormat::read_table(const ContrastModel& model,
                                                       const NamedArray& table) const {
  NamedArray filled = table;
  Asked asked;
  for (const SeriesRows& part : rows_of_series(filled, columns_.series)) {
    if (carries_) carry_forward(filled, columns_, part.rows);
    add_windows(model, time_series(filled, columns_, part), part.rows, asked);
  }
  if (asked.examples.empty())
    throw DataError("all series of the table are shorter than data.lookback = ", rows(), " rows");
  return asked;
}

/// Returns facts for a model without data.
LabelFacts smallest_sequences(const Config& config) {
  return {.vocabulary = 2, .classes = 1, .length = config.count("data.length"), .examples = 0};
}

}  // namespace

std::unique_ptr<ContrastFormat> make_contrast_format(const Config& config,
                                                     const KnownFacts& facts) {
  const std::string& kind = config.text("data.kind");
  const bool known = !facts.bytes.empty();
  if (kind == "series")
    return std::make_unique<ContrastSeriesFormat>(
        config, known ? facts.of<SeriesFacts>() : smallest_series_facts(config));
  if (kind == "event_files")
    return std::make_unique<ContrastEventFormat>(
        config, known ? facts.of<LabelFacts>() : smallest_sequences(config));
  return std::make_unique<ContrastImageFormat>(
      config, known ? facts.of<LabelFacts>() : smallest_image_facts(config));
}

std::vector<RawExample> raw_images(const LabelledBatch& batch) {
  const std::size_t B = batch.labels.values.size(), pixels = batch.tokens.values.size() / B;
  std::vector<RawExample> raw;
  for (std::size_t i = 0; i < B; ++i)
    raw.push_back(
        raw_image(batch.tokens.values.data() + i * pixels, pixels, batch.labels.values[i]));
  return raw;
}

std::vector<RawExample> raw_sequences(const LabelledBatch& batch) {
  const std::size_t T = batch.tokens.shape[1];
  std::vector<RawExample> raw(batch.labels.values.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const std::int32_t* types = batch.tokens.values.data() + i * T;
    const double* times = batch.times.data() + i * T;
    raw[i] = {{},
              {{types, types + batch.lengths[i]}, 0, {times, times + batch.lengths[i]}},
              batch.labels.values[i]};
  }
  return raw;
}

std::vector<RawExample> raw_windows(SeriesBatch batch, const ContrastModel& model) {
  model.standardize()->apply(batch.past, batch.series);
  const std::size_t size = batch.past.size() / batch.series.size();
  std::vector<RawExample> raw(batch.series.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const real* window = batch.past.data() + i * size;
    raw[i] = {{window, window + size}, {}, std::int32_t(batch.series[i])};
  }
  return raw;
}

}  // namespace bochner
