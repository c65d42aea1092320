#pragma once
#include <bochner/base/time_array.hpp>
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Origin and unit of a model's times, fitted to the training data and saved with the model.
class TimeScale : public Module {
 public:
  TimeScale();
  /// Fits the first time and the median gap of ascending sequences. times (B, T)
  void fit(const Times& times);
  /// Returns (t - origin) / unit, in double. (..) -> (..)
  Times scaled(const Times& times) const;
  double unit() const { return double(unit_.data()[0]); }
  void visit(Visitor& visitor) override {
    visitor("origin", origin_);
    visitor("unit", unit_);
  }

 private:
  Tensor origin_, unit_;  // (1) each
};

}  // namespace bochner::inline BOCHNER_PRECISION
