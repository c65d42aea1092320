#include <fmt/format.h>

#include <bochner/data/field_files.hpp>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/tasks/field_task.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/token_task.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

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

/// Applies `change` of all numbers as those of one variate.
template <class Change>
void as_one_variate(Tensor& x, const Change& change) {
  const Shape shape = x.shape();
  x.reshape({1, 1, x.size()});
  change(x);
  x.reshape(shape);
}

void to_unit_of_model(const Standardize& unit, Tensor& x) {
  as_one_variate(x, [&](Tensor& flat) { unit.apply(flat); });
}

void to_unit_of_data(const Standardize& unit, Tensor& x) {
  as_one_variate(x, [&](Tensor& flat) { unit.undo(flat); });
}

bool reads_films(const Config& config) { return config.text("data.kind") == "field_files"; }

/// Throws DataError unless a size is that of the films or 0.
void require_side(const Config& config, const char* key, std::size_t side) {
  const std::size_t wanted = config.count(key), patch = config.count("model.patch.pixels");
  if (wanted != side && wanted != 0)
    throw DataError(
        fmt::format("{} = {}: the films have {}; leave the key out", key, wanted, side));
  if (side % patch != 0)
    throw DataError(fmt::format("model.patch.pixels = {}: must divide {} = {}, that of the films",
                                patch, key, side));
}

std::unique_ptr<FieldSource> open_source(const Config& config) {
  if (!reads_films(config))
    return std::make_unique<Fields>(field_spec(config), example_set(config));
  const FieldFilesSpec spec{config.count("data.frames"), config.number("data.validation"),
                            config.count("train.seed"), config.count("model.patch.pixels")};
  auto films = std::make_unique<FieldFiles>(
      expand_files(config.text_list("data.files"), std::filesystem::current_path()), spec);
  require_side(config, "data.height", films->size().height);
  require_side(config, "data.width", films->size().width);
  return films;
}

std::size_t tokens_of(const FieldModelSpec& spec) {
  return spec.frames * (spec.height / spec.patch) * (spec.width / spec.patch);
}

FieldModelSpec field_model_spec(const Config& config, const FieldSize& size) {
  auto spec = read_spec<FieldModelSpec>(config, "model");
  spec.frames = size.frames;
  spec.height = size.height;
  spec.width = size.width;
  spec.standardize = reads_films(config);
  spec.encoding.space.seed = spec.encoding.time.seed = config.count("train.seed");
  complete(spec.stack, config, tokens_of(spec));
  return spec;
}

}  // namespace

FieldSpec field_spec(const Config& config) {
  auto spec = read_spec<FieldSpec>(config, "data");
  spec.kind = config.text("data.kind");
  spec.patch = config.count("model.patch.pixels");
  return spec;
}

FieldTask::FieldTask(const Config& config)
    : exact_(!reads_films(config)),
      data_(open_source(config)),
      model_(field_model_spec(config, data_->size())) {
  initialize(model_, config.count("train.seed"));
  if (!model_.standardize()) return;
  const FieldMoments moments = dynamic_cast<FieldFiles&>(*data_).moments();
  model_.standardize()->set({moments.mean}, {moments.deviation});
}

FieldBatch FieldTask::standardized(FieldBatch batch) {
  if (!model_.standardize()) return batch;
  to_unit_of_model(*model_.standardize(), batch.frames);
  to_unit_of_model(*model_.standardize(), batch.next);
  return batch;
}

Tensor FieldTask::next_frames(Tensor frames) {
  Tape tape;
  tape.recording = false;
  if (model_.standardize()) to_unit_of_model(*model_.standardize(), frames);
  Tensor next = model_.predict(tape, frames).value();
  if (model_.standardize()) to_unit_of_data(*model_.standardize(), next);
  return next;
}

Var FieldTask::loss(Tape& tape, const Examples& examples) {
  const FieldBatch batch = standardized(data_->batch(examples));
  return model_.loss(tape, batch.frames, batch.next);
}

Evaluation FieldTask::evaluate(Tape& tape, const Examples& examples) {
  const FieldBatch batch = standardized(data_->batch(examples));
  const Var predicted = model_.predict(tape, batch.frames);
  const std::size_t B = batch.next.shape()[0], T = data_->size().frames;
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
  result.measures = {repeated};
  if (exact_) result.measures.push_back(relative);
  return result;
}

NamedArray FieldTask::predict(const NamedArray& input) {
  const auto [T, H, W] = data_->size();
  const std::size_t rank = input.values.dimension();
  const bool fits = (rank == 3 || rank == 4) && input.values.shape()[rank - 3] == T &&
                    input.values.shape()[rank - 2] == H && input.values.shape()[rank - 1] == W;
  if (!fits)
    throw DataError(
        fmt::format("frames must be ({}, {}, {}), or many of them one after the other", T, H, W));
  Tensor frames = uninitialized({input.values.size() / (T * H * W), T, H, W});
  std::copy_n(input.values.data(), frames.size(), frames.data());
  const std::size_t count = frames.shape()[0];
  const Tensor next = next_frames(std::move(frames));
  NamedArray result;
  if (rank == 3) {
    result.values = xt::zeros<double>({H, W});
  } else {
    result.values = xt::zeros<double>({count, H, W});
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

}  // namespace bochner::inline BOCHNER_PRECISION
