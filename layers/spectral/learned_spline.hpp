#pragma once
/// Monotone splines with learned knots: quantile functions relative to one that is known.

#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// One rational-quadratic spline of [low, high] onto itself for each of (H, n); the identity
/// outside, and everywhere at the start.
class LearnedSpline : public Module {
 public:
  /// `bins`: fractions of the interval between the knots at the start, two or more, of sum 1.
  LearnedSpline(std::size_t H, std::size_t n, double low, double high,
                const std::vector<double>& bins);
  /// (H, m, n) -> (H, m, n)
  Var forward(Tape& tape, const Var& x);
  /// The x that forward() gives y for, and ln dy/dx there.
  struct Inverse {
    Var x, log_slope;  // (H, m, n)
  };
  Inverse inverse(Tape& tape, const Var& y);
  void visit(Visitor& visitor) override;

  /// One spline as it is now, in double.
  struct Curve {
    std::vector<double> x, y, slope;  // at the knots

    struct Point {
      double value, slope;  ///< the slope is dy/dx in both directions
    };
    Point at(double x) const;
    /// The x with at(x).value = y, and the slope there.
    Point inverse(double y) const;
  };
  Curve curve(std::size_t head, std::size_t index);

 private:
  struct Knots {
    Var x, y, slope;  // (H, 1, n, K + 1)
  };
  Knots knots(Tape& tape);
  Var positions(Tape& tape, Parameter& logits);

  double low_, high_;
  Parameter widths_, heights_;  // (H, 1, n, K): logits of the bins' fractions
  Parameter log_slopes_;        // (H, 1, n, K - 1), at the inner knots
};

}  // namespace bochner::inline BOCHNER_PRECISION
