#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/fields/field_files.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>
#include <functional>

namespace bochner {
namespace {

constexpr std::uint64_t shown_examples = 3;

/// Sum over n elements of (x - truth)^2.
double squared_error(const real* x, const real* truth, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::pow(double(x[i]) - double(truth[i]), 2);
  return sum;
}

bool reads_films(const Config& config) { return config.text("data.kind") == "field_files"; }

/// Of the axes, as many of the last ones as the space has dimensions.
std::vector<std::string> side_keys(const Config& config) {
  std::vector<std::string> keys{"data.planes", "data.height", "data.width"};
  keys.erase(keys.begin(), keys.end() - config.integer("data.dimensions"));
  return keys;
}

/// Throws DataError unless a size is that of the films or 0.
void require_side(const Config& config, const std::string& key, std::size_t side) {
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
  const FieldFilesSpec spec{config.count("data.frames"), config.count("data.dimensions"),
                            config.number("data.validation"), config.count("train.seed"),
                            config.count("model.patch.pixels")};
  auto films = std::make_unique<FieldFiles>(
      expand_files(config.text_list("data.files"), std::filesystem::current_path()), spec);
  const std::vector<std::string> keys = side_keys(config);
  for (std::size_t j = 0; j < keys.size(); ++j)
    require_side(config, keys[j], films->size().sides[j]);
  return films;
}

FieldModelSpec field_model_spec(const Config& config, const FieldSize& size) {
  auto spec = read_spec<FieldModelSpec>(config, "model");
  spec.frames = size.frames;
  spec.sides = size.sides;
  spec.standardize = reads_films(config);
  spec.encoding.space.seed = spec.encoding.time.seed = config.count("train.seed");
  complete(spec.stack, config, spec.frames * size.patches(spec.patch));
  return spec;
}

/// n elements from `first` on.
std::vector<double> numbers(const Tensor& x, std::size_t first, std::size_t n) {
  return std::vector<double>(x.data() + first, x.data() + first + n);
}

double largest_magnitude(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Last frame, truth, prediction and error side by side, one example after the other. prediction
/// (B, H, W)
void add_fields(Page& page, const FieldBatch& fields, const Tensor& prediction,
                const FieldSize& size) {
  page.section("Fields",
               "The first validation examples: last frame that is seen, next frame, its "
               "prediction, and prediction less truth in colours of its own.");
  const Plane plane(size.sides);
  const std::size_t T = size.frames, n = size.pixels();
  // Colours from -reach to reach.
  const auto frame = [&](const char* title, const std::vector<double>& values, double reach,
                         Colours colours = Colours::sequential) {
    return draw(HeatMap{.title = title,
                        .x_label = "x",
                        .y_label = "y",
                        .rows = plane.rows,
                        .columns = plane.columns,
                        .values = values,
                        .lowest = -reach,
                        .highest = reach,
                        .colours = colours});
  };
  for (std::size_t b = 0; b < prediction.shape()[0]; ++b) {
    const auto drawn = [&](const Tensor& frames, std::size_t frame) {
      return numbers(frames, frame * n + plane.first, plane.size());
    };
    const std::vector<double> last = drawn(fields.frames, b * T + T - 1),
                              truth = drawn(fields.next, b), predicted = drawn(prediction, b);
    std::vector<double> error(plane.size());
    std::transform(predicted.begin(), predicted.end(), truth.begin(), error.begin(),
                   std::minus<>());
    const double reach = std::max(largest_magnitude(last), largest_magnitude(truth));
    page.paragraph(fmt::format("Example {}", b));
    page.charts({frame("last frame", last, reach), frame("truth", truth, reach),
                 frame("prediction", predicted, reach),
                 frame("error", error, largest_magnitude(error), Colours::diverging)},
                card_width(heat_map_width));
  }
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
    const Moments moments = dynamic_cast<FieldFiles&>(*data_).moments();
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

  NamedArrays arrays(const Examples& examples) override {
    const FieldBatch batch = batch_of(examples);
    Tape tape({.recording = false});
    return {{"frames", array_of(batch.frames)},
            {"targets", array_of(batch.next)},
            {"outputs", array_of(model_.predict(tape, batch.frames).value())}};
  }
  Json sizes() const override {
    const FieldSize size = data_->size();
    return Json{{"length", size.frames * size.patches(model_.spec().patch)}};
  }

  /// The frame after the last: (T, H, W) -> (H, W), or (N, T, H, W) -> (N, H, W); of other
  /// dimensions likewise.
  NamedArray predict(const NamedArray& input) override {
    const FieldSize size = data_->size();
    std::vector<std::size_t> film{size.frames},
        shape(input.values.shape().begin(), input.values.shape().end());
    film.insert(film.end(), size.sides.begin(), size.sides.end());
    const bool one = shape == film;
    if (!one && (shape.empty() || std::vector<std::size_t>(shape.begin() + 1, shape.end()) != film))
      throw DataError("frames must be ", to_string(Shape(film.begin(), film.end())),
                      ", or many of them one after the other");
    shape.erase(shape.begin() + (one ? 0 : 1));  // the frames that are seen
    film.insert(film.begin(), input.values.size() / (size.frames * size.pixels()));
    Tensor frames = uninitialized(Shape(film.begin(), film.end()));
    std::copy_n(input.values.data(), frames.size(), frames.data());
    const Tensor next = next_frames(std::move(frames));
    NamedArray result;
    result.values = xt::xarray<double>::from_shape(shape);
    std::copy_n(next.data(), next.size(), result.values.data());
    return result;
  }

  std::string describe_model() const override {
    const FieldModelSpec& spec = model_.spec();
    const FieldSize patch{1, std::vector<std::size_t>(spec.sides.size(), spec.patch)};
    return fmt::format("field, {}, encoding {}{}, patches of {}", describe_stack(spec.stack),
                       spec.encoding.kind, spec.every_block ? " in every block" : "", patch.text());
  }

  void illustrate(Page& page) override {
    const auto shown = std::min<std::uint64_t>(shown_examples, data_->examples().validation);
    if (shown > 0) {
      const FieldBatch batch = data_->batch(data_->in_order(Split::validation, 0, shown));
      add_fields(page, batch, next_frames(batch.frames), data_->size());
    }
    const GridAxes patches = model_.patch_axes();
    std::vector<double> times = model_.token_times();
    times.erase(std::unique(times.begin(), times.end()), times.end());
    add_encoding(page, model_, {patches, times, "place", "frame"});
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
    Tape tape({.recording = false});
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

std::unique_ptr<Module> stand_in_for_fields(const Config& config) {
  const std::size_t side = 4 * config.count("model.patch.pixels");
  const std::vector<std::size_t> sides(config.count("data.dimensions"), side);
  return std::make_unique<FieldModel>(
      field_model_spec(config, {config.count("data.frames"), sides}));
}

}  // namespace bochner
