#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/models/sensor_model.hpp>
#include <bochner/layers/models/token_inputs.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

SensorModelSpec completed_spec(SensorModelSpec spec) {
  spec.stack.block.mixer.causal = false;
  spec.stack.positions = "none";
  return spec;
}

}  // namespace

SensorModel::SensorModel(const SensorModelSpec& spec)
    : spec_(completed_spec(checked("sensor_model", spec))),
      standardize_(spec.variates),
      scale_(spec.dimensions),
      encoding_(make_space_time(spec_.encoding, spec.stack.block.width, spec.dimensions)),
      input_(2 * spec.variates,
             content_width(encoding_.get(), spec.stack.block.width, spec.every_block)),
      stack_(spec_.stack),
      head_(spec.stack.block.width, spec.variates) {}

Var SensorModel::predict(Tape& tape, const SensorReadings& readings) {
  const Shape& shape = readings.values.shape();
  require(shape.size() == 3 && shape[2] == spec_.variates && readings.seen.shape() == shape &&
              readings.times.size() == shape[0] * shape[1] &&
              readings.places.size() == readings.times.size() * spec_.dimensions,
          "sensor_model", "requires values and seen (B, T, ", spec_.variates, "), places (B, T, ",
          spec_.dimensions, ") and times (B, T): values ", shape);
  const Var x = input_.forward(
      tape, concat({tape.constant(readings.values), tape.constant(readings.seen)}, 2));
  if (!encoding_) return head_.forward(tape, stack_.forward(tape, x));
  const Var code =
      encoding_->at(tape, scale_.scaled(readings.places), scale_.scaled_times(readings.times));
  const PlacedTokens tokens = add_encoding(*encoding_, spec_.every_block, x,
                                           reshape(code, {shape[0], shape[1], encoding_->width()}));
  return head_.forward(tape, stack_.forward(tape, tokens.x, {}, tokens.each));
}

Var SensorModel::loss(Tape& tape, const SensorReadings& readings, const Tensor& targets,
                      const Tensor& mask) {
  const double all = double(mask.size());
  const auto count = double(std::count(mask.begin(), mask.end(), real(1)));
  const Var error = mean_squared_error(predict(tape, readings) * tape.constant(mask), targets);
  return error * (all / std::max(count, 1.0));
}

void SensorModel::visit(Visitor& visitor) {
  visitor("standardize", standardize_);
  visitor("place_scale", scale_);
  if (encoding_) visitor("encoding", *encoding_);
  visitor("input", input_);
  stack_.visit(visitor);
  visitor("head", head_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
