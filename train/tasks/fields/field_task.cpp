#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/fields/field_data.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/table_learner.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>
#include <functional>

namespace bochner {
namespace {

constexpr std::uint64_t shown_examples = 3;

/// Throws DataError if the config does not fit the size of the facts.
FieldModelSpec field_model_spec(const Config& config, const FieldFacts& facts) {
  auto spec = read_spec<FieldModelSpec>(config, "model");
  const FieldSize size = facts.size();
  if (size.sides.size() != config.count("data.dimensions"))
    throw DataError("data.dimensions = ", config.count("data.dimensions"),
                    "; the model was trained on fields of ", size.text());
  for (const std::size_t side : size.sides)
    if (side % spec.patch != 0)
      throw DataError("model.patch.pixels = ", spec.patch, ": must divide ", side,
                      ", a side of the fields that the model was trained on");
  spec.frames = size.frames;
  spec.sides = size.sides;
  spec.standardize = reads_films(config);
  spec.encoding.space.seed = spec.encoding.time.seed = config.count("train.seed");
  complete(spec.stack, config, spec.frames * size.patches(spec.patch));
  return spec;
}

/// Predicts the next frame of a field.
class FieldLearner : public TableLearner<FieldFacts, FieldModelSpec, FieldModel> {
 public:
  FieldLearner(const Config& config, FieldFacts facts)
      : TableLearner(config, std::move(facts), field_model_spec) {}

  std::string describe() const override {
    const FieldSize patch{1, std::vector<std::size_t>(spec_.sides.size(), spec_.patch)};
    return fmt::format("field, {}, encoding {}{}, patches of {}", describe_stack(spec_.stack),
                       spec_.encoding.kind, spec_.every_block ? " in every block" : "",
                       patch.text());
  }
  std::string loss_unit() const override { return "mse"; }
  Json sizes() const override {
    return Json{{"length", facts_.frames * facts_.size().patches(spec_.patch)}};
  }

  void illustrate(Page& page) override {
    const GridAxes patches = model_.patch_axes();
    std::vector<double> times = model_.token_times();
    times.erase(std::unique(times.begin(), times.end()), times.end());
    add_encoding(page, model_, {patches, times, "place", "frame"});
  }

  /// Returns the next frame: (T, H, W) -> (H, W), or (N, T, H, W) -> (N, H, W); other numbers of
  /// dimensions likewise.
  NamedArray predict(const NamedArray& question) override {
    const FieldSize size = facts_.size();
    std::vector<std::size_t> film{size.frames},
        shape(question.values.shape().begin(), question.values.shape().end());
    film.insert(film.end(), size.sides.begin(), size.sides.end());
    const bool one = shape == film;
    if (!one && (shape.empty() || std::vector<std::size_t>(shape.begin() + 1, shape.end()) != film))
      throw DataError("frames must be ", to_string(Shape(film.begin(), film.end())),
                      ", or several such films along a first axis");
    shape.erase(shape.begin() + (one ? 0 : 1));  // the axis of frames
    film.insert(film.begin(), question.values.size() / (size.frames * size.pixels()));
    Tensor frames = uninitialized(Shape(film.begin(), film.end()));
    std::copy_n(question.values.data(), frames.size(), frames.data());
    const Tensor next = next_frames(std::move(frames));
    NamedArray result;
    result.values = xt::xarray<double>::from_shape(shape);
    std::copy_n(next.data(), next.size(), result.values.data());
    return result;
  }

  void forward_specimen(Tape& tape, std::size_t i) override {
    const FieldBatch one = in_unit(facts_.specimens[i]);
    model_.loss(tape, one.frames, one.next);
  }

  /// The tokens of the last frame predict the next.
  PlacedExample placed_specimen(std::size_t) override {
    PlacedExample example{{model_.token_places(), model_.token_times()}, {}};
    const std::vector<double>& times = example.tokens.times;
    for (std::size_t t = 0; t < times.size(); ++t)
      if (times[t] == times.back()) example.asked.push_back(t);
    return example;
  }

  /// Converts a batch to the unit of the model.
  FieldBatch in_unit(FieldBatch batch) {
    change_unit(batch.frames, &Standardize::apply);
    change_unit(batch.next, &Standardize::apply);
    return batch;
  }

