#pragma once
#include <bochner/base/time_array.hpp>
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Origin and unit of the times that a model sees, taken from its training data and saved with it.
class TimeScale : public Module {
 public:
  TimeScale();
  /// The first time and the median gap between neighbours of ascending sequences. times (B, T)
  void fit(const Times& times);
  /// (t - origin) / unit, in double. (..) -> (..)
  Times scaled(const Times& times) const;
  double unit() const { return double(unit_.data()[0]); }
  void visit(Visitor& visitor) override;

 private:
  Tensor origin_, unit_;  // (1) each
};

}  // namespace bochner::inline BOCHNER_PRECISION
