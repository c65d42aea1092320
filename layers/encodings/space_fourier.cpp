#include <bochner/autodiff/compute/nufft.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/base/join.hpp>
#include <bochner/layers/encodings/space_fourier.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

void require_choice(const char* what, const std::string& name,
                    const std::vector<std::string>& names) {
  require(std::ranges::find(names, name) != names.end(), "fourier_encoding", "no ", what,
          " are called \"", name, "\"; there are: ", joined(names));
}

/// Cycles per unit of the lowest frequency of a series.
constexpr double lowest_cycles = 0.5;

Tensor gaussian_frequencies(const FourierSpec& spec, const Shape& shape) {
  const RandomFunction random{spec.seed, Purpose::spectral, spec.stream};
  Tensor w = uninitialized(shape);
  for (std::size_t i = 0; i < w.size(); ++i)
    w.data()[i] = real(2 * std::numbers::pi * spec.scale * random.normal(i));
  return w;
}

/// Returns the series from half a cycle to the scale, on each of d axes, level after level. -> (m)
Tensor series_frequencies(const FourierSpec& spec, const std::string& series) {
  const std::size_t d = spec.dimensions, levels = spec.frequencies / d;
  Tensor w = uninitialized({spec.frequencies});
  for (std::size_t f = 0; f < spec.frequencies; ++f) {
    const double place = levels > 1 ? double(f / d) / double(levels - 1) : 0;
    const double cycles = series == "linear"
                              ? lowest_cycles + (spec.scale - lowest_cycles) * place
                              : lowest_cycles * std::pow(spec.scale / lowest_cycles, place);
    w.data()[f] = real(2 * std::numbers::pi * cycles);
  }
  return w;
}

/// Returns 1 for frequency f at axis f mod d, else 0. -> (m, d)
Tensor axes_of(const FourierSpec& spec) {
  Tensor axes = zeros({spec.frequencies, spec.dimensions});
  for (std::size_t f = 0; f < spec.frequencies; ++f) axes(f, f % spec.dimensions) = 1;
  return axes;
}

/// Multiplies frequencies by axes. (m), (m, d) -> (m, d)
Tensor along_axes(const Tensor& w, Tensor axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) axes.data()[i] *= w.data()[i / axes.shape()[1]];
  return axes;
}

bool is_series(const std::string& name) { return name == "geometric" || name == "linear"; }

Tensor initial_frequencies(const FourierSpec& spec) {
  const std::size_t d = spec.dimensions, m = spec.frequencies;
  require(d >= 1 && m >= 1, "fourier_encoding",
          "expected at least one coordinate and frequency, got ", d, " and ", m);
  require_choice("frequencies", spec.kind, fourier_kinds());
  require_choice("starts", spec.start, fourier_starts());
  const bool fixed = is_series(spec.kind), series = fixed || is_series(spec.start);
  require(m % d == 0 || !(series || spec.kind == "axes"), "fourier_encoding",
          "the number of frequencies ", m, " must be a multiple of the ", d, " axes");
  if (!series) return gaussian_frequencies(spec, spec.kind == "axes" ? Shape{m} : Shape{m, d});
  const Tensor w = series_frequencies(spec, fixed ? spec.kind : spec.start);
  return spec.kind == "axes" ? w : along_axes(w, axes_of(spec));
}

/// Scales Fourier features (N, 2m) by m^(-1/2).
Var normalized(const Var& features) {
  return scale(features, real(std::sqrt(2 / double(features.dim(1)))));
}

}  // namespace

std::vector<std::string> fourier_kinds() {
  return {"learned", "axes", "random", "geometric", "linear"};
}

std::vector<std::string> fourier_starts() { return {"gaussian", "geometric", "linear"}; }

FourierEncoding::FourierEncoding(const FourierSpec& spec)
    : learned_(spec.kind == "learned" || spec.kind == "axes"),
      frequencies_(initial_frequencies(spec)) {
  if (spec.kind == "axes") axes_ = axes_of(spec);
}

Tensor FourierEncoding::frequencies() const {
  const Tensor& w = frequencies_.value();
  return w.dimension() == 2 ? w : along_axes(w, axes_);
}

Var FourierEncoding::frequencies(Tape& tape) {
  if (!learned_) return tape.view(frequencies_.value());
  const Var w = tape(frequencies_);
  return w.rank() == 2 ? w : reshape(w, {w.size(), 1}) * tape.view(axes_);
}

Var FourierEncoding::at(Tape& tape, const Places& places) {
  return normalized(fourier_features_at(places, frequencies(tape)));
}

Var FourierEncoding::grid(Tape& tape, const GridAxes& axes) {
  return normalized(grid_fourier_features(axes, frequencies(tape)));
}

Tensor FourierEncoding::grid_product(const GridAxes& axes, const Tensor& w) const {
  std::vector<RegularAxis> regular;
  for (const auto& axis : axes) regular.push_back(regular_axis(axis));
  const Tensor amplitudes = w * real(std::sqrt(2 / double(w.shape()[0])));
  return nufft(regular, frequencies(), amplitudes);
}

void FourierEncoding::visit(Visitor& visitor) {
  if (learned_) {
    visitor("frequencies", frequencies_);
  } else {
    visitor("frequencies", frequencies_.value());
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
