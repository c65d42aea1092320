#pragma once
/// Coupling layers: dependence between coordinates with a density that stays known.

#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// (a, b) -> (a, b exp(tanh l(a)) + t(a)) per head, l and t from one hidden layer of tanh; b is the
/// second half of the coordinates, or the first if `swapped`. The identity at the start. Dinh,
/// Sohl-Dickstein, Bengio, "Real NVP", 2017.
class Coupling : public Module {
 public:
  /// d of 2 or more.
  Coupling(std::size_t H, std::size_t d, std::size_t hidden, bool swapped);
  /// (H, m, d) -> (H, m, d)
  Var forward(Tape& tape, const Var& x);
  void visit(Visitor& visitor) override;

  /// Undoes it for one point y of (d), in place, and gives ln |det dy/dx|.
  using Inverse = std::function<double(double* y)>;
  Inverse inverse(std::size_t head) const;

 private:
  std::size_t middle_;
  bool swapped_;
  Parameter in_, in_bias_, out_, out_bias_;  // (H, a, hidden), (H, 1, hidden), (H, hidden, 2 b), ..
};

}  // namespace bochner::inline BOCHNER_PRECISION
