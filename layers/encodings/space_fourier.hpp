#pragma once
#include <bochner/autodiff/ops/harmonics.hpp>
#include <bochner/layers/module.hpp>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

struct FourierSpec {
  std::size_t dimensions = 2;    ///< of a place: d
  std::size_t frequencies = 32;  ///< m
  /// "learned" and "random" start from Gaussian frequencies, random ones stay there; "geometric"
  /// ones lie on the axes and stay there, and d must divide m.
  std::string kind = "learned";
  /// Standard deviation of Gaussian frequencies in turns per unit of the coordinates; the highest
  /// of geometric ones, whose lowest is half a turn.
  double scale = 1;
  std::uint64_t seed = 1, stream = 0;  ///< encodings of another stream have other frequencies
};

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
  const Tensor& frequencies() const { return frequencies_.value(); }
  void visit(Visitor& visitor) override;

 private:
  Var frequencies(Tape& tape);
  bool learned_;
  Parameter frequencies_;  // a buffer where they are not learned
};

}  // namespace bochner::inline BOCHNER_PRECISION