  /// Predicts in the unit of the data. (B, T, H, W) -> (B, H, W)
  Tensor next_frames(Tensor frames) {
    Tape tape({.recording = false});
    change_unit(frames, &Standardize::apply);
    Tensor next = model_.predict(tape, frames).value();
    change_unit(next, &Standardize::undo);
    return next;
  }

 private:
  /// Converts all numbers, as one variate, to the unit of the model or back; does nothing without
  /// one.
  void change_unit(Tensor& x, void (Standardize::*change)(Tensor&) const) {
    if (!model_.standardize()) return;
    const Shape shape = x.shape();
    x.reshape({1, 1, x.size()});
    (model_.standardize()->*change)(x);
    x.reshape(shape);
  }
};

/// Returns the sum over n elements of (x - truth)^2.
double squared_error(const real* x, const real* truth, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::pow(double(x[i]) - double(truth[i]), 2);
  return sum;
}

/// Returns n elements from `first`.
std::vector<double> numbers(const Tensor& x, std::size_t first, std::size_t n) {
  return std::vector<double>(x.data() + first, x.data() + first + n);
}

double largest_magnitude(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Draws last frame, truth, prediction and error of each example side by side. prediction: (B, H,
/// W)
void add_fields(Page& page, const FieldBatch& fields, const Tensor& prediction,
                const FieldSize& size) {
  page.section("Fields",
               "The first validation examples: last input frame, next frame, its prediction, and "
               "prediction minus truth in a separate colour scale.");
  const Plane plane(size.sides);
  const std::size_t T = size.frames, n = size.pixels();
  // Draws values in colours from -reach to reach.
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

class FieldTask : public Task {
 public:
  FieldTask(const Config& config, const KnownFacts& known)
      : FieldTask(config, open_fields(config), known) {}

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return *data_; }

  Var loss(Tape& tape, const Examples& examples) override {
    const FieldBatch batch = batch_of(examples);
    return field_model().loss(tape, batch.frames, batch.next);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const FieldBatch batch = batch_of(examples);
    const Var predicted = field_model().predict(tape, batch.frames);
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
            {"outputs", array_of(field_model().predict(tape, batch.frames).value())}};
  }

  void illustrate(Page& page) override {
    const auto shown = std::min<std::uint64_t>(shown_examples, data_->examples().validation);
    if (shown == 0) return;
    const FieldBatch batch = data_->batch(data_->in_order(Split::validation, 0, shown));
    add_fields(page, batch, learner_.next_frames(batch.frames), data_->size());
  }

 private:
  FieldTask(const Config& config, OpenedFields fields, const KnownFacts& known)
      : exact_(!fields.unit),
        data_(std::move(fields.data)),
        learner_(config, field_facts(*data_, known)) {
    if (fields.unit)
      field_model().standardize()->set({fields.unit->mean}, {fields.unit->deviation});
  }
  FieldModel& field_model() { return learner_.model(); }
  FieldBatch batch_of(const Examples& examples) { return learner_.in_unit(data_->batch(examples)); }

  bool exact_;
  std::unique_ptr<FieldSource> data_;
  FieldLearner learner_;
};

}  // namespace

const char field_template[] =
    R"(# The next frame of fields in NPY files: (frames, height, width), or several films
# (films, frames, height, width) or (films, frames, height, width, components).
# See docs/space-time.md.

[model]
kind = "field"
blocks = 2
width = 32
patch.pixels = 2              # a token is 2 x 2 pixels

[model.encoding]
kind = "fused"                # a learned projection of space and time
space = 32
time = 32

[model.mixer]
kind = "softmax"
heads = 4

[data]
kind = "field_files"
files = [{files}]
frames = 4                    # input frames
validation = 0.1              # of the films, or the end of a single one
)";

void add_field_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "field", open_as<FieldTask>,
                      learn_as<FieldLearner, assumed_field_facts>};
  for (const std::string& name : field_kinds()) add(name, validation_examples, check_field);
  add("field_files", validation_fraction, check_field);
}

}  // namespace bochner
