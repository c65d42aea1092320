#pragma once
#include <bochner/autodiff/ops/fourier/fourier_features.hpp>
#include <bochner/layers/module.hpp>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct FourierSpec {
  std::size_t dimensions = 2;    ///< of a place (d)
  std::size_t frequencies = 32;  ///< m
  /// "learned": free; "axes": learned along the axes, frequency f on axis f mod d. Fixed: "random"
  /// (Gaussian), or on the axes, "geometric" and "linear". On axes, d must divide m.
  std::string kind = "learned";
  std::string start = "gaussian";  ///< of learned frequencies: "gaussian", "geometric" or "linear"
  /// Standard deviation of Gaussian frequencies, in cycles per unit of the coordinates; highest
  /// frequency of a series, which starts at half a cycle.
  double scale = 1;
  std::uint64_t seed = 1, stream = 0;  ///< another stream draws other frequencies
};

/// Names that FourierSpec::kind and start accept.
std::vector<std::string> fourier_kinds();
std::vector<std::string> fourier_starts();

/// Fourier encoding PE(x) = m^(-1/2) [sin(w_f . x), cos(w_f . x)], with PE(x) . PE(y) = mean of
/// cos(w_f . (x - y)), 1 at x = y. Rahimi and Recht 2007; learned: Li et al. 2021.
class FourierEncoding : public Module {
 public:
  explicit FourierEncoding(const FourierSpec& spec);
  /// Encodes N places. -> (N, 2m)
  Var at(Tape& tape, const Places& places);
  /// Encodes the nodes of a grid without computing each node's sines. -> (n_1 .. n_d, 2m)
  Var grid(Tape& tape, const GridAxes& axes);
  /// Returns grid() times w by FFT, on a regular grid. w (2m, D) -> (n_1 .. n_d, D)
  Tensor grid_product(const GridAxes& axes, const Tensor& w) const;
  /// Returns w (m, d), in radians.
  Tensor frequencies() const;
  void visit(Visitor& visitor) override;

 private:
  Var frequencies(Tape& tape);
  bool learned_;
  Tensor axes_;            // (m, d), 1 on the axis of a frequency; () for free ones
  Parameter frequencies_;  // (m, d), or (m) on axes; a buffer if fixed
};

}  // namespace bochner::inline BOCHNER_PRECISION
