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

}  // namespace

void add_explicit(Registry<Filter, FilterSpec>& all) { all.add("explicit", make<ExplicitFilter>); }

}  // namespace bochner::inline BOCHNER_PRECISION
