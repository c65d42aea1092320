#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/models/field_model.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

FieldModelSpec completed(FieldModelSpec spec) {
  require(spec.frames >= 1 && spec.patch >= 1 && spec.height % spec.patch == 0 &&
              spec.width % spec.patch == 0,
          "field_model", "patches of ", spec.patch, " x ", spec.patch, " pixels do not tile ",
          spec.frames, " frames of ", spec.height, " x ", spec.width);
  spec.encoding.width = spec.stack.block.width;
  spec.encoding.space.dimensions = 2;
  spec.stack.block.mixer.causal = false;
  spec.stack.positions = "none";
  return spec;
}

/// 0, 1/n, .., (n - 1)/n.
std::vector<double> unit_axis(std::size_t n) {
  std::vector<double> axis(n);
  for (std::size_t i = 0; i < n; ++i) axis[i] = double(i) / double(n);
  return axis;
}

/// (B, T, H, W) -> (B, T N, p p)
Var patches_of(const Var& frames, std::size_t p) {
  const std::size_t B = frames.dim(0), T = frames.dim(1), H = frames.dim(2), W = frames.dim(3);
  const Shape shape{B, T * (H / p) * (W / p), p * p};
  if (p == 1) return reshape(frames, shape);
  return reshape(transpose(reshape(frames, {B, T, H / p, p, W / p, p}), {0, 1, 2, 4, 3, 5}), shape);
}

/// The way back. (B, T N, p p) -> shape (B, T, H, W)
Var joined(const Var& patches, std::size_t p, const Shape& shape) {
  if (p == 1) return reshape(patches, shape);
  const std::size_t B = shape[0], T = shape[1], H = shape[2], W = shape[3];
  return reshape(transpose(reshape(patches, {B, T, H / p, W / p, p, p}), {0, 1, 2, 4, 3, 5}),
                 shape);
}

}  // namespace

FieldModel::FieldModel(const FieldModelSpec& spec)
    : spec_(completed(spec)),
      encoding_(make_space_time(spec_.encoding)),
      stack_(spec_.stack),
      head_(spec_.stack.block.width, spec_.patch * spec_.patch) {
  if (spec_.standardize) standardize_.emplace(1);
  const std::size_t D = spec_.stack.block.width;
  const bool beside = encoding_ && encoding_->stands_beside();
  require(!beside || !spec_.every_block, "field_model",
          "an encoding beside the content is there in every block already");
  input_ = std::make_unique<Linear>(spec_.patch * spec_.patch, beside ? D - encoding_->width() : D);
}

Var FieldModel::encoding(Tape& tape) {
  if (!encoding_) return {};
  return encoding_->grid(tape, patch_axes(), unit_axis(spec_.frames));
}

GridAxes FieldModel::patch_axes() const {
  return {unit_axis(spec_.height / spec_.patch), unit_axis(spec_.width / spec_.patch)};
}

Places FieldModel::token_places() const {
  const Places frame = nodes_of(patch_axes());
  Places all{frame.dimensions, {}};
  for (std::size_t t = 0; t < spec_.frames; ++t)
    all.coordinates.insert(all.coordinates.end(), frame.coordinates.begin(),
                           frame.coordinates.end());
  return all;
}

std::vector<double> FieldModel::token_times() const {
  std::vector<double> all;
  for (const double time : unit_axis(spec_.frames))
    all.insert(all.end(), nodes_of(patch_axes()).count(), time);
  return all;
}

Var FieldModel::outputs(Tape& tape, const Tensor& frames) {
  require(frames.dimension() == 4 && frames.shape()[1] == spec_.frames &&
              frames.shape()[2] == spec_.height && frames.shape()[3] == spec_.width,
          "field_model", "frames must be (B, ", spec_.frames, ", ", spec_.height, ", ", spec_.width,
          "), not ", frames.shape());
  const Var x = input_->forward(tape, patches_of(tape.view(frames), spec_.patch));
  if (!encoding_) return stack_.forward(tape, x);
  const std::size_t E = encoding_->width();
  const Var code = reshape(encoding(tape), {x.dim(1), E});
  if (encoding_->stands_beside())
    return stack_.forward(tape, concat({x, broadcast_to(code, {x.dim(0), x.dim(1), E})}, 2));
  if (spec_.every_block) return stack_.forward(tape, x, {}, code);
  return stack_.forward(tape, x + code);
}

Var FieldModel::predict(Tape& tape, const Tensor& frames) {
  const Var y = outputs(tape, frames);
  const std::size_t T = spec_.frames, H = spec_.height, W = spec_.width, tokens = y.dim(1);
  const Var last = slice(y, 1, tokens - tokens / T, tokens);
  const std::size_t B = frames.shape()[0];
  const Var change = joined(head_.forward(tape, last), spec_.patch, {B, 1, H, W});
  return reshape(change + slice(tape.view(frames), 1, T - 1, T), {B, H, W});
}

Var FieldModel::loss(Tape& tape, const Tensor& frames, const Tensor& next) {
  return mean_squared_error(predict(tape, frames), next);
}

Var FieldModel::readings(Tape& tape, const Tensor& frames) {
  return joined(head_.forward(tape, outputs(tape, frames)), spec_.patch, frames.shape());
}

void FieldModel::visit(Visitor& visitor) {
  if (standardize_) visitor("standardize", *standardize_);
  if (encoding_) visitor("encoding", *encoding_);
  visitor("input", *input_);
  stack_.visit(visitor);
  visitor("head", head_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
