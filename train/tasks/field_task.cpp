#include <fmt/format.h>

#include <algorithm>
#include <bochner/data/field_files.hpp>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>
#include <functional>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::uint64_t shown_examples = 3;
constexpr int picture_width = 220;

/// Sum over n elements of (x - truth)^2.
double squared_error(const real* x, const real* truth, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::pow(double(x[i]) - double(truth[i]), 2);
  return sum;
}

bool reads_films(const Config& config) { return config.text("data.kind") == "field_files"; }

/// Throws DataError unless a size is that of the films or 0.
void require_side(const Config& config, const char* key, std::size_t side) {
  const std::size_t wanted = config.count(key), patch = config.count("model.patch.pixels");
  if (wanted != side && wanted != 0)
    throw DataError(key, " = ", wanted, ": the films have ", side, "; leave the key out");
  if (side % patch != 0)
    throw DataError("model.patch.pixels = ", patch, ": must divide ", key, " = ", side,
                    ", that of the films");
}

std::unique_ptr<FieldSource> open_source(const Config& config) {
  if (!reads_films(config)) {
    auto spec = read_spec<FieldSpec>(config, "data");  // a size of 0 is that of FieldSpec
    spec.kind = config.text("data.kind");
    spec.patch = config.count("model.patch.pixels");
    return std::make_unique<Fields>(spec, example_set(config));
  }
  const FieldFilesSpec spec{config.count("data.frames"), config.number("data.validation"),
                            config.count("train.seed"), config.count("model.patch.pixels")};
  auto films = std::make_unique<FieldFiles>(
      expand_files(config.text_list("data.files"), std::filesystem::current_path()), spec);
  require_side(config, "data.height", films->size().height);
  require_side(config, "data.width", films->size().width);
  return films;
}

FieldModelSpec field_model_spec(const Config& config, const FieldSize& size) {
  auto spec = read_spec<FieldModelSpec>(config, "model");
  spec.frames = size.frames;
  spec.height = size.height;
  spec.width = size.width;
  spec.standardize = reads_films(config);
  spec.encoding.space.seed = spec.encoding.time.seed = config.count("train.seed");
  complete(spec.stack, config,
           spec.frames * (spec.height / spec.patch) * (spec.width / spec.patch));
  return spec;
}

/// Encoding of N = rows columns places and T times in E channels, (T, N, E).
struct Encoding {
  std::size_t times, rows, columns, channels;
  std::vector<double> values;

  const double* row(std::size_t i) const { return values.data() + i * channels; }
};

/// n elements from `first` on.
std::vector<double> numbers(const Tensor& x, std::size_t first, std::size_t n) {
  return std::vector<double>(x.data() + first, x.data() + first + n);
}

