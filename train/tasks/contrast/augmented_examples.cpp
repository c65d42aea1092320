#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/data/events/event_files.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/train/tasks/contrast/augmented_examples.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/fit_time_scale.hpp>
#include <bochner/train/tasks/labels/image_data.hpp>
#include <bochner/train/tasks/labels/labelled_data.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <utility>

namespace bochner {
namespace {

ViewsSpec views_spec(const Config& config) { return read_spec<ViewsSpec>(config, "data.views"); }

/// Square pieces of images as tokens, row by row; pixels of a piece row by row, their channels
/// together.
class ImageSource : public AugmentedExamples {
 public:
  explicit ImageSource(const Config& config)
      : spec_(views_spec(config)),
        data_(labelled_sequences(config, shape_)),
        image_(data_->image()),
        side_(config.count("model.patch.pixels")) {
    if (image_.rows % side_ != 0 || image_.columns % side_ != 0)
      throw DataError("images of ", image_.rows, " x ", image_.columns,
                      " pixels: model.patch.pixels = ", side_, " must divide both sides");
    order_ = patch_order(image_, side_);
  }
  const Dataset& data() const override { return *data_; }
  std::size_t classes() const override { return data_->classes(); }
  void complete(ContrastModelSpec& spec) const override {
    spec.encoder.values = numbers();
    spec.encoder.trunk.length = tokens();
  }
  void fit(ContrastModel&, std::uint64_t) const override {}

  std::vector<RawExample> read(const ContrastModel&, const Examples& examples) const override {
    const LabelledBatch batch = data_->batch(examples);
    const std::size_t pixels = tokens() * numbers();
    std::vector<RawExample> raw(examples.size());
    for (std::size_t i = 0; i < raw.size(); ++i)
      raw[i] = raw_image(batch.tokens.values.data() + i * pixels, batch.labels.values[i]);
    return raw;
  }
  Asked read_table(const ContrastModel&, const NamedArray& table) override {
    Asked asked;
    for (const std::vector<std::int32_t>& pixels : pixels_of(table, image_))
      asked.examples.push_back(raw_image(pixels.data(), 0));
    return asked;
  }
  RawExample view(const RawExample& example, Draws draws) const override {
    return {image_view(example.values, image_, spec_, draws), {}, example.label};
  }

  EncoderInput encode(const std::vector<RawExample>& examples) const override {
    EncoderInput input{uninitialized({examples.size(), tokens(), numbers()})};
    real* to = input.values.data();
    for (const RawExample& example : examples)
      for (const std::size_t place : order_) *to++ = example.values[place];
    return input;
  }

 private:
  std::size_t tokens() const { return image_.rows / side_ * (image_.columns / side_); }
  std::size_t numbers() const { return side_ * side_ * image_.channels; }
  RawExample raw_image(const std::int32_t* brightness, std::int32_t label) const {
    RawExample raw{std::vector<float>(tokens() * numbers()), {}, label};
    for (std::size_t i = 0; i < raw.values.size(); ++i) raw.values[i] = float(brightness[i]) / 255;
    return raw;
  }

  ViewsSpec spec_;
  TableShape shape_;
  std::unique_ptr<LabelledSequences> data_;
  ImageShape image_;
  std::size_t side_;
  std::vector<std::size_t> order_;  // of pixels: patch by patch
};

/// Whole sequences of events at their times.
class EventSequenceSource : public AugmentedExamples {
 public:
  explicit EventSequenceSource(const Config& config)
      : spec_(views_spec(config)),
        events_(labelled_events_spec(config)),
        columns_(event_columns(config)),
        data_(labelled_sequences(config, shape_)) {}
  const Dataset& data() const override { return *data_; }
  Vocabularies names() const override { return names_in(shape_); }
  std::size_t classes() const override { return columns_.label.empty() ? 0 : data_->classes(); }
  void complete(ContrastModelSpec& spec) const override {
    spec.encoder.trunk.timed = true;
    spec.encoder.trunk.vocabulary = data_->vocabulary();
    spec.encoder.trunk.length = data_->length();
  }
  void fit(ContrastModel& model, std::uint64_t seed) const override {
    fit_times(model, *model.time_scale(), model.spec().encoder.trunk.time,
              data_->batch(scale_examples(*data_)).times, seed);
  }

  std::vector<RawExample> read(const ContrastModel&, const Examples& examples) const override {
    const LabelledBatch batch = data_->batch(examples);
    const std::size_t T = batch.tokens.shape[1];
    std::vector<RawExample> raw(examples.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const std::int32_t* types = batch.tokens.values.data() + i * T;
      const double* times = batch.times.data() + i * T;
      raw[i] = {{},
                {{types, types + batch.lengths[i]}, 0, {times, times + batch.lengths[i]}},
                batch.labels.values[i]};
    }
    return raw;
  }
  Asked read_table(const ContrastModel&, const NamedArray& table) override {
    const EventColumns columns = columns_without_label(columns_, shape_, table);
    NamedArray numbered = table;
    number_texts(numbered, columns, shape_, false);
    Asked asked;
    for (const EventTable& events : event_tables(numbered, data_->vocabulary(), columns))
      asked.examples.push_back({{}, labelled_example(events, events_, data_->vocabulary()), 0});
    return asked;
  }
  RawExample view(const RawExample& example, Draws draws) const override {
    return {{}, event_view(example.events, spec_, draws), example.label};
  }
  EncoderInput encode(const std::vector<RawExample>& examples) const override {
    std::vector<LabelledExample> rows;
    for (const RawExample& example : examples) rows.push_back(example.events);
    LabelledBatch batch = batch_of(rows);
    return {{}, std::move(batch.tokens), std::move(batch.lengths), std::move(batch.times)};
  }

