#include <bochner/autodiff/compute/waves_on_grid.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/encodings/space_fourier.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Turns per unit of the lowest geometric frequency.
constexpr double lowest_turns = 0.5;

Tensor gaussian_frequencies(const FourierSpec& spec) {
  const RandomFunction random{spec.seed, Purpose::spectral, spec.stream};
  Tensor w = uninitialized({spec.frequencies, spec.dimensions});
  for (std::size_t i = 0; i < w.size(); ++i)
    w.data()[i] = real(2 * std::numbers::pi * spec.scale * random.normal(i));
  return w;
}

Tensor geometric_frequencies(const FourierSpec& spec) {
  const std::size_t d = spec.dimensions, levels = spec.frequencies / d;
  require(levels * d == spec.frequencies, "fourier_encoding", "geometric frequencies lie on the ",
          d, " axes, which does not divide their number ", spec.frequencies);
  Tensor w = zeros({spec.frequencies, d});
  for (std::size_t f = 0; f < spec.frequencies; ++f) {
    const double place = levels > 1 ? double(f / d) / double(levels - 1) : 0;
    const double turns = lowest_turns * std::pow(spec.scale / lowest_turns, place);
    w.data()[f * d + f % d] = real(2 * std::numbers::pi * turns);
  }
  return w;
}

Tensor initial_frequencies(const FourierSpec& spec) {
  require(spec.dimensions >= 1 && spec.frequencies >= 1, "fourier_encoding",
          "needs at least one coordinate and one frequency, not ", spec.dimensions, " and ",
          spec.frequencies);
  if (spec.kind == "learned" || spec.kind == "random") return gaussian_frequencies(spec);
  require(spec.kind == "geometric", "fourier_encoding", "no frequencies are called \"", spec.kind,
          "\"; there are: learned, random, geometric");
  return geometric_frequencies(spec);
}

/// m^(-1/2) times the harmonics (N, 2m).
Var normalized(const Var& harmonics) {
  return scale(harmonics, real(std::sqrt(2 / double(harmonics.dim(1)))));
}

}  // namespace

FourierEncoding::FourierEncoding(const FourierSpec& spec)
    : learned_(spec.kind == "learned"), frequencies_(initial_frequencies(spec)) {}

Var FourierEncoding::frequencies(Tape& tape) {
  return learned_ ? tape(frequencies_) : tape.view(frequencies_.value());
}

Var FourierEncoding::at(Tape& tape, const Places& places) {
  return normalized(harmonics(places, frequencies(tape)));
}

Var FourierEncoding::grid(Tape& tape, const GridAxes& axes) {
  return normalized(grid_harmonics(axes, frequencies(tape)));
}

Tensor FourierEncoding::grid_product(const GridAxes& axes, const Tensor& w) const {
  std::vector<RegularAxis> regular;
  for (const auto& axis : axes) regular.push_back(regular_axis(axis));
  const Tensor amplitudes = w * real(std::sqrt(2 / double(w.shape()[0])));
  return waves_on_grid(regular, frequencies_.value(), amplitudes);
}

void FourierEncoding::visit(Visitor& visitor) {
  if (learned_) {
    visitor("frequencies", frequencies_);
  } else {
    visitor("frequencies", frequencies_.value());
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
