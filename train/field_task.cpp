#include <fmt/format.h>

#include <bochner/data/array.hpp>
#include <bochner/data/errors.hpp>
#include <bochner/layers/initialize.hpp>
#include <bochner/train/field_task.hpp>
#include <bochner/train/model_spec.hpp>
#include <bochner/train/token_task.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::size_t count_of(const Config& config, const char* key) {
  return std::size_t(config.integer(key));
}

/// Frequencies of space, or of time, whose draws are others.
FourierSpec fourier_spec(const Config& config, bool of_time) {
  FourierSpec spec;
  spec.dimensions = of_time ? 1 : 2;
  spec.frequencies = count_of(config, of_time ? "model.encoding.time" : "model.encoding.space");
  spec.kind = config.text("model.encoding.frequencies");
  spec.scale = config.number(of_time ? "model.encoding.time_scale" : "model.encoding.space_scale");
  spec.seed = count_of(config, "train.seed");
  spec.stream = of_time;
  return spec;
}

/// Sum over n elements of (x - truth)^2.
double squared_error(const real* x, const real* truth, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::pow(double(x[i]) - double(truth[i]), 2);
  return sum;
}

double sum_of_squares_of(const real* x, std::size_t n) {
  const std::vector<real> nothing(n);
  return squared_error(x, nothing.data(), n);
}

}  // namespace

FieldSpec field_spec(const Config& config) {
  FieldSpec spec;
  spec.kind = config.text("data.kind");
  spec.frames = count_of(config, "data.frames");
  spec.height = count_of(config, "data.height");
  spec.width = count_of(config, "data.width");
  spec.components = count_of(config, "data.components");
  spec.speed = config.number("data.speed");
  spec.diffusivity = config.number("data.diffusivity");
  spec.noise = config.number("data.noise");
  return spec;
}

FieldModelSpec field_model_spec(const Config& config) {
  FieldModelSpec spec;
  spec.frames = count_of(config, "data.frames");
  spec.height = count_of(config, "data.height");
  spec.width = count_of(config, "data.width");
  spec.patch = count_of(config, "model.patch.pixels");
  spec.encoding.kind = config.text("model.encoding.kind");
  spec.encoding.space = fourier_spec(config, false);
  spec.encoding.time = fourier_spec(config, true);
  spec.every_block = config.flag("model.encoding.every_block");
  spec.stack = stack_spec(config);
  return spec;
}

FieldTask::FieldTask(const Config& config)
    : data_(field_spec(config), example_set(config)), model_(field_model_spec(config)) {
  initialize(model_, std::uint64_t(config.integer("train.seed")));
}

std::uint64_t FieldTask::tokens_per_example() const {
  const FieldModelSpec& spec = model_.spec();
  return spec.frames * (spec.height / spec.patch) * (spec.width / spec.patch);
}

Var FieldTask::loss(Tape& tape, std::uint64_t first, std::size_t count) {
  const FieldBatch batch = data_.batch(first, count);
  return model_.loss(tape, batch.frames, batch.next);
}

Evaluation FieldTask::validate(Tape& tape, std::uint64_t index, std::size_t size) {
  const FieldBatch batch = data_.validation_batch(index, size);
  const Var predicted = model_.predict(tape, batch.frames);
  const std::size_t B = batch.next.shape()[0], T = data_.spec().frames;
  const std::size_t pixels = batch.next.size() / B;
  Evaluation result{0, batch.next.size(), "mse", {}};
  Measure repeated{"persistence", "mse of the last frame"};
  Measure relative{"relative_error", "relative error", 0, true};
  for (std::size_t b = 0; b < B; ++b) {
    const real* truth = batch.next.data() + b * pixels;
    const real* last = batch.frames.data() + (b * T + T - 1) * pixels;
    const double error = squared_error(predicted.data() + b * pixels, truth, pixels);
    result.loss_sum += error;
    repeated.sum += squared_error(last, truth, pixels);
    relative.sum += double(pixels) * std::sqrt(error / sum_of_squares_of(truth, pixels));
  }
  result.measures = {repeated, relative};
  return result;
}

NamedArray FieldTask::predict(const NamedArray& input) {
  const FieldSpec& spec = data_.spec();
  const std::size_t T = spec.frames, H = spec.height, W = spec.width,
                    rank = input.values.dimension();
  const bool fits = (rank == 3 || rank == 4) && input.values.shape()[rank - 3] == T &&
                    input.values.shape()[rank - 2] == H && input.values.shape()[rank - 1] == W;
  if (!fits)
    throw DataError(
        fmt::format("frames must be ({}, {}, {}), or many of them one after the other", T, H, W));
  Tensor frames = uninitialized({input.values.size() / (T * H * W), T, H, W});
  std::copy_n(input.values.data(), frames.size(), frames.data());
  Tape tape;
  tape.recording = false;
  const Tensor next = model_.predict(tape, frames).value();
  NamedArray result;
  if (rank == 3) {
    result.values = xt::zeros<double>({H, W});
  } else {
    result.values = xt::zeros<double>({frames.shape()[0], H, W});
  }
  std::copy_n(next.data(), next.size(), result.values.data());
  return result;
}

std::string FieldTask::describe_model() const {
  const FieldModelSpec& spec = model_.spec();
  return fmt::format("field, {}, encoding {}{}, patches of {} x {}", describe_stack(spec.stack),
                     spec.encoding.kind, spec.every_block ? " in every block" : "", spec.patch,
                     spec.patch);
}

std::string FieldTask::describe_data() const {
  const FieldSpec& spec = data_.spec();
  return fmt::format("{}, {} frames of {} x {}{}", spec.kind, spec.frames, spec.height, spec.width,
                     describe_set(data_.examples()));
}

}  // namespace bochner::inline BOCHNER_PRECISION
