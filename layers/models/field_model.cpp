#include <bochner/autodiff/ops.hpp>
#include <bochner/base/join.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/layers/models/token_inputs.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

FieldModelSpec completed_spec(FieldModelSpec spec) {
  const auto tiled = [&](std::size_t side) { return side % spec.patch == 0; };
  require(spec.frames >= 1 && spec.patch >= 1 && !spec.sides.empty() &&
              std::ranges::all_of(spec.sides, tiled),
          "field_model", "patches of ", joined(std::vector(spec.sides.size(), spec.patch), " x "),
          " pixels do not tile ", spec.frames, " frames of ", joined(spec.sides, " x "));
  spec.stack.block.mixer.causal = false;
  spec.stack.positions = "none";
  return spec;
}

std::size_t power(std::size_t base, std::size_t exponent) {
  std::size_t result = 1;
  for (std::size_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

/// Returns 0, 1/n, .., (n - 1)/n.
std::vector<double> unit_axis(std::size_t n) {
  std::vector<double> axis(n);
  for (std::size_t i = 0; i < n; ++i) axis[i] = double(i) / double(n);
  return axis;
}

/// Cuts frames into patches. (B, T, n_1 p, .., n_d p) -> (B, T N, p^d)
Var patches_of(const Var& frames, std::size_t p) {
  const std::size_t d = frames.rank() - 2, pixels = power(p, d);
  std::size_t tokens = frames.dim(1);
  for (std::size_t j = 0; j < d; ++j) tokens *= frames.dim(2 + j) / p;
  const Shape shape{frames.dim(0), tokens, pixels};
  if (p == 1) return reshape(frames, shape);
  Shape cut{frames.dim(0), frames.dim(1)};
  std::vector<int> order{0, 1};
  for (std::size_t j = 0; j < d; ++j) {
    cut.insert(cut.end(), {frames.dim(2 + j) / p, p});
    order.push_back(int(2 + 2 * j));
  }
  for (std::size_t j = 0; j < d; ++j) order.push_back(int(3 + 2 * j));
  return reshape(transpose(reshape(frames, cut), order), shape);
}

/// Inverts patches_of(). (B, T N, p^d) -> shape (B, T, n_1 p, .., n_d p)
Var unpatch(const Var& patches, std::size_t p, const Shape& shape) {
  if (p == 1) return reshape(patches, shape);
  const std::size_t d = shape.size() - 2;
  Shape cut{shape[0], shape[1]};
  std::vector<int> order{0, 1};
  for (std::size_t j = 0; j < d; ++j) {
    cut.push_back(shape[2 + j] / p);
    order.insert(order.end(), {int(2 + j), int(2 + d + j)});
  }
  for (std::size_t j = 0; j < d; ++j) cut.push_back(p);
  return reshape(transpose(reshape(patches, cut), order), shape);
}

}  // namespace

FieldModel::FieldModel(const FieldModelSpec& spec)
    : spec_(completed_spec(checked("field_model", spec))),
      encoding_(make_space_time(spec_.encoding, spec_.stack.block.width, spec_.sides.size())),
      stack_(spec_.stack),
      head_(spec_.stack.block.width, power(spec_.patch, spec_.sides.size())) {
  if (spec_.standardize) standardize_.emplace(1);
  input_ = std::make_unique<Linear>(
      power(spec_.patch, spec_.sides.size()),
      content_width(encoding_.get(), spec_.stack.block.width, spec_.every_block));
}

Var FieldModel::encoding(Tape& tape) {
  if (!encoding_) return {};
  return encoding_->grid(tape, patch_axes(), unit_axis(spec_.frames));
}

GridAxes FieldModel::patch_axes() const {
  GridAxes axes;
  for (const std::size_t side : spec_.sides) axes.push_back(unit_axis(side / spec_.patch));
  return axes;
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
  const Shape& shape = frames.shape();
  const std::vector<std::size_t> sides(shape.begin() + std::min<std::size_t>(2, shape.size()),
                                       shape.end());
  require(shape.size() > 2 && shape[1] == spec_.frames && sides == spec_.sides, "field_model",
          "frames must be (B, ", spec_.frames, ", ", bochner::joined(spec_.sides), "), not ",
          shape);
  const Var x = input_->forward(tape, patches_of(tape.view(frames), spec_.patch));
  if (!encoding_) return stack_.forward(tape, x);
  const Var code = reshape(encoding(tape), {x.dim(1), encoding_->width()});
  const PlacedTokens tokens = add_encoding(*encoding_, spec_.every_block, x, code);
  return stack_.forward(tape, tokens.x, {}, tokens.each);
}

Var FieldModel::predict(Tape& tape, const Tensor& frames) {
  const Var y = outputs(tape, frames);
  const std::size_t T = spec_.frames, tokens = y.dim(1);
  const Var last = slice(y, 1, tokens - tokens / T, tokens);
  Shape one{frames.shape()[0], 1}, next{frames.shape()[0]};
  for (Shape* shape : {&one, &next})
    shape->insert(shape->end(), spec_.sides.begin(), spec_.sides.end());
  const Var change = unpatch(head_.forward(tape, last), spec_.patch, one);
  return reshape(change + slice(tape.view(frames), 1, T - 1, T), next);
}

Var FieldModel::loss(Tape& tape, const Tensor& frames, const Tensor& next) {
  return mean_squared_error(predict(tape, frames), next);
}

Var FieldModel::reconstruct(Tape& tape, const Tensor& frames) {
  return unpatch(head_.forward(tape, outputs(tape, frames)), spec_.patch, frames.shape());
}

void FieldModel::visit(Visitor& visitor) {
  if (standardize_) visitor("standardize", *standardize_);
  if (encoding_) visitor("encoding", *encoding_);
  visitor("input", *input_);
  stack_.visit(visitor);
  visitor("head", head_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
