#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/fields/field_files.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/fields/field_kinds.hpp>
#include <bochner/train/tasks/fields/field_learner.hpp>
#include <bochner/train/tasks/specimens.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>
#include <functional>
#include <optional>

namespace bochner {
namespace {

constexpr std::uint64_t shown_examples = 3;

/// Returns the sum over n elements of (x - truth)^2.
double squared_error(const real* x, const real* truth, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::pow(double(x[i]) - double(truth[i]), 2);
  return sum;
}

/// Returns the size keys of the last data.dimensions axes.
std::vector<std::string> side_keys(const Config& config) {
  std::vector<std::string> keys{"data.planes", "data.height", "data.width"};
  keys.erase(keys.begin(), keys.end() - config.integer("data.dimensions"));
  return keys;
}

/// Throws DataError unless a size key is 0 or the side of the films, and patches divide that side.
void require_side(const Config& config, const std::string& key, std::size_t side) {
  const std::size_t wanted = config.count(key), patch = config.count("model.patch.pixels");
  if (wanted != side && wanted != 0)
    throw DataError(key, " = ", wanted, ": the films have ", side, "; remove the key");
  if (side % patch != 0)
    throw DataError("model.patch.pixels = ", patch, ": must divide ", key, " = ", side,
                    " of the films");
}

std::unique_ptr<FieldSource> open_generated(const Config& config) {
  auto spec = read_spec<FieldSpec>(config, "data");  // a size of 0 means the default of FieldSpec
  spec.kind = config.text("data.kind");
  spec.patch = config.count("model.patch.pixels");
  return std::make_unique<Fields>(spec, example_set(config));
}

std::unique_ptr<FieldFiles> open_films(const Config& config) {
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

/// Returns the facts of the data, or the known ones. Throws DataError for fields of another size.
FieldFacts facts_of(const FieldSource& data, const KnownFacts& known) {
  const FieldSize size = data.size();
  FieldFacts facts{size.frames, {size.sides.begin(), size.sides.end()}, {}};
  if (!known.are_exact()) {
    facts.specimens = take_specimens(data, size.frames * size.pixels());
    return facts;
  }
  FieldFacts learned = known.of<FieldFacts>();
  if (learned.frames != facts.frames || learned.sides != facts.sides)
    throw DataError("the data have ", size.frames, " frames of ", size.text(),
                    "; the model was trained on ", learned.frames, " of ", learned.size().text());
  return learned;
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
  /// `unit`: of films; generated fields have none, and no noise.
  FieldTask(const Config& config, std::unique_ptr<FieldSource> data,
            const std::optional<Moments>& unit, const KnownFacts& known)
      : exact_(!unit), data_(std::move(data)), learner_(config, facts_of(*data_, known)) {
    if (unit) field_model().standardize()->set({unit->mean}, {unit->deviation});
  }

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
  FieldModel& field_model() { return learner_.field_model(); }
  FieldBatch batch_of(const Examples& examples) { return learner_.in_unit(data_->batch(examples)); }

  bool exact_;
  std::unique_ptr<FieldSource> data_;
  FieldLearner learner_;
};

}  // namespace

std::unique_ptr<Task> open_field_task(const Config& config, const KnownFacts& known) {
  if (!reads_films(config))
    return std::make_unique<FieldTask>(config, open_generated(config), std::nullopt, known);
  std::unique_ptr<FieldFiles> films = open_films(config);
  const Moments unit = films->moments();
  return std::make_unique<FieldTask>(config, std::move(films), unit, known);
}

}  // namespace bochner