 private:
  ViewsSpec spec_;
  LabelledEventsSpec events_;
  EventColumns columns_;
  TableShape shape_;
  std::unique_ptr<LabelledSequences> data_;
};

SeriesSpec windows_spec(const Config& config) {
  auto spec = read_spec<SeriesSpec>(config, "data");
  spec.horizon = 1;  // a row behind a window says of which split it is
  spec.seed = config.count("train.seed");
  return spec;
}

/// Windows of data.lookback rows; patches of all variates together are tokens. Where there are
/// several series, the label of a window is the number of its own.
class SeriesSource : public AugmentedExamples {
 public:
  explicit SeriesSource(const Config& config)
      : spec_(views_spec(config)),
        columns_(series_columns(config)),
        carries_(carries_forward(config, columns_)),
        patch_{config.count("model.patch.length"), config.count("model.patch.stride")},
        windows_(read_series(config).series, windows_spec(config)) {}
  const Dataset& data() const override { return windows_; }
  Vocabularies names() const override { return windows_.names(); }
  std::size_t classes() const override { return windows_.count() > 1 ? windows_.count() : 0; }
  void complete(ContrastModelSpec& spec) const override {
    spec.variates = variates();
    spec.series = windows_.count();
    spec.encoder.values = variates() * patch_.length;
    spec.encoder.trunk.length = tokens();
  }
  void fit(ContrastModel& model, std::uint64_t) const override {
    const SeriesMoments moments = windows_.moments();
    model.standardize()->set(moments.mean, moments.deviation);
  }

  std::vector<RawExample> read(const ContrastModel& model,
                               const Examples& examples) const override {
    SeriesBatch batch = windows_.batch(examples);
    model.standardize()->apply(batch.past, batch.series);
    const std::size_t size = variates() * rows();
    std::vector<RawExample> raw(examples.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const real* window = batch.past.data() + i * size;
      raw[i] = {{window, window + size}, {}, std::int32_t(batch.series[i])};
    }
    return raw;
  }
  std::vector<std::string> columns() const override {
    std::vector<std::string> names = windows_.series().names;
    if (!names.empty()) names.insert(names.end(), columns_.series.begin(), columns_.series.end());
    return names;
  }
  Asked read_table(const ContrastModel& model, const NamedArray& table) override;
  RawExample view(const RawExample& example, Draws draws) const override {
    return {series_view(example.values, variates(), spec_, draws), {}, example.label};
  }

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

 private:
  std::size_t variates() const { return windows_.series().variates(); }
  std::size_t rows() const { return windows_.spec().lookback; }
  std::size_t tokens() const { return (rows() - patch_.length) / patch_.stride + 1; }
  void add_windows(const ContrastModel& model, const TimeSeries& series,
                   const std::vector<std::size_t>& rows, Asked& asked) const;

  ViewsSpec spec_;
  SeriesColumns columns_;
  bool carries_;
  PatchSpec patch_;
  SeriesWindows windows_;
};

/// `of` are the numbers of its rows in the table.
void SeriesSource::add_windows(const ContrastModel& model, const TimeSeries& series,
                               const std::vector<std::size_t>& of, Asked& asked) const {
  const auto number = windows_.called(series.id);
  if (!number) throw DataError("series ", words_of(series.id), ": the model has not learned it");
  const std::size_t V = variates(), L = rows();
  if (series.variates() != V)
    throw DataError("the table has ", series.variates(), " variates, the model ", V);
  for (std::size_t first = 0; first + L <= series.rows(); first += windows_.spec().stride) {
    Tensor window = uninitialized({1, V, L});
    for (std::size_t v = 0; v < V; ++v)
      std::copy_n(series.values.data() + v * series.rows() + first, L, window.data() + v * L);
    model.standardize()->apply(window, {*number});
    asked.examples.push_back({{window.begin(), window.end()}, {}, 0});
    asked.rows.push_back(of[first + L - 1] + 1);
  }
}

AugmentedExamples::Asked SeriesSource::read_table(const ContrastModel& model,
                                                  const NamedArray& table) {
  NamedArray filled = table;
  Asked asked;
  for (const SeriesRows& part : rows_of_series(filled, columns_.series)) {
    if (carries_) carry_forward(filled, columns_, part.rows);
    add_windows(model, time_series(filled, columns_, part), part.rows, asked);
  }
  if (asked.examples.empty())
    throw DataError("no series of the table has data.lookback = ", rows(), " rows");
  return asked;
}

}  // namespace

EncoderInput AugmentedExamples::views(const ContrastModel& model, const Examples& examples,
                                      ViewPass pass) const {
  const std::vector<RawExample> raw = read(model, examples);
  const std::size_t B = raw.size();
  std::vector<RawExample> both(2 * B);
  parallel_tasks(2 * B, [&](std::size_t i) {
    ViewPass own = pass;
    own.view = i / B;
    both[i] = view(raw[i % B], view_draws(own, examples.index(i % B)));
  });
  return encode(both);
}

std::unique_ptr<AugmentedExamples> view_source(const Config& config) {
  const std::string& kind = config.text("data.kind");
  if (kind == "series") return std::make_unique<SeriesSource>(config);
  if (kind == "event_files") return std::make_unique<EventSequenceSource>(config);
  return std::make_unique<ImageSource>(config);
}

}  // namespace bochner
