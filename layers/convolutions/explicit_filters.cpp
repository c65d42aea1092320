#include <bit>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/convolutions/filter.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// One parameter per lag, optionally smoothed, then squashed: sign(k) max(|k| - squash, 0). Fu et
/// al., "Simple hardware-efficient long convolutions for sequence modeling", 2023.
class ExplicitFilter : public Filter {
 public:
  explicit ExplicitFilter(const FilterSpec& spec)
      : width_(spec.width),
        squash_(real(spec.squash)),
        dropout_(real(spec.dropout)),
        smooth_(spec.smooth),
        decaying_(spec.start == "decay"),
        kernel_({spec.lags(), spec.channels()}, Initial::normal(spec.deviation)) {}

  Var at(Tape& tape, const Lags& lags) override {
    Var kernel = tape(kernel_);
    if (smooth_ > 0) kernel = smooth(tape, kernel);
    if (squash_ > 0) kernel = kernel - clamp(kernel, -squash_, squash_);
    if (dropout_ > 0) kernel = dropout(tape, kernel, dropout_);
    return rows_of(kernel, lags);
  }

  std::size_t limit() const override { return kernel_.shape()[0]; }
  void visit(Visitor& visitor) override { visitor("kernel", kernel_); }

  /// Multiplies by exp(-(lag / L) (D / 2)^(channel / D)), as published.
  void initialized() override {
    const std::size_t L = kernel_.shape()[0], C = kernel_.shape()[1];
    for (std::size_t i = 0; decaying_ && i < L * C; ++i) {
      const double part = double(i % C % width_) / double(width_);
      const double rate = std::pow(double(width_) / 2, part);
      kernel_.value().data()[i] *= real(std::exp(-double(i / C) / double(L) * rate));
    }
  }

 private:
  /// Averages over lags at distances up to `smooth_`.
  Var smooth(Tape& tape, const Var& kernel) const {
    const std::size_t L = kernel.dim(0), C = kernel.dim(1), taps = 2 * smooth_ + 1;
    const Var mean = tape.constant(filled({taps, C}, 1 / real(taps)));
    return reshape(long_convolution(reshape(kernel, {1, L, C}), mean, {.future = smooth_}), {L, C});
  }

  std::size_t width_;
  real squash_, dropout_;
  std::size_t smooth_;
  bool decaying_;
  Parameter kernel_;  // (length, channels)
};

/// Linear interpolation between two of the learned values.
struct Interpolation {
  std::size_t left, right;
  double left_weight, right_weight;
};

/// Pieces of p, p, 2p, 4p, .. lags with p learned values each, interpolated linearly, times
/// 2^-piece, so that weights fall like 1 / lag, over the initial norm; the last ends with the
/// kernel. Li et al., "What makes convolutional models great on long sequence modeling?" (SGConv),
/// 2023.
class DyadicFilter : public Filter {
 public:
  explicit DyadicFilter(const FilterSpec& spec)
      : values_per_piece_(spec.piece),
        length_(spec.lags()),
        pieces_(pieces_for(length_, values_per_piece_)),
        weight_({pieces_ * values_per_piece_, spec.channels()}, Initial::normal(1)),
        norm_(filled({1, spec.channels()}, real(1))) {}

  Var at(Tape& tape, const Lags& lags) override {
    Indices left{{lags.count}, std::vector<std::int32_t>(lags.count)}, right = left;
    Tensor left_weight = uninitialized({lags.count, 1}), right_weight = left_weight;
    for (std::size_t i = 0; i < lags.count; ++i) {
      const Interpolation at = interpolation_at(lags.descending ? lags.count - 1 - i : i);
      left.values[i] = std::int32_t(at.left), right.values[i] = std::int32_t(at.right);
      left_weight(i, 0) = real(at.left_weight), right_weight(i, 0) = real(at.right_weight);
    }
    const Var w = tape(weight_);
    return (gather(w, left) * tape.constant(std::move(left_weight)) +
            gather(w, right) * tape.constant(std::move(right_weight))) /
           tape.view(norm_);
  }

  std::size_t limit() const override { return length_; }

  void visit(Visitor& visitor) override {
    visitor("weight", weight_);
    visitor("norm", norm_);
  }

  void initialized() override {
    norm_.fill(1);
    Tape tape({.recording = false});
    const Tensor kernel = at(tape, {limit()}).value();
    std::vector<double> squares(norm_.size());
    for (std::size_t i = 0; i < kernel.size(); ++i)
      squares[i % squares.size()] += double(kernel.data()[i]) * double(kernel.data()[i]);
    for (std::size_t c = 0; c < squares.size(); ++c) norm_.data()[c] = real(std::sqrt(squares[c]));
  }

 private:
  static std::size_t pieces_for(std::size_t lags, std::size_t values_per_piece) {
    std::size_t pieces = 1;
    while (values_per_piece << (pieces - 1) < lags) ++pieces;
    return pieces;
  }

  /// A value lies in the middle of its lags.
  Interpolation interpolation_at(std::size_t lag) const {
    const std::size_t piece = std::size_t(std::bit_width(lag / values_per_piece_));
    const std::size_t spacing = std::size_t(1) << (piece > 1 ? piece - 1 : 0);
    const std::size_t first = piece == 0 ? 0 : values_per_piece_ * spacing;
    const double place = std::max(0., (double(lag - first) + 0.5) / double(spacing) - 0.5);
    const std::size_t left = std::size_t(place), right = std::min(left + 1, values_per_piece_ - 1);
    const double size = std::exp2(double(pieces_ - 1) - double(piece));
    const double share = place - double(left);
    return {piece * values_per_piece_ + left, piece * values_per_piece_ + right, size * (1 - share),
            size * share};
  }

  std::size_t values_per_piece_, length_, pieces_;
  Parameter weight_;  // (pieces x values_per_piece, channels)
  Tensor norm_;       // (1, channels)
};

}  // namespace

void add_explicit(Registry<Filter, FilterSpec>& all) { all.add("explicit", make<ExplicitFilter>); }

void add_dyadic(Registry<Filter, FilterSpec>& all) { all.add("dyadic", make<DyadicFilter>); }

}  // namespace bochner::inline BOCHNER_PRECISION
