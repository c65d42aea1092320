#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/fields/field_kinds.hpp>
#include <bochner/train/tasks/fields/field_learner.hpp>
#include <bochner/train/tasks/model_spec.hpp>

namespace bochner {
namespace {

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

/// Throws DataError unless frames (B, T, sides..) and the next ones (B, sides..) have the known
/// size.
void check_specimen(const FieldBatch& batch, const FieldSize& size) {
  const std::size_t B = batch.next.shape().empty() ? 0 : batch.next.shape()[0];
  Shape next{B}, frames{B, size.frames};
  for (Shape* shape : {&next, &frames})
    shape->insert(shape->end(), size.sides.begin(), size.sides.end());
  if (B == 0 || batch.next.shape() != next || batch.frames.shape() != frames)
    throw DataError("facts of fields hold an example of other sizes");
}

}  // namespace

void FieldFacts::check() const {
  std::uint64_t numbers = frames;
  require_size("frames of a field", frames, 1 << 16);
  require_size("dimensions of a field", sides.size(), 3);
  for (const std::uint64_t side : sides) {
    require_size("pixels along an axis of a field", side, 1 << 20);
    require_size("numbers of a field", numbers *= side, std::uint64_t(1) << 32);
  }
  for (const FieldBatch& batch : specimens) check_specimen(batch, size());
}

FieldLearner::FieldLearner(const Config& config, FieldFacts facts)
    : facts_(std::move(facts)),
      reading_(table_options(config)),
      model_(field_model_spec(config, facts_)) {
  initialize(model_, config.count("train.seed"));
}

std::string FieldLearner::describe() const {
  const FieldModelSpec& spec = model_.spec();
  const FieldSize patch{1, std::vector<std::size_t>(spec.sides.size(), spec.patch)};
  return fmt::format("field, {}, encoding {}{}, patches of {}", describe_stack(spec.stack),
                     spec.encoding.kind, spec.every_block ? " in every block" : "", patch.text());
}

Json FieldLearner::sizes() const {
  return Json{{"length", facts_.frames * facts_.size().patches(model_.spec().patch)}};
}

void FieldLearner::illustrate(Page& page) {
  const GridAxes patches = model_.patch_axes();
  std::vector<double> times = model_.token_times();
  times.erase(std::unique(times.begin(), times.end()), times.end());
  add_encoding(page, model_, {patches, times, "place", "frame"});
}

NamedArray FieldLearner::predict(const NamedArray& question) {
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

void FieldLearner::forward_specimen(Tape& tape, std::size_t i) {
  const FieldBatch one = in_unit(facts_.specimens[i]);
  model_.loss(tape, one.frames, one.next);
}

/// Converts all numbers, as one variate, to the unit of the model or back; does nothing without
/// one.
void FieldLearner::change_unit(Tensor& x, void (Standardize::*change)(Tensor&) const) {
  if (!model_.standardize()) return;
  const Shape shape = x.shape();
  x.reshape({1, 1, x.size()});
  (model_.standardize()->*change)(x);
  x.reshape(shape);
}

FieldBatch FieldLearner::in_unit(FieldBatch batch) {
  change_unit(batch.frames, &Standardize::apply);
  change_unit(batch.next, &Standardize::apply);
  return batch;
}

Tensor FieldLearner::next_frames(Tensor frames) {
  Tape tape({.recording = false});
  change_unit(frames, &Standardize::apply);
  Tensor next = model_.predict(tape, frames).value();
  change_unit(next, &Standardize::undo);
  return next;
}

}  // namespace bochner
