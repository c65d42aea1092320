#pragma once
/// Monotone splines with learned knots, for quantile functions relative to a known one.

#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Rational-quadratic splines of [low, high], one per (H, n); the identity outside and initially.
class LearnedSpline : public Module {
 public:
  /// `bins`: initial fractions of the interval between knots, two or more, with sum 1.
  LearnedSpline(std::size_t H, std::size_t n, double low, double high,
                const std::vector<double>& bins);
  /// Applies the splines. (H, m, n) -> (H, m, n)
  Var forward(Tape& tape, const Var& x);
  /// The x with forward(x) = y, and ln dy/dx there.
  struct Inverse {
    Var x, log_slope;  // (H, m, n)
  };
  Inverse inverse(Tape& tape, const Var& y);
  void visit(Visitor& visitor) override {
    visitor("widths", widths_);
    visitor("heights", heights_);
    visitor("log_slopes", log_slopes_);
  }

  /// One spline with its current parameters, in double.
  struct Curve {
    std::vector<double> x, y, slope;  // at the knots

    struct Point {
      double value, slope;  ///< dy/dx in both directions
    };
    Point at(double x) const;
    /// Returns the x with at(x).value = y, and the slope there.
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