double largest_magnitude(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

double product(const Encoding& encoding, std::size_t a, std::size_t b) {
  return std::inner_product(encoding.row(a), encoding.row(a + 1), encoding.row(b), 0.0);
}

/// With the place in the middle, at the middle time; 1 there.
HeatMap kernel_in_space(const Encoding& encoding) {
  HeatMap map{"kernel: one place with all", "x", "y", encoding.rows, encoding.columns};
  const std::size_t places = encoding.rows * encoding.columns;
  const std::size_t first = encoding.times / 2 * places;
  const std::size_t middle = first + encoding.rows / 2 * encoding.columns + encoding.columns / 2;
  for (std::size_t n = 0; n < places; ++n)
    map.values.push_back(product(encoding, middle, first + n) / product(encoding, middle, middle));
  return map;
}

/// Of one place, between all times.
HeatMap kernel_in_time(const Encoding& encoding) {
  HeatMap map{"kernel: one place, all times", "frame", "frame", encoding.times, encoding.times};
  const std::size_t places = encoding.rows * encoding.columns;
  for (std::size_t t = 0; t < encoding.times; ++t)
    for (std::size_t s = 0; s < encoding.times; ++s)
      map.values.push_back(product(encoding, t * places, s * places) / product(encoding, 0, 0));
  return map;
}

/// Rows first, first + stride, .. of the encoding.
HeatMap channels_of(const Encoding& encoding, const std::string& title, const std::string& label,
                    std::size_t count, std::size_t stride) {
  HeatMap map{title, "channel", label, count, encoding.channels};
  for (std::size_t i = 0; i < count; ++i)
    map.values.insert(map.values.end(), encoding.row(i * stride), encoding.row(i * stride + 1));
  return map;
}

/// Last frame, truth, prediction and error side by side, one example after the other. prediction
/// (B, H, W)
void add_fields(Page& page, const FieldBatch& fields, const Tensor& prediction) {
  page.section("Fields",
               "The first validation examples: last frame that is seen, next frame, its "
               "prediction, and prediction less truth in colours of its own.");
  const Shape& shape = fields.frames.shape();
  const std::size_t T = shape[1], H = shape[2], W = shape[3], n = H * W;
  // Colours from -reach to reach.
  const auto frame = [&](const char* title, const std::vector<double>& values, double reach) {
    return draw(HeatMap{.title = title,
                        .x_label = "x",
                        .y_label = "y",
                        .rows = H,
                        .columns = W,
                        .values = values,
                        .lowest = -reach,
                        .highest = reach});
  };
  for (std::size_t b = 0; b < shape[0]; ++b) {
    const std::vector<double> last = numbers(fields.frames, (b * T + T - 1) * n, n),
                              truth = numbers(fields.next, b * n, n),
                              predicted = numbers(prediction, b * n, n);
    std::vector<double> error(n);
    std::transform(predicted.begin(), predicted.end(), truth.begin(), error.begin(),
                   std::minus<>());
    const double reach = std::max(largest_magnitude(last), largest_magnitude(truth));
    page.paragraph(fmt::format("Example {}", b));
    page.charts(
        {frame("last frame", last, reach), frame("truth", truth, reach),
         frame("prediction", predicted, reach), frame("error", error, largest_magnitude(error))},
        picture_width);
  }
}

/// The encoding by place and by time, and its inner products with one place and among times.
void add_encoding(Page& page, FieldModel& model) {
  const FieldModelSpec& spec = model.spec();
  Tape tape;
  tape.recording = false;
  const Tensor code = model.encoding(tape).value();
  const Encoding encoding{spec.frames, spec.height / spec.patch, spec.width / spec.patch,
                          code.shape()[2], numbers(code, 0, code.size())};
  const std::size_t places = encoding.rows * encoding.columns;
  page.section("Encoding of space and time",
               "Channels of all places of the first frame, row by row, and of all times of the "
               "first place; then its kernel, the inner products.");
  page.charts({draw(channels_of(encoding, "encoding by place", "place", places, 1)),
               draw(channels_of(encoding, "encoding by time", "frame", encoding.times, places)),
               draw(kernel_in_space(encoding)), draw(kernel_in_time(encoding))},
              picture_width);
}

/// The next frame of a field.
class FieldTask : public Task {
 public:
  explicit FieldTask(const Config& config)
      : exact_(!reads_films(config)),
        data_(open_source(config)),
        model_(field_model_spec(config, data_->size())) {
    initialize(model_, config.count("train.seed"));
    if (!model_.standardize()) return;
    const FieldMoments moments = dynamic_cast<FieldFiles&>(*data_).moments();
    model_.standardize()->set({moments.mean}, {moments.deviation});
  }

  Module& model() override { return model_; }
  const Dataset& data() const override { return *data_; }
  std::string loss_unit() const override { return "mse"; }

  Var loss(Tape& tape, const Examples& examples) override {
    const FieldBatch batch = batch_of(examples);
    return model_.loss(tape, batch.frames, batch.next);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const FieldBatch batch = batch_of(examples);
    const Var predicted = model_.predict(tape, batch.frames);
    const std::size_t B = batch.next.shape()[0], T = data_->size().frames;
    const std::size_t pixels = batch.next.size() / B;
    Evaluation result{0, batch.next.size(), "mse", {}};
    const std::vector<real> nothing(pixels);
    Measure repeated{"persistence", "mse of the last frame"};
    Measure relative{"relative_error", "relative error", 0, true};
    for (std::size_t b = 0; b < B; ++b) {
      const real* truth = batch.next.data() + b * pixels;
      const real* last = batch.frames.data() + (b * T + T - 1) * pixels;
      const double error = squared_error(predicted.data() + b * pixels, truth, pixels);
      result.loss_sum += error;
      repeated.sum += squared_error(last, truth, pixels);
      relative.sum +=
          double(pixels) * std::sqrt(error / squared_error(truth, nothing.data(), pixels));
    }
    result.measures = {repeated};
    if (exact_) result.measures.push_back(relative);
    return result;
  }

  /// The frame after the last: (T, H, W) -> (H, W), or (N, T, H, W) -> (N, H, W).
  NamedArray predict(const NamedArray& input) override {
    const auto [T, H, W] = data_->size();
    const std::size_t rank = input.values.dimension();
    const bool fits = (rank == 3 || rank == 4) && input.values.shape()[rank - 3] == T &&
                      input.values.shape()[rank - 2] == H && input.values.shape()[rank - 1] == W;
    if (!fits)
      throw DataError("frames must be ", to_string(Shape{T, H, W}),
                      ", or many of them one after the other");
    Tensor frames = uninitialized({input.values.size() / (T * H * W), T, H, W});
    std::copy_n(input.values.data(), frames.size(), frames.data());
    std::vector<std::size_t> shape = {frames.shape()[0], H, W};
    if (rank == 3) shape.erase(shape.begin());
    const Tensor next = next_frames(std::move(frames));
    NamedArray result;
    result.values = xt::xarray<double>::from_shape(shape);
    std::copy_n(next.data(), next.size(), result.values.data());
    return result;
  }

  std::string describe_model() const override {
    const FieldModelSpec& spec = model_.spec();
    return fmt::format("field, {}, encoding {}{}, patches of {} x {}", describe_stack(spec.stack),
                       spec.encoding.kind, spec.every_block ? " in every block" : "", spec.patch,
                       spec.patch);
  }

  void illustrate(Page& page) override {
    const auto shown = std::min<std::uint64_t>(shown_examples, data_->examples().validation);
    if (shown > 0) {
      const FieldBatch batch = data_->batch(data_->in_order(Split::validation, 0, shown));
      add_fields(page, batch, next_frames(batch.frames));
    }
    if (model_.encoder()) add_encoding(page, model_);
  }

 private:
  /// All numbers as those of one variate, if the model has a unit of its own: to it, or back.
  void change_unit(Tensor& x, void (Standardize::*change)(Tensor&) const) {
    if (!model_.standardize()) return;
    const Shape shape = x.shape();
    x.reshape({1, 1, x.size()});
    (model_.standardize()->*change)(x);
    x.reshape(shape);
  }

  /// In the unit of the model.
  FieldBatch batch_of(const Examples& examples) {
    FieldBatch batch = data_->batch(examples);
    change_unit(batch.frames, &Standardize::apply);
    change_unit(batch.next, &Standardize::apply);
    return batch;
  }

  /// In the unit of the data. (B, T, H, W) -> (B, H, W)
  Tensor next_frames(Tensor frames) {
    Tape tape;
    tape.recording = false;
    change_unit(frames, &Standardize::apply);
    Tensor next = model_.predict(tape, frames).value();
    change_unit(next, &Standardize::undo);
    return next;
  }

  bool exact_;  ///< the next frame is the solution, without noise
  std::unique_ptr<FieldSource> data_;
  FieldModel model_;
};

}  // namespace

std::unique_ptr<Task> make_field_task(const Config& config) {
  return std::make_unique<FieldTask>(config);
}

}  // namespace bochner::inline BOCHNER_PRECISION
