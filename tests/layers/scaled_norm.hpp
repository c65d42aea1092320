#pragma once
#include <bochner/layers/basic/position_wise.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// A norm of a program, with a key.
struct ScaledSpec {
  double scale = 2;
};
inline void describe(Keys& keys, ScaledSpec& spec) {
  keys("scale", spec.scale, above(0), "factor");
}
class Scaled : public Norm {
 public:
  Scaled(const NormSpec&, const ScaledSpec& own) : scale_(real(own.scale)) {}
  Var forward(Tape&, const Var& x, const std::vector<std::size_t>&) override { return x * scale_; }
  void visit(Visitor&) override {}

 private:
  real scale_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
