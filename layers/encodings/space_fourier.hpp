#pragma once
#include <bochner/autodiff/ops/fourier/fourier_features.hpp>
#include <bochner/layers/module.hpp>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct FourierSpec {
  std::size_t dimensions = 2;    ///< of a place: d
  std::size_t frequencies = 32;  ///< m
  /// "learned" ones go anywhere, those of "axes" along the axes, frequency f on axis f mod d;
  /// "random" (Gaussian), "geometric" and "linear" ones are fixed, the last two on the axes. What
  /// is on axes has d divide m.
  std::string kind = "learned";
  std::string start = "gaussian";  ///< of learned ones: "gaussian", "geometric" or "linear"
  /// Standard deviation of Gaussian frequencies in turns per unit of the coordinates; the highest
  /// of the series on each axis, whose lowest is half a turn.
  double scale = 1;
  std::uint64_t seed = 1, stream = 0;  ///< encodings of another stream have other frequencies
};

/// What FourierSpec::kind and start may name.
std::vector<std::string> fourier_kinds();
std::vector<std::string> fourier_starts();

/// PE(x) = m^(-1/2) [sin(w_f . x), cos(w_f . x)], so that PE(x) . PE(y) = mean of cos(w_f . (x -
/// y)), which is 1 at x = y. Rahimi and Recht 2007; learned: Li et al. 2021.
class FourierEncoding : public Module {
 public:
  explicit FourierEncoding(const FourierSpec& spec);
  /// (N, 2m) of N places.
  Var at(Tape& tape, const Places& places);
  /// (n_1 .. n_d, 2m) of the nodes of a grid, without sines of single nodes.
  Var grid(Tape& tape, const GridAxes& axes);
  /// grid() times w at the nodes of a regular grid, without forming grid(): by FFT. w (2m, D) ->
  /// (n_1 .. n_d, D)
  Tensor grid_product(const GridAxes& axes, const Tensor& w) const;
  /// w (m, d), in radians.
  Tensor frequencies() const;
  void visit(Visitor& visitor) override;

 private:
  Var frequencies(Tape& tape);
  bool learned_;
  Tensor axes_;            // (m, d), 1 where a frequency may be; () for anywhere
  Parameter frequencies_;  // (m, d), or (m) on axes; a buffer where they are not learned
};

}  // namespace bochner::inline BOCHNER_PRECISION
