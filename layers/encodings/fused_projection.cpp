#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/encodings/fused_projection.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Initial deviation of W: channels of the encoding then have deviation 1/2, or 0.35 with one part.
constexpr double initial_deviation = 0.5;

}  // namespace

FusedProjection::FusedProjection(const SpaceTimeSpec& spec) {
  if (spec.kind != "time") space_ = std::make_unique<FourierEncoding>(spec.space);
  if (spec.kind != "space") time_ = std::make_unique<FourierEncoding>(spec.time);
  const std::size_t rows = space_rows() + (time_ ? 2 * spec.time.frequencies : 0);
  weight_ = Parameter({rows, spec.width}, Initial::normal(initial_deviation));
  mask_ = filled(weight_.shape(), 1);
}

std::size_t FusedProjection::space_rows() const {
  return space_ ? 2 * space_->frequencies().shape()[0] : 0;
}

/// Sums encodings of places (N, D) and times (T, D), either of which may be missing. -> (T, N, D)
Var FusedProjection::joined(const Var& in_space, const Var& in_time, std::size_t T,
                            std::size_t N) const {
  const std::size_t D = width();
  if (!in_time.exists()) return broadcast_to(in_space, {T, N, D});
  const Var by_time = reshape(in_time, {T, 1, D});
  return in_space.exists() ? by_time + in_space : broadcast_to(by_time, {T, N, D});
}

Var FusedProjection::grid(Tape& tape, const GridAxes& space, const std::vector<double>& times) {
  const Var w = tape(weight_) * tape.view(mask_);
  const std::size_t split = space_rows(), rows = w.dim(0);
  Var in_space, in_time;
  if (space_) in_space = matmul(space_->grid(tape, space), slice(w, 0, 0, split));
  if (time_) in_time = matmul(time_->grid(tape, {times}), slice(w, 0, split, rows));
  return joined(in_space, in_time, times.size(), nodes_of(space).count());
}

Tensor FusedProjection::grid_by_fft(const GridAxes& space, const std::vector<double>& times) {
  const Var w = Tensor(weight_.value() * mask_);
  const std::size_t split = space_rows(), rows = w.dim(0);
  Var in_space, in_time;
  if (space_) in_space = space_->grid_product(space, slice(w, 0, 0, split).value());
  if (time_) in_time = time_->grid_product({times}, slice(w, 0, split, rows).value());
  return joined(in_space, in_time, times.size(), nodes_of(space).count()).value();
}

Var FusedProjection::inputs(Tape& tape, const Places& places, const std::vector<double>& times) {
  std::vector<Var> parts;
  if (space_) parts.push_back(space_->at(tape, places));
  if (time_) parts.push_back(time_->at(tape, {1, times}));
  return concat(parts, 1);
}

/// Sums of squares of s + t over all pairs split into those of s and t about their means, each
/// times the number of the other, and that of the mean of s + t, once per pair.
Tensor FusedProjection::grid_inputs(Tape& tape, const GridAxes& space,
                                    const std::vector<double>& times) {
  const std::size_t N = space_ ? nodes_of(space).count() : 1, T = time_ ? times.size() : 1;
  const std::size_t split = space_rows(), columns = weight_.shape()[0];
  Tensor x = zeros({N + T + 1, columns});
  const auto place = [&](const Tensor& part, std::size_t first, std::size_t column,
                         double repeats) {
    const std::size_t rows = part.shape()[0], width = part.shape()[1];
    for (std::size_t j = 0; j < width; ++j) {
      double mean = 0;
      for (std::size_t n = 0; n < rows; ++n) mean += double(part(n, j)) / double(rows);
      for (std::size_t n = 0; n < rows; ++n)
        x(first + n, column + j) = real(std::sqrt(repeats) * (double(part(n, j)) - mean));
      x(N + T, column + j) = real(std::sqrt(double(N * T)) * mean);
    }
  };
  if (space_) place(space_->grid(tape, space).value(), 0, 0, double(T));
  if (time_) place(time_->grid(tape, {times}).value(), N, split, double(N));
  return x;
}

Var FusedProjection::at(Tape& tape, const Places& places, const std::vector<double>& times) {
  return matmul(inputs(tape, places, times), tape(weight_) * tape.view(mask_));
}

void FusedProjection::visit(Visitor& visitor) {
  if (space_) visitor("space", *space_);
  if (time_) visitor("time", *time_);
  visitor("weight", weight_);
  visitor("mask", mask_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
